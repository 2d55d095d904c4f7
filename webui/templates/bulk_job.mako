<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%def name="title()">${report.about.get("title") or report.job_id}</%def>
<p class="crumbs"><a href="${urls.bulk_jobs()}">← ${_("Batch edits")}</a></p>
<div class="heading">
  <h1 dir="auto">${report.about.get("title") or _("Batch edit")}</h1>
  <p class="count" role="status">${said}</p>
</div>
<p class="under">${report.about.get("agent", "")} · ${parts.date(report.about.get("made", ""))} · <span class="id">${report.job_id}</span></p>
% if summary and summary != report.about.get("title"):
<p dir="auto">${summary}</p>
% endif
% if report.about.get("message") not in (None, "", report.about.get("title")):
<p dir="auto">“${report.about["message"]}”</p>
% endif
% if toml:
<details>
  <summary>${_("Rule")}</summary>
  <pre tabindex="0" dir="ltr" aria-label="${_('Rule')}"><code>${toml}</code></pre>
</details>
% endif
% if not preview:
<ul class="figures">
% for label, number in counts:
  <li><strong>${f"{number:,}"}</strong> ${label}</li>
% endfor
  <li><strong>${f"{report.values:,}"}</strong> ${_("values changed")}</li>
</ul>
% endif
% if preview:
${previews.preview(preview)}
% endif
% if is_planned and not preview:
<p class="note" role="status">${_("The preview is running. Nothing has been changed yet.")} <a href="${urls.job(report.about['preview_job'])}">${_("Show progress")}</a></p>
% endif
% if not report.is_finished and not is_planned:
<p><a class="button filled" href="${url}">${_("Refresh")}</a></p>
% endif
% if may_change:
${forms()}
% endif
${listed(report.kept, _("Not undone, because changed later"))}
${listed(report.skipped, _("Skipped"))}
<%def name="listed(lines, label)">
% if lines:
<section>
  <h2>${label}</h2>
  <ul class="plain">
% for identifier, reason in lines:
    <li><a class="id" href="${urls.record(identifier)}">${identifier}</a>: ${reason}</li>
% endfor
  </ul>
</section>
% endif
</%def>
<%def name="forms()">
% if is_planned:
% if not preview or preview.changed:
<form action="${url}/resume" method="post">
  <p>
    <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
    <input id="message" name="message" type="text" autocomplete="off" dir="auto">
  </p>
  <p class="act"><button type="submit">${_("Apply") if not preview else counted("Change {n} record", "Change {n} records", preview.changed)}</button></p>
</form>
% endif
<form action="${url}/discard" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Discard")}</button></p>
</form>
% elif not report.is_finished:
<form action="${url}/resume" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Resume")}</button></p>
</form>
% if can_discard:
<form action="${url}/discard" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Discard")}</button></p>
</form>
% endif
% elif can_undo:
<form action="${url}/undo" method="post">
  <p class="hint">${_("Restores the records as they were. Records changed later are skipped and listed.")}</p>
  <p class="act"><button type="submit">${_("Undo")}</button></p>
</form>
% endif
</%def>
