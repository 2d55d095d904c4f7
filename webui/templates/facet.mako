<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="facets" file="facets.mako"/>
<%def name="title()">${label}</%def>
<p class="crumbs"><a href="${request.url()}">← ${_("Back to the search")}</a></p>
<div class="heading">
  <h1>${label}</h1>
% if field in ("subject", "creator", "type", "publisher", "language"):
  <p class="count"><a href="${urls.with_query(urls.clusters(), {'field': field})}">${_("Probable variants")}</a></p>
% endif
</div>
<form class="search" action="${urls.search()}/values" method="get" aria-label="${_('Find a value')}">
  <input type="hidden" name="field" value="${field}">
${lists.hidden(request.pairs)}
  <p class="words">
    <label for="match">${_("Value contains")}</label>
    <input id="match" name="match" type="search" value="${match}" autocomplete="off" dir="auto">
    <small>${_("Ignores case and accents. Several words match in any order.")}</small>
  </p>
  <p class="act"><button type="submit">${_("Find")}</button></p>
</form>
% if choices:
<div class="facets wide">
${facets.values(choices)}
</div>
% if has_more:
<p class="hint">${_("These are the first values by name. Type to find others.") if by_name else _("These are the most frequent values. Type to find others.")}</p>
% endif
% else:
<section class="empty"><h2>${_("No matching values")}</h2><p>${_("None of these records has a matching value.")}</p></section>
% endif
