<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Records")}</%def>
<%
  query = page.query
%>
${parts.done(done)}
<div class="heading">
  <h1>${_("Records")}</h1>
  <p class="count">\
% if query.filters:
<strong>${f"{page.total:,}"}</strong> ${_("of {n}", n=f"{page.in_silo:,}")}\
% else:
<strong>${f"{page.total:,}"}</strong> ${_("in this Silo")}\
% endif
</p>
</div>

% if page.in_silo:
<form class="filters" action="${urls.records()}" method="get" aria-label="${_('Filter the records')}">
  <p class="wide">
    <label for="set">${_("Set")}</label>
    <select id="set" name="set">
      <option value="">${_("All sets")}</option>
% for spec, name, count in set_choices:
      <option value="${spec}"${selected(spec == query.set_spec)}>${name} (${f"{count:,}"})</option>
% endfor
% if query.set_spec and query.set_spec not in [known[0] for known in set_choices]:
      <option value="${query.set_spec}" selected>${query.set_spec}</option>
% endif
    </select>
  </p>
${choice("deleted", _("At the source"), query.deleted, (("", _("All")), ("no", _("Not deleted")), ("yes", _("Deleted"))))}
${choice("curated", _("Curation"), query.curated, (("", _("All")), ("yes", _("Curated")), ("no", _("As harvested"))))}
${choice("newer", _("Updates"), query.newer, (("", _("All")), ("yes", _("Newer at the source")), ("no", _("Up to date"))))}
  <p>
    <label for="limit">${_("Per page")}</label>
    <select id="limit" name="limit">
% for size in sorted({*page_sizes, query.limit}):
      <option value="${size}"${selected(size == query.limit)}>${size}</option>
% endfor
    </select>
  </p>
  <p class="act"><button type="submit">${_("Show")}</button>
% if query.filters:
    <a class="clear" href="${urls.records()}">${_("Clear")}</a>
% endif
  </p>
</form>
% endif

% if page.not_found:
<p class="note" role="status">${_("There is no record with this identifier. The list starts where it would be:")} <bdi class="id">${page.not_found}</bdi>
<a href="${urls.records()}">${_("Go to the first record")}</a></p>
% endif

% if page.rows:
${lists.rows(page.rows)}
% elif not page.in_silo:
<section class="empty">
  <h2>${_("No records yet")}</h2>
  <p>${_("Records appear here as soon as a repository is harvested. To start, harvest an OAI-PMH address:")}</p>
  <pre tabindex="0" aria-label="${_('Command')}"><code>silo harvest https://eprints.example.org/cgi/oai2 DIR -p oai_dc</code></pre>
  <p>${_("DIR is the directory of this Silo. Reload this page afterwards.")}</p>
</section>
% else:
<section class="empty">
  <h2>${_("No record")}</h2>
% if query.filters:
  <p>${_("No records match these filters.")} <a href="${urls.records()}">${_("Show all records")}</a></p>
% else:
  <p>${_("The list has no more entries.")} <a href="${urls.records()}">${_("Go to the first record")}</a></p>
% endif
</section>
% endif

${lists.steps(_("Pages of the list"), "", page.previous_url, page.next_url)}

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
