<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Rules")}</%def>
% if may_change:
<p class="crumbs"><a href="${urls.bulk()}">← ${_("Batch edit")}</a></p>
% endif
<div class="heading"><h1>${_("Rules")}</h1></div>
% if lines:
<%parts:table label="${_('Rules')}" heads="${(_('Rule'), _('Title'), _('Changes'), _('Future harvests'))}" numbers="${(2,)}">
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
</%parts:table>
% else:
<section class="empty"><h2>${_("No rules yet")}</h2><p>${_("Save a batch edit as a rule to apply it again.")}</p></section>
% endif
