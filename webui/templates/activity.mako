<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="compared" file="compared.mako"/>
<%def name="title()">${_("Activity")}</%def>
<div class="heading"><h1>${_("Activity")}</h1></div>
<form class="filters log" action="${urls.activity()}" method="get" aria-label="${_('Activity')}">
  <p><label for="activity-q">${_("Text")}</label><input id="activity-q" name="q" type="search" value="${wanted.text}" dir="auto"></p>
  <p><label for="activity-agent">${_("Who")}</label><input id="activity-agent" name="agent" value="${wanted.agent}"></p>
  <p><label for="activity-action">${_("Action")}</label><select id="activity-action" name="action">
    <option value="">${_("All")}</option>
% for name, said in actions.items():
    <option value="${name}"${" selected" if name == wanted.action else ""}>${said}</option>
% endfor
% if wanted.action and wanted.action not in actions:
    <option value="${wanted.action}" selected>${wanted.action}</option>
% endif
  </select></p>
  <p><label for="activity-record">${_("Identifier")}</label><input id="activity-record" name="record" value="${wanted.identifier}" spellcheck="false"></p>
  <p><label for="activity-since">${_("Since")}</label><input id="activity-since" name="since" value="${wanted.since}" placeholder="${_('YYYY-MM-DD')}"></p>
  <p><label for="activity-until">${_("Until")}</label><input id="activity-until" name="until" value="${wanted.until}" placeholder="${_('YYYY-MM-DD')}"></p>
  <p class="act"><button type="submit">${_("Find")}</button></p>
</form>
% if entries:
<table class="log cards">
  <thead><tr><th scope="col">${_("When")}</th><th scope="col">${_("Who")}</th><th scope="col">${_("What")}</th></tr></thead>
  <tbody>
% for entry in entries:
    <tr>
      <td class="when">${parts.date(entry.date)}</td>
      <td data-label="${_('Who')}" dir="auto">${entry.agent}</td>
      <td>
        <p class="did">${"" if entry.is_title else entry.action} \
% if entry.url:
<a href="${entry.url}" dir="auto"${' class=id' if entry.identifier and not entry.title else ""}>${entry.what or _("Job")}</a>\
% elif entry.title:
<span dir="auto">${entry.title}</span>\
% endif
% if entry.records > 1:
 <span class="soft">${counted("{n} record", "{n} records", entry.records)}${_(" or more") if entry.is_cut else ""}</span>\
% endif
</p>
% if entry.reason:
        <p class="soft" dir="auto">“${entry.reason}”</p>
% endif
% if len(entry.changes) > 3 or entry.records > 1:
        <details>
          <summary>${counted("{n} change", "{n} changes", len(entry.changes))}${_(" or more") if entry.is_cut else ""}</summary>
${changes(entry.changes[:most], entry.records > 1)}
% if len(entry.changes) > most:
          <p class="hint">${_("Only the newest {n} are shown.", n=most)}</p>
% endif
        </details>
% else:
${changes(entry.changes, False)}
% endif
      </td>
    </tr>
% endfor
  </tbody>
</table>
${further()}
<ul class="acts">
% for label, url in downloads.items():
  <li><a href="${url}">${label}</a></li>
% endfor
</ul>
% else:
<section class="empty"><h2>${_("No matching activity") if is_filtered else _("No activity yet")}</h2></section>
${further()}
% endif
<%def name="further()">
% if back_to:
<p class="soft">${_("Searched back to:")} ${parts.date(back_to)}</p>
<p><a href="${next_url}" rel="next">${_("Search further back")}</a></p>
% elif next_url:
<p><a href="${next_url}" rel="next">${_("Earlier")}</a></p>
% endif
</%def>
<%def name="changes(lines, is_named)">
        <ul class="values">
% for line in lines:
<% found = difference(line) %>\
% if found or is_named:
          <li>\
% if is_named and line.identifier:
<a class="id" href="${urls.record(line.identifier)}"><bdi>${line.identifier}</bdi></a> \
% endif
<bdi>${field_label(line.what)}</bdi>\
% if found:
: <span class="compared">${compared.side(found)}</span>\
% endif
</li>
% endif
% endfor
        </ul>
</%def>
