<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="bars" file="selection_bar.mako"/>
<%def name="title()">${_("Selection")}</%def>
<%def name="head()"><script src="${static_url('selection.js')}" defer></script></%def>
<p class="crumbs"><a href="${urls.search()}">← ${_("Records")}</a></p>
<div class="heading">
  <h1>${_("Selection")}</h1>
  <p class="count">${counted("{n} record", "{n} records", selection.selected.count)}</p>
</div>
% if rows:
${bars.bar(selection, url, following, rows=rows)}
${lists.rows(rows, selection)}
${lists.steps(_("Pages of the selection"), first, "", following)}
% if may_change:
<section class="card" aria-labelledby="save">
  <h2 id="save">${_("Save as list")}</h2>
  <form action="${urls.searches()}" method="post">
    <input type="hidden" name="search" value="${selection.selected.search}">
    <label for="list-title">${_("Name of the list")}</label>
    <input id="list-title" name="title" type="text" required autocomplete="off" dir="auto">
    <p class="act"><button type="submit">${_("Save as list")}</button></p>
  </form>
</section>
% endif
% else:
<section class="empty">
  <h2>${_("No records selected")}</h2>
  <p>${_("Tick records in a list, such as the results of a search.")} <a href="${urls.search()}">${_("Show all records")}</a></p>
</section>
% endif
