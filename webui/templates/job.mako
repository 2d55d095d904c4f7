<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${job.title}</%def>
<%def name="head()">
% if refresh:
  <noscript><meta http-equiv="refresh" content="5"></noscript>
% endif
% if not job.is_over:
  <script src="${static_url('jobs.js')}" defer></script>
% endif
</%def>
<p class="crumbs"><a href="${urls.jobs()}">← ${_("Jobs")}</a></p>
<div class="heading">
  <h1 dir="auto">${job.title}</h1>
  <p class="count" role="status" id="job-state">${state}</p>
</div>
<p class="under"><bdi>${job.agent}</bdi> · ${parts.date(job.made)} · <span class="id">${job.job_id}</span></p>
% if problem:
<p class="note" role="status">${problem}</p>
% endif
% if job.sentence:
<p class="note" dir="auto">${job.sentence}</p>
% endif
% if not job.is_over:
<section class="job" data-job="${url}" data-state="${job.state.value}">
  <p><progress id="job-progress" aria-label="${_('Progress of the job')}"${bar()}></progress>
  <span id="job-share">${share}</span></p>
  <p><a href="${url}">${_("Refresh")}</a>
% if refresh:
  · <a href="${url}">${_("Stop refreshing")}</a>
% else:
  <noscript>· <a href="${url}?every=5">${_("Refresh every 5 seconds")}</a></noscript>
% endif
  </p>
</section>
% endif
% if change_url:
<p><a href="${change_url}">${_("Show the preview") if is_preview else _("Changed records")}</a></p>
% endif
% if download:
<p><a class="button filled" href="${download}" download>${_("Download table")}</a></p>
% endif
% for action, label in actions:
<form class="inline" action="${url}/${action}" method="post">
  <button class="quiet" type="submit">${label}</button>
</form>
% endfor
% if job.text:
<section>
  <h2>${_("Receipt")}</h2>
  <pre tabindex="0" role="region" aria-label="${_('Receipt')}">${job.text}</pre>
</section>
% endif
% if problems:
<section>
  <h2>${_("Failed")} <span class="badge">${f"{job.problems:,}"}</span></h2>
  <ul class="plain">
% for number, one in problems:
    <li>\
% if one.identifier:
<a class="id" href="${urls.record(one.identifier)}">${one.identifier}</a>: \
% endif
<span dir="auto">${one.reason}</span></li>
% endfor
  </ul>
% if following:
  <p><a href="${following}">${_("More")}</a></p>
% endif
</section>
% endif
<%def name="bar()">\
% if job.advance.total:
 max="${job.advance.total}" value="${min(job.advance.done, job.advance.total)}"\
% endif
</%def>
