<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Activity")}</%def>
<div class="heading"><h1>${_("Activity")}</h1></div>
<form class="filters log" action="${urls.activity()}" method="get" aria-label="${_('Activity')}">
  <p><label for="activity-q">${_("Text")}</label><input id="activity-q" name="q" type="search" value="${wanted.text}" dir="auto"></p>
  <p><label for="activity-agent">${_("Who")}</label><input id="activity-agent" name="agent" value="${wanted.agent}"></p>
  <p><label for="activity-record">${_("Identifier")}</label><input id="activity-record" name="record" value="${wanted.identifier}" spellcheck="false"></p>
  <p><label for="activity-since">${_("Since")}</label><input id="activity-since" name="since" value="${wanted.since}" placeholder="2026-01-31"></p>
  <p><label for="activity-until">${_("Until")}</label><input id="activity-until" name="until" value="${wanted.until}" placeholder="2026-12-31"></p>
  <p class="act"><button type="submit">${_("Find")}</button></p>
</form>
% if lines:
<div class="scroll" role="region" aria-label="${_('Activity')}" tabindex="0">
<table>
  <thead><tr><th scope="col">${_("When")}</th><th scope="col">${_("Who")}</th><th scope="col">${_("Action")}</th><th scope="col">${_("Before")}</th><th scope="col">${_("After")}</th><th scope="col">${_("Reason")}</th></tr></thead>
  <tbody>
% for line in lines:
    <tr>
      <td>${parts.date(line.date)}</td>
      <td dir="auto">${line.agent}</td>
      <td>${line.action} <bdi>${line.what}</bdi>\
% if line.identifier:
 <a class="id" href="${urls.record(line.identifier)}"><bdi>${line.identifier}</bdi></a>\
% endif
</td>
      <td dir="auto"><del>${line.old or ""}</del></td>
      <td dir="auto"><ins>${line.new or ""}</ins></td>
      <td dir="auto">${line.message}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
% if next_url:
<p><a href="${next_url}" rel="next">${_("Earlier")}</a></p>
% endif
<ul class="acts">
% for label, url in downloads.items():
  <li><a href="${url}">${label}</a></li>
% endfor
</ul>
% else:
<section class="empty"><h2>${_("No matching activity")}</h2></section>
% endif
