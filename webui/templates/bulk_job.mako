<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%namespace name="live" file="live.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${report.about.get("title") or report.job_id}</%def>
<%def name="head()">
% if is_active:
  <script src="${static_url('jobs.js')}" defer></script>
% endif
</%def>
<p class="crumbs"><a href="${urls.bulk_jobs()}">← ${_("Batch edits")}</a></p>
<div class="heading">
  <h1 dir="auto">${report.about.get("title") or _("Batch edit")}</h1>
  <p class="count" role="status">${live.outcome(outcome)}</p>
</div>
<p class="under">${report.about.get("agent", "")} · ${parts.date(report.about.get("made", ""))} · <span class="id">${report.job_id}</span></p>
${parts.done(note)}
% if summary and summary != report.about.get("title"):
<p dir="auto">${summary}</p>
% endif
% if report.about.get("message") not in (None, "", report.about.get("title")):
<p dir="auto">“${report.about["message"]}”</p>
% endif
% if problem:
<p class="note" role="status">${problem}</p>
% endif
% if shown and shown.job.sentence:
<p class="note fault" dir="auto">${shown.job.sentence}</p>
% endif
% if is_active:
% if is_planned:
<p role="status">${_("The preview is running. Nothing has been changed yet.")}</p>
% endif
${live.running(shown, url)}
% endif
% if shown:
${live.buttons(shown)}
% endif
% if preview:
${previews.preview(preview)}
% elif not is_planned:
<section class="receipt">
<dl class="figures">
% for label, number in counts:
  <div><dt>${label}</dt><dd>${f"{number:,}"}</dd></div>
% endfor
  <div><dt>${_("values changed")}</dt><dd>${f"{report.values:,}"}</dd></div>
</dl>
</section>
% endif
% if may_change:
${forms()}
% endif
% if distinct and not first:
<section class="told">
  <h2>${_("Changes")}</h2>
  <table class="cards changes">
    <thead><tr><th scope="col">${_("Field")}</th><th scope="col">${_("Before")}</th><th scope="col">${_("After")}</th><th scope="col" class="number">${_("Values")}</th></tr></thead>
    <tbody>
% for one in distinct:
      <tr><th scope="row">${one.what}</th><td data-label="${_('Before')}">${old(one.old)}</td><td data-label="${_('After')}">${new(one.new)}</td><td class="number" data-label="${_('Values')}">${f"{one.count:,}"}</td></tr>
% endfor
    </tbody>
  </table>
% if has_more:
  <p class="hint">${_("Only the {n} most frequent changes are shown.", n=len(distinct))}</p>
% endif
</section>
% endif
% if records:
<section class="told">
  <h2>${_("Changed records")}</h2>
  <ol class="plain changed">
% for one in records:
    <li><a href="${urls.record(one.identifier)}" dir="auto">${one.title}</a>\
% if one.state:
 <span class="badge">${one.state}</span>\
% endif
% for what, before, after in one.values:
<p><small>${what}</small> ${old(before)} → ${new(after)}</p>\
% endfor
</li>
% endfor
  </ol>
${lists.steps(_("Pages of the changed records"), first, "", following)}
</section>
% endif
% if toml:
<details>
  <summary>${_("Rule")}</summary>
  <pre tabindex="0" dir="ltr" aria-label="${_('Rule')}"><code>${toml}</code></pre>
</details>
% endif
${listed(report.kept, _("Not undone, because changed later"))}
${listed(report.skipped, _("Skipped"))}
<%def name="old(text)">\
% if text is None:
<span class="nothing">${_("nothing")}</span>\
% else:
<del dir="auto">${text}</del>\
% endif
</%def>
<%def name="new(text)">\
% if text is None:
<span class="nothing">${_("nothing")}</span>\
% else:
<ins dir="auto">${text}</ins>\
% endif
</%def>
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
% if is_planned and not is_active:
% if not preview or preview.changed:
<form action="${url}/resume" method="post">
  <p>
    <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
    <input id="message" name="message" type="text" autocomplete="off" dir="auto">
  </p>
  <p class="act"><button type="submit">${_("Apply") if not preview else counted("Change {n} record", "Change {n} records", preview.changed)}</button></p>
</form>
% endif
${discard()}
% elif not report.is_finished and not is_active:
% if not (shown and shown.actions):
<form action="${url}/resume" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Resume")}</button></p>
</form>
% endif
% if can_discard:
${discard()}
% endif
% elif can_undo:
<form action="${url}/undo" method="post">
  <p class="hint">${_("Restores the records as they were. Records changed later are skipped and listed.")}</p>
  <p class="act"><button class="quiet" type="submit">${_("Undo")}</button></p>
</form>
% endif
</%def>
<%def name="discard()">
<form action="${url}/discard" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Discard")}</button></p>
</form>
</%def>
