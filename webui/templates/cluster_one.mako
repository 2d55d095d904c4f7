<%inherit file="base.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="title()">${_("Clusters")}</%def>
<%def name="head()">${queues.script()}</%def>
% if one:
${queues.bar(queue)}
<% values = one.cluster.values %>\
<div class="heading">
  <h1 dir="auto">${values[0][0]}</h1>
  <p class="count">${field_label(one.field)}</p>
</div>
<p class="hint">${_("Are these one value? Untick those that are not. Nothing is changed before the preview.")}</p>
<form class="edit" id="decision" action="${urls.clusters()}" method="post">
% if fault:
  <p class="note fault" role="alert">${fault}</p>
% endif
${carried()}
  <input type="hidden" name="key" value="${one.key}">
  <input type="hidden" name="place" value="${place}">
  <input type="hidden" name="field-0" value="${one.field}">
  <div class="clusters one"><fieldset class="card">
    <legend class="unseen">${_("Values")}</legend>
    <ul class="plain">
% for number, (value, count) in enumerate(values):
      <li class="tick">
        <input id="value-0-${number}" name="value-0-${number}" type="checkbox" value="${value}"${"" if fault else " checked"}>
        <label for="value-0-${number}" dir="auto">${value}</label>
        <small><a href="${urls.search([(one.field, value)])}">${counted("{n} record", "{n} records", count)}<span class="unseen"> ${value}</span></a></small>
      </li>
% endfor
    </ul>
    <p class="into">
      <label for="to-0">${_("Merge into")}</label>
      <input id="to-0" name="to-0" type="text" value="${values[0][0]}" dir="auto" autocomplete="off">
    </p>
  </fieldset></div>
  <p class="act"><button name="do" value="next" data-key="s">${_("Merge and next")}</button>
    <button class="quiet" name="do" value="skip">${_("Skip")}</button>
    <button class="quiet" name="do" value="ignore-${one.key}">${_("Ignore")}</button></p>
</form>
${preview("quiet")}
% else:
<p class="crumbs"><a href="${queue.back}">← ${_("Back to the list")}</a></p>
${queues.before(queue.before)}
<section class="empty">
  <h1>${round_said or _("No clusters")}</h1>
% if not taken:
  <p>${_("Nothing was chosen to be merged.")}</p>
% endif
</section>
${preview("filled")}
% endif

## What is to be merged, from page to page.
<%def name="carried()">
% for name, value in asked.items():
  <input type="hidden" name="${name}" value="${value}">
% endfor
${queues.hidden(queue)}
% for number, take in taken:
  <input type="hidden" name="field-${number}" value="${take.field}">
  <input type="hidden" name="to-${number}" value="${take.into}">
% for value in take.values:
  <input type="hidden" name="value-${number}-${loop.index}" value="${value}">
% endfor
% endfor
</%def>
<%def name="preview(kind)">
% if taken:
<form action="${urls.clusters()}" method="post" data-carried>
${carried()}
  <p class="act"><button class="${kind}" name="do" value="merge">${counted("Preview {n} merge", "Preview {n} merges", len(taken))}</button></p>
</form>
% endif
</%def>
