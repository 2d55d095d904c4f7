<%inherit file="base.mako"/>
<%def name="title()">${_("Rules")}</%def>
% if may_change:
<p class="crumbs"><a href="${urls.bulk()}">← ${_("Batch edit")}</a></p>
% endif
<div class="heading"><h1>${_("Rules")}</h1></div>
% if lines:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Rules')}">
<table class="cards">
  <thead><tr><th scope="col">${_("Rule")}</th><th scope="col">${_("Title")}</th><th scope="col" class="number">${_("Changes")}</th><th scope="col">${_("Future harvests")}</th></tr></thead>
  <tbody>
% for line in lines:
    <tr>
% if "fault" in line:
      <th scope="row">${line["name"]}</th>
      <td colspan="3" class="fault">${line["fault"]}</td>
% else:
      <th scope="row"><a href="${urls.rule(line['name'])}">${line["name"]}</a></th>
      <td dir="auto">${line["title"]}</td>
      <td class="number" data-label="${_('Changes')}">${line["changes"]}</td>
      <td data-label="${_('Future harvests')}">${_("applied") if line["keep"] else _("not applied")}</td>
% endif
    </tr>
% endfor
  </tbody>
</table>
</div>
% else:
<section class="empty"><h2>${_("No rules yet")}</h2><p>${_("Save a batch edit as a rule to apply it again.")}</p></section>
% endif
