<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${job.name}</%def>
<p class="crumbs"><a href="${jobs_url}">← ${_("Crawl jobs")}</a></p>
<div class="heading">
  <h1 dir="auto">${job.name}</h1>
  <p class="under"><span dir="auto">${_("Heritrix {name}", name=engine)}</span></p>
</div>
${parts.done(done)}
<dl class="facts">
  <dt>${_("State")}</dt><dd dir="auto">${job.state.value} ${job.description}</dd>
  <dt>${_("Addresses")}</dt><dd>${_("{fetched} fetched, {waiting} wait", fetched=numeral(job.downloaded), waiting=numeral(job.queued))}</dd>
  <dt>${_("Addresses a second")}</dt><dd>${_("{now} now, {mean} in all", now=numeral(float(job.rate), 2), mean=numeral(float(job.mean_rate), 2))}</dd>
  <dt>${_("Size")}</dt><dd>${human_size(job.bytes)}</dd>
  <dt>${_("Threads at work")}</dt><dd>${_("{busy} of {all}", busy=job.busy_threads, all=job.threads)}</dd>
  <dt>${_("Last checkpoint")}</dt><dd><span class="id">${checkpoint or _("none")}</span></dd>
  <dt>${_("Alerts")}</dt><dd>${numeral(job.alerts)}</dd>
</dl>
% if actions:
<div class="actions">
% for name, label in actions:
  <form action="${at(name)}" method="post"><button class="quiet" type="submit">${label}</button></form>
% endfor
</div>
% endif
${crawls.longest(_("Longest queues"), _("Queue"), queues)}
${crawls.log(_("Crawl log"), job.crawl_log)}
${crawls.log(_("Log of the job"), job.log)}
