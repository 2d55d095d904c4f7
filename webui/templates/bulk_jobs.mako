<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${_("Batch edits")}</%def>
% if may_change:
<p class="crumbs"><a href="${urls.bulk()}">← ${_("Batch edit")}</a></p>
% endif
<div class="heading"><h1>${_("Batch edits")}</h1></div>
% if reports:
<table class="jobs cards">
  <thead><tr><th scope="col">${_("Batch edit")}</th><th scope="col">${_("When")}</th><th scope="col">${_("Who")}</th><th scope="col" class="number">${_("Records changed")}</th><th scope="col">${_("Outcome")}</th></tr></thead>
  <tbody>
% for report, outcome in reports:
    <tr>
      <th scope="row"><a href="${urls.bulk_job(report.job_id)}" dir="auto">${report.about.get("title") or report.job_id}</a>\
<% what = summary(report.about) %>\
% if what and what != report.about.get("title"):
<br><small dir="auto">${what}</small>\
% endif
</th>
      <td data-label="${_('When')}">${parts.date(report.about.get("made", ""))}</td>
      <td data-label="${_('Who')}">${report.about.get("agent", "")}</td>
      <td class="number" data-label="${_('Records changed')}">${f"{changed(report):,}"}</td>
      <td>${live.outcome(outcome)}</td>
    </tr>
% endfor
  </tbody>
</table>
% elif first:
<p class="empty-line">${_("The list has no more entries.")}</p>
% else:
<section class="empty"><h2>${_("No batch edits yet")}</h2><p>${_("Batch edits are listed here and can be undone.")}</p></section>
% endif
${lists.steps(_("Pages of the list"), first, "", following)}
