<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${_("Batch edits")}</%def>
<%def name="head()">
% if is_live:
  <script src="${static_url('jobs.js')}" defer></script>
% endif
</%def>
% if may_change:
<p class="crumbs"><a href="${urls.bulk()}">← ${_("Batch edit")}</a></p>
% endif
<div class="heading"><h1>${_("Batch edits")}</h1></div>
% for fault in faults:
<p class="note fault" dir="auto">${fault}</p>
% endfor
% if lines:
<table class="jobs cards"${watched()}>
  <thead><tr><th scope="col">${_("Batch edit")}</th><th scope="col">${_("When")}</th><th scope="col">${_("Who")}</th><th scope="col" class="number">${_("Records changed")}</th><th scope="col">${_("Outcome")}</th></tr></thead>
  <tbody>
% for one in lines:
    <tr${working(one)}>
${named(one.report)}
      <td class="number" data-label="${_('Records changed')}">${numeral(changed(one.report))}</td>
      <td>${live.outcome(one.outcome)}\
% if one.shown:
<progress aria-label="${_('Progress of the job')}"${live.bar(one.shown.job)}></progress> <span class="share">${one.shown.share}</span>\
% endif
</td>
    </tr>
% endfor
  </tbody>
</table>
% if is_live:
<p class="unscripted"><a href="${urls.bulk_jobs()}">${_("Refresh")}</a></p>
% endif
% elif previews:
<p class="empty-line">${_("No batch edit was applied.")}</p>
% elif first:
<p class="empty-line">${_("The list has no more entries.")}</p>
% else:
<section class="empty"><h2>${_("No batch edits yet")}</h2><p>${_("Batch edits are listed here and can be undone.")}</p></section>
% endif
% if previews:
<section class="card" aria-labelledby="previews">
  <h2 id="previews">${_("Previewed, not applied")}</h2>
  <p>${_("These changed nothing. Open one to apply it, or discard it.")}</p>
  <table class="jobs cards">
    <thead><tr><th scope="col">${_("Batch edit")}</th><th scope="col">${_("When")}</th><th scope="col">${_("Who")}</th><th scope="col"></th></tr></thead>
    <tbody>
% for one in previews:
    <tr>
${named(one.report)}
      <td>\
% if may_change:
<form action="${urls.bulk_job(one.report.job_id)}/discard" method="post"><button class="quiet" type="submit" aria-label="${_('Discard {title}', title=one.report.about.get('title') or one.report.job_id)}">${_("Discard")}</button></form>\
% endif
</td>
    </tr>
% endfor
    </tbody>
  </table>
</section>
% endif
${lists.steps(_("Pages of the list"), first, "", following)}
<%def name="watched()">\
% if is_live:
 data-live="${urls.jobs()}/events" data-twin="${urls.twin(urls.jobs())}" data-kinds="${kinds}" data-lost="${_('The server does not answer. What is shown here may be old.')}"\
% endif
</%def>
<%def name="working(one)">\
% if one.shown:
 data-job="${one.shown.job.job_id}" data-state="${one.shown.outcome.word}"${" data-active"}\
% else:
 data-job="${one.report.job_id}"\
% endif
</%def>
<%def name="named(report)">\
      <th scope="row"><a href="${urls.bulk_job(report.job_id)}" dir="auto">${report.about.get("title") or report.job_id}</a>\
<% what = summary(report.about) %>\
% if what and what != report.about.get("title"):
<br><small dir="auto">${what}</small>\
% endif
</th>
      <td data-label="${_('When')}">${parts.date(report.about.get("made", ""))}</td>
      <td data-label="${_('Who')}">${report.about.get("agent", "")}</td>\
</%def>
