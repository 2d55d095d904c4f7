## A job while it waits or runs, with its buttons; and how any job stands.
<%namespace name="parts" file="parts.mako"/>

<%def name="outcome(one, url='')">\
<span class="outcome is-${one.name}"><span aria-hidden="true">${one.icon}</span> \
% if url:
<a href="${url}">${one.word}</a>\
% else:
${one.word}\
% endif
</span>\
</%def>

<%def name="running(shown, page_url)">
<section class="job" data-live="${shown.url}/events" data-twin="${urls.twin(shown.url)}" data-lost="${_('The server does not answer. What is shown here may be old.')}" data-job="${shown.job.job_id}" data-state="${shown.outcome.word}" data-active>
  <p><progress aria-label="${_('Progress of the job')}"${bar(shown.job)}></progress>
  <span class="share">${shown.share}</span></p>
  <p class="unscripted"><a href="${page_url}">${_("Refresh")}</a></p>
</section>
</%def>

<%def name="buttons(shown)">
% if shown.actions:
<div class="actions">
% for action, label in shown.actions:
<form action="${shown.url}/${action}" method="post">
  <button class="quiet" type="submit">${label}</button>
</form>
% endfor
</div>
% endif
</%def>

<%def name="bar(job)">\
% if job.advance.total:
 max="${job.advance.total}" value="${min(job.advance.done, job.advance.total)}"\
% endif
</%def>

<%def name="receipt(one)">
% if not one.is_empty:
<section class="receipt">
  <h2>${_("Receipt")}</h2>
% if one.figures:
  <dl class="figures">
% for label, number in one.figures:
    <div><dt>${label}</dt><dd>${number}</dd></div>
% endfor
  </dl>
% endif
% if one.lists:
  <%parts:table label="${_('Lists')}" heads="${(_('List'), *one.columns)}" numbers="${range(1, len(one.columns) + 1)}">
% for name, numbers in one.lists:
      <tr><th scope="row">${name}</th>\
% for label, number in zip(one.columns, numbers):
<td class="number" data-label="${label}">${number}</td>\
% endfor
</tr>
% endfor
  </%parts:table>
% endif
% if one.facts:
  <dl class="facts">
% for label, text in one.facts:
    <div><dt>${label}</dt><dd dir="auto">${text}</dd></div>
% endfor
  </dl>
% endif
% for note in one.notes:
  <p class="note" dir="auto">${note}</p>
% endfor
% if one.text:
  <p class="told" dir="auto">${one.text}</p>
% endif
</section>
% endif
</%def>

<%def name="asked(one)">
% if one:
<dl class="facts">
  <dt>${_("Records")}</dt><dd dir="auto">\
% if one.url:
<a href="${one.url}">${one.records}</a>\
% else:
${one.records}\
% endif
</dd>
% for label, text in one.others:
  <dt>${label}</dt><dd dir="auto">${text}</dd>
% endfor
</dl>
% endif
</%def>
