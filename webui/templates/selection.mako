<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="bars" file="selection_bar.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${search.title}</%def>
<%def name="head()"><script src="${static_url('selection.js')}" defer></script></%def>
<p class="crumbs"><a href="${urls.searches()}">← ${_("Saved searches")}</a></p>
<div class="heading">
  <h1 dir="auto">${search.title}</h1>
  <p class="count">${counted("{n} identifier", "{n} identifiers", len(search.select.identifiers))}</p>
</div>
<ul class="acts">
% if may_change:
  <li><a href="${urls.bulk('saved=' + search.name)}">${_("Batch edit")}</a></li>
  <li><a href="${urls.with_search(urls.sheet(), 'saved=' + search.name)}">${_("Edit in a spreadsheet")}</a></li>
% endif
</ul>
${parts.lacking(missing)}
% if rows:
${bars.bar(selection, url, next_url, "saved=" + search.name, total, rows)}
${lists.rows(rows, selection)}
% else:
<section class="empty"><h2>${_("No records found")}</h2><p>${_("None of these identifiers has a record in this Silo.")}</p></section>
% endif
% if next_url:
<nav class="pages" aria-label="${_('Pages of the list')}"><a class="step next" rel="next" href="${next_url}">${_("Next")} →</a></nav>
% endif
