<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">Records</%def>
<%
  query = page.query
%>
${parts.done(done)}
<div class="heading">
  <h1>Records</h1>
  <p class="count">\
% if query.filters:
<strong>${f"{page.total:,}"}</strong> of ${f"{page.in_silo:,}"}\
% else:
<strong>${f"{page.total:,}"}</strong> in this Silo\
% endif
</p>
</div>

% if page.in_silo:
<form class="filters" action="${urls.RECORDS}" method="get" aria-label="Filter the records">
  <p class="wide">
    <label for="set">Set</label>
    <select id="set" name="set">
      <option value="">All sets</option>
% for spec, name, count in set_choices:
      <option value="${spec}"${selected(spec == query.set_spec)}>${name} (${f"{count:,}"})</option>
% endfor
% if query.set_spec and query.set_spec not in [spec for spec, _, _ in set_choices]:
      <option value="${query.set_spec}" selected>${query.set_spec}</option>
% endif
    </select>
  </p>
${choice("deleted", "At the source", query.deleted, (("", "All"), ("no", "Present"), ("yes", "Deleted")))}
${choice("curated", "Curation", query.curated, (("", "All"), ("yes", "Curated"), ("no", "As harvested")))}
${choice("newer", "Updates", query.newer, (("", "All"), ("yes", "Newer at the source"), ("no", "Up to date")))}
  <p>
    <label for="limit">Per page</label>
    <select id="limit" name="limit">
% for size in sorted({*page_sizes, query.limit}):
      <option value="${size}"${selected(size == query.limit)}>${size}</option>
% endfor
    </select>
  </p>
  <p class="act"><button type="submit">Show</button>
% if query.filters:
    <a class="clear" href="${urls.RECORDS}">Clear</a>
% endif
  </p>
</form>
% endif

% if page.not_found:
<p class="note" role="status">There is no record <bdi class="id">${page.not_found}</bdi>; the list begins where it would stand.
<a href="${urls.RECORDS}">Begin at the first record</a></p>
% endif

% if page.rows:
${lists.rows(page.rows)}
% elif not page.in_silo:
<section class="empty">
  <h2>Nothing here yet</h2>
  <p>Records appear on this page while a repository is being harvested. To begin, give this Silo an OAI-PMH address:</p>
  <pre tabindex="0" aria-label="Command"><code>silo harvest https://eprints.example.org/cgi/oai2 DIR -p oai_dc</code></pre>
  <p>where <code>DIR</code> is the directory this page was started for; then load the page again.</p>
</section>
% else:
<section class="empty">
  <h2>No record here</h2>
% if query.filters:
  <p>No record fits these filters. <a href="${urls.RECORDS}">Show all records</a></p>
% else:
  <p>The list ends before this place. <a href="${urls.RECORDS}">Begin at the first record</a></p>
% endif
</section>
% endif

% if page.next_url or page.previous_url:
<nav class="pages" aria-label="Pages of the list">
% if page.previous_url:
  <a class="step" rel="prev" href="${page.previous_url}">← Previous</a>
% endif
% if page.next_url:
  <a class="step next" rel="next" href="${page.next_url}">Next →</a>
% endif
</nav>
% endif

<%def name="choice(name, label, chosen, choices)">
  <p>
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
% for value, text in choices:
      <option value="${value}"${selected(value == chosen)}>${text}</option>
% endfor
    </select>
  </p>
</%def>
<%def name="selected(yes)">${" selected" if yes else ""}</%def>
