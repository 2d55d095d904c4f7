<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${report.about.get("title") or report.job_id}</%def>
<p class="crumbs"><a href="${urls.BULK_JOBS}">← ${_("Changes made")}</a></p>
<div class="heading">
  <h1 dir="auto">${report.about.get("title") or _("Changes of many records")}</h1>
  <p class="count" role="status">${said}</p>
</div>
<p class="under">${report.about.get("agent", "")} · ${parts.date(report.about.get("made", ""))} · <span class="id">${report.job_id}</span></p>
% if report.about.get("message") not in (None, "", report.about.get("title")):
<p dir="auto">“${report.about["message"]}”</p>
% endif
<ul class="figures">
% for label, number in counts:
  <li><strong>${f"{number:,}"}</strong> ${label}</li>
% endfor
  <li><strong>${f"{report.values:,}"}</strong> ${_("values changed")}</li>
</ul>
% if not report.is_finished:
<p><a class="button filled" href="${url}">${_("Look again")}</a></p>
<form action="${url}/resume" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Go on, if it was stopped")}</button></p>
</form>
% elif can_undo:
<form action="${url}/undo" method="post">
  <p class="hint">${_("Undoing restores what this changed; records that were changed since are kept and listed.")}</p>
  <p class="act danger"><button type="submit">${_("Undo")}</button></p>
</form>
% endif
${listed(report.kept, _("Kept, since they were changed after this"))}
${listed(report.skipped, _("Passed over"))}
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
