<%inherit file="base.mako"/>
<%namespace name="rename" file="rename_parts.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%def name="title()">${_("Rename {field}", field=label)}</%def>
<%def name="head()">${rename.script()}</%def>
<p class="crumbs"><a href="${among.url()}">← ${_("Back to the search")}</a></p>
<div class="heading"><h1>${_("Rename {field}", field=label)}</h1></div>
<p class="hint">${_("Only working copies are changed. Every batch edit can be undone.")}</p>
<form class="edit renaming" action="${urls.rename()}" method="post">
${rename.hidden(renaming)}
  <fieldset class="card">
    <legend>${_("Value") if len(renaming.values) == 1 else _("Values that become one")}</legend>
    <ul class="plain">
% for value in renaming.values:
      <li dir="auto">${value}</li>
% endfor
    </ul>
% if renaming.search:
    <p>${_("In the records found by the search.")} <a href="${everywhere}">${_("Rename in all records")}</a></p>
% else:
    <p>${_("In all records.")}</p>
% endif
% if renaming.is_facet:
    <p><a href="${found.url()}">${_("Show the records")}</a> · <a href="${batch_edit}">${_("Batch edit of these records")}</a></p>
% endif
    <p>
      <label for="to">${_("New value")}</label>
      <input id="to" name="to" type="text" value="${renaming.to or renaming.values[0]}" dir="auto" autocomplete="off" required autofocus\
% if fault:
 aria-invalid="true" aria-describedby="to-fault"\
% endif
>
% if fault:
      <small class="fault" id="to-fault" dir="auto">${fault}</small>
% endif
    </p>
% if counts:
    <p class="told-counts" role="status">${told}</p>
    <p class="act"><button class="quiet" formmethod="get">${_("Count")}</button></p>
% else:
    <p class="hint">${_("This field is not counted in advance: the preview reads every record and shows the number.")}</p>
% endif
  </fieldset>
  <fieldset class="card save">
    <legend>${_("Preview")}</legend>
    <p>
      <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
      <input id="message" name="message" type="text" value="${renaming.message}" autocomplete="off" dir="auto">
    </p>
    <p class="act"><button>${_("Preview")}</button></p>
  </fieldset>
</form>
