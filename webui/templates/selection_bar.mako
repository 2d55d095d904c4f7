## The bar above a list of records: what is selected, and what can be done with it.

<%def name="bar(selection, back, following='', search='', total=0, rows=())">
<form id="selection" class="selection" action="${urls.selection()}" method="post" autocomplete="off" data-lost="${_('The server does not answer. Nothing is lost; try again.')}">
  <button class="unseen" name="do" value="keep" tabindex="-1" aria-hidden="true">${_("Keep the selection")}</button>
  <input type="hidden" name="back" value="${back}">
  <p class="number" role="status"><a href="${urls.selection()}" data-said>${selection.said}</a></p>
% if selection.among:
  <input type="hidden" name="among" value="${selection.among}">
% endif
% if rows and len(selection.picked) < len(rows):
  <button class="quiet" name="do" value="page">${_("Select all {n}", n=numeral(total)) if total == len(rows) else _("Select this page")}</button>
% endif
% if total > len(rows):
  <input type="hidden" name="search" value="${search}">
  <button class="quiet" name="do" value="all">${_("Select all {n}", n=numeral(total))}</button>
% endif
  <noscript>
    <button class="quiet" name="do" value="keep">${_("Keep the selection")}</button>
% if following:
    <input type="hidden" name="next" value="${following}">
    <button class="quiet" name="do" value="next">${_("Keep it, and go to the next page")}</button>
% endif
  </noscript>
  <details class="menu">
    <summary>${_("Selection")}</summary>
    <div class="sheet">
% if may_change:
      <ul>
        <li><button name="do" value="batch">${_("Batch edit")}</button></li>
        <li><button name="do" value="sheet">${_("Edit in a spreadsheet")}</button></li>
        <li><button name="do" value="attach">${_("Attach a file")}</button></li>
      </ul>
      <p class="group" id="selection-status">${_("Set status")}</p>
      <ul aria-labelledby="selection-status">
% for one in states:
        <li><button name="do" value="state-${one}">${_(one)}</button></li>
% endfor
      </ul>
% endif
      <p class="group" id="selection-download">${_("Download")}</p>
      <ul aria-labelledby="selection-download">
        <li><button name="do" value="csv">${_("List (CSV)")}</button></li>
        <li><button name="do" value="files">${_("Files (zip)")}</button></li>
        <li><button name="do" value="bags">${_("Bags (zip)")}</button></li>
      </ul>
% if selection.exports:
      <p class="group" id="selection-export">${_("Export as a job")}</p>
      <ul aria-labelledby="selection-export">
% for one in selection.exports:
        <li><button name="do" value="${one.do}">${one.label}</button></li>
% endfor
      </ul>
% endif
% if may_change:
      <ul><li><a href="${urls.selection()}#save">${_("Save as list")}</a></li></ul>
% endif
    </div>
  </details>
% if selection.selected.count:
  <button class="quiet" name="do" value="clear">${_("Clear")}</button>
% endif
</form>
</%def>

<%def name="tick(number, row, selection)">\
<span class="pick"><input type="hidden" form="selection" name="row-${number}" value="${row.identifier}">\
% if row.identifier in selection.picked:
<input type="hidden" form="selection" name="had-${number}" value="yes">\
% endif
<input type="checkbox" form="selection" name="tick-${number}" value="yes" autocomplete="off" aria-label="${_('Select {title}', title=row.title or row.identifier)}"${" checked" if row.identifier in selection.picked else ""}></span>\
</%def>
