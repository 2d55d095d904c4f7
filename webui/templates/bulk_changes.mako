<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="told" file="change_told.mako"/>
<%! from webui.words.field_labels import field_label %>
<%def name="title()">${field_label(one.what)}: ${title_of_job}</%def>
<p class="crumbs"><a href="${job_url}" dir="auto">← ${title_of_job}</a></p>
<div class="heading">
  <h1>${told.change(one)}</h1>
  <p class="count">${counted("{n} value", "{n} values", one.count)}</p>
</div>
% if is_planned and may_change:
<p class="hint">${_("A record that is not ticked is not changed at all.")}</p>
<form action="${action}" method="post">
  <input type="hidden" name="back" value="${following or job_url}">
  <ol class="plain ticked" dir="ltr">
% for place, record in enumerate(records):
    <li><input type="hidden" name="row-${place}" value="${record['identifier']}">
      <input type="checkbox" id="tick-${place}" name="tick-${place}" value="yes" autocomplete="off"${"" if record["left_out"] else " checked"}>
      <label for="tick-${place}" dir="auto">${record["title"] or record["identifier"]}</label>
      <a class="id" href="${urls.record(record['identifier'])}">${record["identifier"]}</a></li>
% endfor
  </ol>
  <p class="act"><button type="submit">${_("Keep, and show the next page") if following else _("Keep, and back to the preview")}</button></p>
</form>
% else:
<ol class="plain">
% for record in records:
  <li><a href="${urls.record(record['identifier'])}" dir="auto">${record["title"] or record["identifier"]}</a>\
% if record["left_out"]:
 <span class="badge">${_("left out")}</span>\
% endif
</li>
% endfor
</ol>
% endif
${lists.steps(_("Pages of the records"), first, "", following)}
