<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${shown.title}</%def>
<%def name="head()">
% if not job.is_over:
  <script src="${static_url('jobs.js')}" defer></script>
% endif
</%def>
<p class="crumbs"><a href="${urls.jobs()}">← ${_("Jobs")}</a>\
% if asked and asked.url:
 · <a href="${asked.url}">${_("Back to the search")}</a>\
% endif
</p>
<div class="heading">
  <h1 dir="auto">${shown.title}</h1>
  <p class="count" role="status" id="job-state">${live.outcome(shown.outcome)}</p>
</div>
<p class="under"><bdi>${job.agent}</bdi> · ${parts.date(job.made)} · <span class="id">${job.job_id}</span></p>
${live.asked(asked)}
% if problem:
<p class="note" role="status">${problem}</p>
% endif
% if job.sentence:
<p class="note fault" dir="auto">${sentence(job.sentence)}</p>
% endif
% if not job.is_over:
${live.running(shown, url)}
% endif
% if "crawl" in job.report:
<p><a class="button filled" href="${urls.crawl(job.report['crawl'])}">${_("Show the report")}</a></p>
% endif
% if asked and asked.shown and job.state == "done":
<p><a class="button filled" href="${asked.shown}">${asked.shown_label}</a></p>
% endif
% if download:
<p><a class="button filled" href="${download}" download>${download_label}</a></p>
% endif
${live.buttons(shown)}
% if again:
<p class="act"><a class="button" href="${again}">${_("Change and start again")}</a></p>
% endif
${live.receipt(receipt)}
% if export and job.counts.get("records"):
<form action="${urls.jobs()}" method="post">
  <input type="hidden" name="kind" value="${job.kind}">
% for name, value in export.items():
  <input type="hidden" name="${name}" value="${value}">
% endfor
  <p class="act"><button type="submit">${_("Export")}</button></p>
</form>
% endif
% if problems:
<section>
  <h2>${_("Failed")} <span class="badge">${numeral(failures)}</span></h2>
% if named < failures:
  <p>${_("{n} of {all} shown", n=numeral(named), all=numeral(failures))}</p>
% endif
  <ul class="plain">
% for number, one in problems:
    <li>\
% if one.identifier:
<a class="id" href="${urls.record(one.identifier)}">${one.identifier}</a>: \
% endif
<span dir="auto">${sentence(one.reason)}</span></li>
% endfor
  </ul>
% if following:
  <p><a href="${following}">${_("More")}</a></p>
% endif
</section>
% endif
