<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%namespace name="live" file="live.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="told" file="change_told.mako"/>
<%! from webui.words.field_labels import field_label %>
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
% if elsewhere:
<p class="note">${elsewhere.said}\
% if may_change:
 <a href="${elsewhere.url}">${_("Rename in all records")}</a>\
% endif
</p>
% endif
% if problem:
<p class="note" role="status">${problem}</p>
% endif
% if shown and shown.job.sentence:
<p class="note fault" dir="auto">${sentence(shown.job.sentence)}</p>
% endif
% if is_active:
% if is_planned:
<p role="status">${_("The preview is running. Nothing has been changed yet.")}</p>
% endif
${live.running(shown, url)}
% endif
% if shown and outcome.name != "undone":
${live.buttons(shown)}
% endif
% if preview:
${previews.preview(preview, has_samples=not distinct)}
% if distinct:
${chooser()}
% endif
% elif not is_planned:
<section class="receipt">
<dl class="figures">
% for label, number in counts:
  <div><dt>${label}</dt><dd>${numeral(number)}</dd></div>
% endfor
% if report.values or not distinct:
  <div><dt>${_("values changed")}</dt><dd>${numeral(report.values)}</dd></div>
% endif
</dl>
</section>
% endif
% if may_change:
${forms()}
% endif
% if distinct and not first and not is_planned:
<section class="told">
  <h2>${_("Changes")}</h2>
  <table class="cards changes">
    <thead><tr><th scope="col">${_("Field")}</th><th scope="col">${_("Before")}</th><th scope="col">${_("After")}</th><th scope="col" class="number">${_("Values")}</th></tr></thead>
    <tbody>
% for one in distinct:
      <tr><th scope="row">${field_label(one.what)}</th><td data-label="${_('Before')}">${told.old(one.old, one.new)}</td><td data-label="${_('After')}">${told.new(one.new, one.old)}</td><td class="number" data-label="${_('Values')}">${numeral(one.count)}</td></tr>
% endfor
    </tbody>
  </table>
${lists.steps(_("Pages of the changes"), changes_first, "", changes_following)}
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
<p><small>${field_label(what)}</small> ${told.old(before, after)} → ${told.new(after, before)}</p>\
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
${listed(report.kept, _("Not undone, because changed later"), _("To undo these too, first undo what changed them later, such as a later batch edit, then undo this one again."))}
${listed(report.skipped, _("Skipped"))}
<%def name="listed(lines, label, hint='')">
% if lines:
<section>
  <h2>${label}</h2>
% if hint:
  <p class="hint">${hint}</p>
% endif
  <ul class="plain">
% for identifier, reason in lines:
    <li><a class="id" href="${urls.record(identifier)}">${identifier}</a>: <span dir="auto">${sentence(reason)}</span></li>
% endfor
  </ul>
</section>
% endif
</%def>
<%def name="forms()">
% if is_planned and not is_active:
% if not preview or (preview.changed and not distinct):
<form action="${url}/resume" method="post">
  <p>
    <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
    <input id="message" name="message" type="text" autocomplete="off" dir="auto">
  </p>
  <p class="act"><button type="submit">${_("Apply") if not preview else counted("Change {n} record", "Change {n} records", preview.changed)}</button></p>
</form>
% endif
% if toml and not distinct:
<p class="act"><a class="button" href="${urls.with_query(urls.bulk(), {'job': report.job_id})}">${_("Back to the form")}</a></p>
% endif
${discard()}
% elif not is_active:
% if can_resume and not (shown and shown.actions):
<form action="${url}/resume" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Resume")}</button></p>
</form>
% endif
% if can_discard and not report.is_finished:
${discard()}
% endif
% if can_undo:
<form action="${url}/undo" method="post">
  <p class="hint">${_("Restores the records as they were. Records changed later are skipped and listed.")}</p>
  <p class="act"><button class="quiet" type="submit">${_("Continue undoing") if outcome.name == "partial" and report.counts.get("undone") else _("Undo")}</button></p>
</form>
% endif
% endif
</%def>
<%def name="chooser()">
<section class="told">
  <h2>${_("Changes")}</h2>
<form class="chooser" action="${urls.bulk_changes(report.job_id)}" method="post">
  <input type="hidden" name="back" value="${changes_following or url}">
  <table class="cards changes">
    <thead><tr><th scope="col"><span class="unseen">${_("Make this change")}</span></th><th scope="col">${_("Field")}</th><th scope="col">${_("Before")}</th><th scope="col">${_("After")}</th><th scope="col" class="number">${_("Values")}</th></tr></thead>
    <tbody>
% for number, one in enumerate(distinct, start):
      <tr>
        <td>\
% if may_change and not is_active:
<input type="hidden" name="change-${number}" value="yes"><input type="checkbox" name="tick-${number}" value="yes" autocomplete="off" aria-label="${_('Make this change')}: ${field_label(one.what)}, ${one.old or _('nothing')} → ${one.new or _('nothing')}"${"" if one.left_out else " checked"}>\
% endif
</td>
        <th scope="row">${field_label(one.what)}</th>
        <td data-label="${_('Before')}">${told.old(one.old, one.new)}</td>
        <td data-label="${_('After')}">${told.new(one.new, one.old)}</td>
        <td class="number" data-label="${_('Values')}"><a href="${urls.bulk_changes(report.job_id, number=number)}">${numeral(one.count)} ×<span class="unseen"> ${_("Show the records")}</span></a></td>
      </tr>
% endfor
    </tbody>
  </table>
${lists.steps(_("Pages of the changes"), changes_first, "", changes_following)}
% if may_change and not is_active:
  <p>
    <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
    <input id="message" name="message" type="text" autocomplete="off" dir="auto">
  </p>
  <p class="act"><button name="do" value="apply">${counted("Change {n} record", "Change {n} records", to_change[0])}</button>
  <button class="quiet" name="do" value="keep">${_("Update counts") if not changes_following else _("Keep, and show the next page")}</button>
% if toml:
  <a class="button" href="${urls.with_query(urls.bulk(), {'job': report.job_id})}">${_("Back to the form")}</a>
% endif
  </p>
% endif
</form>
</section>
</%def>
<%def name="discard()">
<form action="${url}/discard" method="post">
  <p class="act"><button class="quiet" type="submit">${_("Discard this batch edit")}</button></p>
</form>
</%def>
