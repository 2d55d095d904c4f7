<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Jobs")}</%def>
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
<div class="scroll" tabindex="0" role="region" aria-label="${_('Jobs')}">
<table>
  <thead><tr><th scope="col">${_("Job")}</th><th scope="col">${_("State")}</th><th scope="col" class="number">${_("Records")}</th><th scope="col" class="number">${_("Failed")}</th><th scope="col">${_("Started")}</th><th scope="col">${_("By")}</th></tr></thead>
  <tbody>
% for job in jobs:
    <tr>
      <th scope="row"><a href="${urls.job(job.job_id)}" dir="auto">${job.title}</a></th>
      <td>${state_of(job)}</td>
      <td class="number">${f"{job.advance.done:,}"}</td>
      <td class="number">${f"{job.problems:,}"}</td>
      <td>${parts.date(job.made)}</td>
      <td dir="auto">${job.agent}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
% if following:
<p><a href="${following}">${_("Earlier jobs")}</a></p>
% endif
% else:
<section class="empty">
  <h2>${_("No jobs yet")}</h2>
  <p>${_("Harvests, batch edits, exports and audits are listed here with their results.")}</p>
</section>
% endif
