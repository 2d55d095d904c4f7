<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Changes made")}</%def>
% if may_change:
<p class="crumbs"><a href="${urls.bulk()}">← ${_("Change many records")}</a></p>
% endif
<div class="heading"><h1>${_("Changes made")}</h1></div>
% if reports:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Changes made')}">
<table>
  <thead><tr><th scope="col">${_("What")}</th><th scope="col">${_("When")}</th><th scope="col">${_("Who")}</th><th scope="col" class="number">${_("Records")}</th><th scope="col">${_("How far")}</th></tr></thead>
  <tbody>
% for report in reports:
    <tr>
      <th scope="row"><a href="${urls.bulk_job(report.job_id)}" dir="auto">${report.about.get("title") or report.job_id}</a></th>
      <td>${parts.date(report.about.get("made", ""))}</td>
      <td>${report.about.get("agent", "")}</td>
      <td class="number">${f"{sum(report.counts.values()):,}"}</td>
      <td>${said(report)}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
% elif first:
<p class="empty-line">${_("The list ends before this place.")}</p>
% else:
<section class="empty"><h2>${_("Nothing yet")}</h2><p>${_("Changes of many records are listed here, and can be undone from here.")}</p></section>
% endif
${lists.steps(_("Pages of the list"), first, "", following)}
