<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="live" file="live.mako"/>
<%namespace name="rename" file="rename_parts.mako"/>
<%def name="title()">${_("Facet any field")}</%def>
<%def name="head()">${rename.script()}
% if job:
  <script src="${static_url('jobs.js')}" defer></script>
% endif
</%def>
<p class="crumbs"><a href="${every if group else request.url()}">← ${_("All groups") if group else _("Back to the search")}</a></p>
<div class="heading"><h1>${_("Facet any field")}</h1></div>
<form class="search" action="${urls.search(action='fields')}" method="get" aria-label="${_('Facet any field')}">
${lists.hidden(request.asked)}
  <p>
    <label for="field">${_("Field")}</label>
    <select id="field" name="field">
% for name in fields:
      <option value="${name}"${lists.selected(name == field)}>${field_label(name)}</option>
% endfor
    </select>
  </p>
  <p>
    <label for="kind">${_("Group by")}</label>
    <select id="kind" name="kind">
% for value, text in kinds:
      <option value="${value}"${lists.selected(value == kind)}>${text}</option>
% endfor
    </select>
  </p>
  <p class="act"><button type="submit">${_("Show")}</button></p>
</form>
<p class="${'hint' if found.whole and found.is_current else 'note'}" role="status">${told}\
% if facet_url and not found.whole:
 <a href="${facet_url}">${_("The index has all values of this field.")}</a>\
% endif
</p>
% if job:
<p><a href="${job.page}" dir="auto">${job.title}</a></p>
% if job_problem:
<p class="note" role="status">${job_problem}</p>
% endif
${live.running(job, url)}
${live.buttons(job)}
% elif may_change and (found.kept or not found.whole):
<form class="actions" action="${urls.search(action='fields')}" method="post">
  <input type="hidden" name="search" value="${search}">
  <input type="hidden" name="field" value="${field}">
  <input type="hidden" name="kind" value="${kind}">
  <p class="act"><button type="submit">${_("Count again") if found.kept else counted("Count {n} record", "Count all {n} records", found.total)}</button></p>
</form>
% endif
% if group:
<section aria-labelledby="group">
  <h2 id="group"><span class="under">${label} · ${kind_label}:</span> <span dir="auto">${group_label}</span></h2>
% if one:
  <p>${counted("{n} record", "{n} records", one.records)}
${rename.link(rename_url, group_label)}</p>
  <ul class="plain">
% for identifier, text in rows:
    <li><a href="${urls.record(identifier)}" dir="auto">${text}</a></li>
% endfor
  </ul>
% if one.records > len(rows):
  <p class="hint">${_("These are the first {n}.", n=numeral(len(rows)))}</p>
% endif
% if may_change and len(one.first) == one.records:
  <form action="${urls.bulk()}" method="post">
    <input type="hidden" name="changes" value="1">
    <input type="hidden" name="change-0-do" value="replace">
    <input type="hidden" name="change-0-field" value="${field}">
    <input type="hidden" name="change-0-value" value="${group if is_value else ''}">
    <textarea class="unseen" name="identifiers" aria-label="${_('Identifiers')}" tabindex="-1" readonly>
${chr(10).join(one.first)}</textarea>
    <p class="act"><button name="do" value="kind-0">${_("Batch edit of these records")}</button></p>
  </form>
% endif
% else:
  <p class="empty-line">${_("No record is in this group now.")}</p>
% endif
</section>
${rename.inline()}
% elif lines:
<table class="cards">
  <thead><tr><th scope="col">${label} · ${kind_label}</th><th scope="col" class="number">${_("Values")}</th><th scope="col" class="number">${_("Records")}</th></tr></thead>
  <tbody>
% for line in lines:
    <tr>
      <th scope="row"><p>\
% if line.url:
<a href="${line.url}" dir="auto">${line.label}</a>\
% else:
${line.label}\
% endif
 ${rename.link(line.rename_url, line.label)}</p></th>
      <td class="number" data-label="${_('Values')}">${numeral(line.values)}</td>
      <td class="number" data-label="${_('Records')}">${numeral(line.records)}</td>
    </tr>
% endfor
  </tbody>
</table>
% if found.groups > len(lines):
<p class="hint">${_("These are the first {n} of {all} groups.", n=numeral(len(lines)), all=numeral(found.groups))}</p>
% endif
${rename.inline()}
% else:
<section class="empty"><h2>${_("No values")}</h2><p>${_("None of these records has a value in this field.")}</p></section>
% endif
