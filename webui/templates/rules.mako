<%inherit file="base.mako"/>
<%def name="title()">${_("Kept rules")}</%def>
% if may_change:
<p class="crumbs"><a href="${urls.bulk()}">← ${_("Change many records")}</a></p>
% endif
<div class="heading"><h1>${_("Kept rules")}</h1></div>
% if lines:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Kept rules')}">
<table>
  <thead><tr><th scope="col">${_("Rule")}</th><th scope="col">${_("What it is for")}</th><th scope="col" class="number">${_("Changes")}</th><th scope="col">${_("Later harvests")}</th></tr></thead>
  <tbody>
% for line in lines:
    <tr>
% if "fault" in line:
      <th scope="row">${line["name"]}</th>
      <td colspan="3" class="fault">${line["fault"]}</td>
% else:
      <th scope="row"><a href="${urls.rule(line['name'])}">${line["name"]}</a></th>
      <td dir="auto">${line["title"]}</td>
      <td class="number">${line["changes"]}</td>
      <td>${_("applied too") if line["keep"] else _("not touched")}</td>
% endif
    </tr>
% endfor
  </tbody>
</table>
</div>
% else:
<section class="empty"><h2>${_("No rule yet")}</h2><p>${_("A change of many records can be kept as a rule, to be applied again.")}</p></section>
% endif
