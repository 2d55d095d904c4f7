<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="facets" file="facets.mako"/>
<%namespace name="rename" file="rename_parts.mako"/>
<%def name="title()">${label}</%def>
<%def name="head()">${rename.script()}</%def>
<p class="crumbs"><a href="${request.url()}">← ${_("Back to the search")}</a></p>
<div class="heading">
  <h1>${label}</h1>
% if is_field:
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
% if is_field and may_change:
<form class="renaming merging card" id="merging" action="${urls.rename()}" method="post" aria-label="${_('Merge values')}">
  <input type="hidden" name="field" value="${field}">
  <input type="hidden" name="search" value="${others}">
  <p>
    <label for="merge-to">${_("Tick values that are the same, and enter the value that they get")}</label>
    <input id="merge-to" name="to" type="text" dir="auto" autocomplete="off">
  </p>
  <p class="told-counts" role="status"></p>
  <p class="act"><button>${_("Preview")}</button></p>
</form>
% endif
<div class="facets wide">
${facets.values(choices, "merging" if is_field and may_change else "")}
</div>
${rename.inline()}
% if has_more:
<p class="hint">${_("These are the first values by name. Type to find others.") if by_name else _("These are the most frequent values. Type to find others.")}</p>
% endif
% else:
<section class="empty"><h2>${_("No matching values")}</h2><p>${_("None of these records has a matching value.")}</p></section>
% endif
