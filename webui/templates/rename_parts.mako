## Values that are renamed where they stand: the link beside each, and the form that opens there.
<%def name="script()">
% if may_change:
  <script src="${static_url('rename.js')}" defer></script>
% endif
</%def>

<%def name="link(url, label)">\
% if may_change and url:
<a class="rename" href="${url}" title="${_('Rename everywhere')}"><span aria-hidden="true">✎</span><span class="unseen">${_("Rename everywhere")} ${label}</span></a>\
% endif
</%def>

<%def name="hidden(renaming)">
  <input type="hidden" name="field" value="${renaming.field}">
  <input type="hidden" name="search" value="${renaming.search}">
% for value in renaming.values:
  <input type="hidden" name="value-${loop.index}" value="${value}">
% endfor
</%def>

## What `link` opens with JavaScript; it is in a page once.
<%def name="inline()">
% if may_change:
<template id="renaming">
  <form class="renaming inline" action="${urls.rename()}" method="post" aria-label="${_('Rename everywhere')}">
    <label class="unseen">${_("New value")}</label>
    <input name="to" type="text" dir="auto" autocomplete="off" required>
    <p class="told-counts" role="status"></p>
    <p class="act"><button>${_("Preview")}</button>
    <button type="button" class="quiet" data-close>${_("Cancel")}</button></p>
    <p class="edit-all"><a hidden data-edit href="${urls.bulk()}"></a> <a hidden data-everywhere href="${urls.rename()}"></a></p>
  </form>
</template>
% endif
</%def>
