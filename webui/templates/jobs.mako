<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${_("Jobs")}</%def>
<%def name="head()">
% if is_first:
  <script src="${static_url('jobs.js')}" defer></script>
% endif
</%def>
<div class="heading">
  <h1>${_("Jobs")}</h1>
% if may_begin:
  <p><a class="button filled" href="${urls.new_job()}">${_("New job")}</a></p>
% endif
</div>
% if problem:
<p class="note" role="status">${problem}</p>
% endif
% if jobs:
<table class="jobs cards"${watched()}>
  <thead><tr><th scope="col">${_("Job")}</th><th scope="col">${_("Outcome")}</th><th scope="col" class="number">${_("Records")}</th><th scope="col">${_("Started")}</th><th scope="col">${_("By")}</th></tr></thead>
  <tbody>
% for one in jobs:
    <tr data-job="${one.job.job_id}" data-state="${one.outcome.word}"${active(one)}>
      <th scope="row"><a href="${one.page}" dir="auto">${one.title}</a>\
% if one.job.sentence:
<br><small dir="auto">${sentence(one.job.sentence)}</small>\
% endif
</th>
      <td>${live.outcome(one.outcome)}\
% if one.is_active:
<progress aria-label="${_('Progress of the job')}"${live.bar(one.job)}></progress>\
% endif
</td>
      <td class="number" data-label="${_('Records')}">\
% if one.is_active:
<span class="share">${one.share}</span>\
% else:
${one.did or "–"}\
% if one.left_out:
<br><small>${one.left_out}</small>\
% endif
% endif
</td>
      <td data-label="${_('Started')}">${parts.date(one.job.made)}</td>
      <td data-label="${_('By')}" dir="auto">${one.job.agent}</td>
    </tr>
% endfor
  </tbody>
</table>
<p class="unscripted"><a href="${urls.jobs()}">${_("Refresh")}</a></p>
% if following:
<p><a href="${following}">${_("Earlier jobs")}</a></p>
% endif
% else:
<section class="empty">
  <h2>${_("No jobs yet")}</h2>
  <p>${_("Harvests, batch edits, exports and audits are listed here with their results.")}</p>
</section>
% endif
<%def name="active(one)">${" data-active" if one.is_active else ""}</%def>
<%def name="watched()">\
% if is_first and is_active:
 data-live="${urls.jobs()}/events" data-twin="${urls.twin(urls.jobs())}" data-lost="${_('The server does not answer. What is shown here may be old.')}"\
% endif
</%def>
