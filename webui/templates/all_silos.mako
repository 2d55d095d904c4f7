<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="facets_of" file="facets.mako"/>
<%def name="title()">${_("Records of all Silos")}</%def>
<div class="heading">
  <h1>${_("Records of all Silos")}</h1>
  <p class="count" role="status">\
% if works and works != found.total:
${counted("{n} work", "{n} works", works)} (${counted("{n} record", "{n} records", found.total)})\
% else:
${counted("{n} record", "{n} records", found.total)}\
% endif
</p>
  <p class="under"><a href="${urls.home()}">${_("All Silos")}</a></p>
</div>

<form class="search list" action="${urls.search()}" method="get" aria-label="${_('Search the records')}">
  <p class="words">
    <label for="q" class="unseen">${_("Search all Silos")}</label>
    <input id="q" name="q" type="search" value="${request.q}" placeholder="${_('Search all Silos')}" autocomplete="off" spellcheck="false" dir="auto" aria-describedby="q-hint">
  </p>
  <p>
    <label for="sort" class="unseen">${_("Order")}</label>
    <select id="sort" name="sort">
% for value, label in sorts:
      <option value="${"" if loop.first else value}"${lists.selected(value == (request.sort or "relevance"))}>${label}</option>
% endfor
    </select>
  </p>
  <p class="act"><button type="submit">${_("Search")}</button></p>
  <details class="options">
    <summary>${_("Words")}</summary>
    <p id="q-hint">${_("Words: “a phrase”, begin*, title:word, -without, one OR other. A DOI finds its records.")}</p>
  </details>
${lists.hidden(request.chosen)}
</form>

% if found.missing:
<section class="note" role="status">
  <p>${_("Not everything was searched; the numbers are too small. These did not answer:")}</p>
  <ul>
% for one in found.missing[:20]:
    <li><strong dir="auto">${one.name}</strong>: ${one.why}</li>
% endfor
% if len(found.missing) > 20:
    <li>${counted("and {n} more", "and {n} more", len(found.missing) - 20)}</li>
% endif
  </ul>
</section>
% endif

${facets_of.chips(chips)}
${facets_of.opener(len(request.chosen))}

<div class="columns results">
<div class="content">
% if lines:
<ol class="records">
% for line in lines:
<% hit = line.hit %>
  <li class="${'gone' if hit.deleted else ''}">
    <h2><a href="${line.url}" dir="auto">${hit.title or hit.place.identifier}</a></h2>
${lists.creators(hit.creators)}\
    <p class="what">
      <span dir="auto">${hit.place.silo}</span>
% if hit.year:
      <span>${hit.year}</span>
% endif
% for value in hit.types[:1]:
      <span dir="auto">${value}</span>
% endfor
${parts.badges(hit.deleted, False, False)}
    </p>
% if line.also:
    <p class="what also">${_("Also in")} \
% for name, url in line.also[:10]:
<a href="${url}" dir="auto">${name}</a>${"" if loop.last else ", "}\
% endfor
% if len(line.also) > 10:
 ${counted("and {n} more", "and {n} more", len(line.also) - 10)}\
% endif
</p>
% endif
  </li>
% endfor
</ol>
% else:
<section class="empty">
  <h2>${_("No records found")}</h2>
% if meant:
  <p class="meant">${_("Did you mean")} <a href="${meant.url}" dir="auto">${meant.label}</a> (${counted("{n} record", "{n} records", meant.total)})</p>
% endif
  <p>${_("Remove a filter, or search for the beginning of a word: photo* finds photography.") if request.chosen else _("To find more, search for the beginning of a word: photo* finds photography.")} <a href="${urls.search()}">${_("Show all records")}</a></p>
</section>
% endif
${lists.steps(_("Pages of the result"), request.url() if previous_url else "", previous_url, next_url)}
</div>

<div class="side">
${facets_of.column(facets, request)}
</div>
</div>
