## Where one is in a queue (`webui.queues.QueuePlace`), shared by the pages that are gone through.

<%def name="bar(place)">
<nav class="crumbs results queue" aria-label="${_('Queue')}">
% if place.back:
  <a href="${place.back}">← ${_("Back to the list")}</a>
% endif
% if place.left_said:
  <strong class="place">${place.left_said}</strong>
% endif
% if place.round.done:
  <span>${counted("{n} done", "{n} done", place.round.done)}</span>
% endif
  <span>${_("Time")} <span role="timer" aria-label="${_('Time')}" data-began="${place.round.began}">${place.clock}</span></span>
% if place.skip:
  <a class="step" rel="next" href="${place.skip}">${_("Skip")} →</a>
% endif
</nav>
${before(place.before)}
</%def>

<%def name="before(one)">
% if one:
<p class="done${' remains' if one.remains else ''}" role="status">${one.said}\
% if one.url:
 <a href="${one.url}" dir="auto">${one.title}</a>\
% elif one.title:
 <bdi>${one.title}</bdi>\
% endif
</p>
% endif
</%def>

## What a form of a queue has, so that its answer is the next one.
<%def name="hidden(place)">
% if place:
  <input type="hidden" name="round" value="${place.round.field}">
% endif
</%def>

## The button that repairs the records with a finding where it is certain: it leads to a preview.
<%def name="repair(code, search, said='')">
<form action="${urls.repair()}" method="post">
  <input type="hidden" name="finding" value="${code}">
  <input type="hidden" name="search" value="${search}">
  <button type="submit" class="quiet">${_("Repair what is certain")}\
% if said:
<span class="unseen"> (${said})</span>\
% endif
</button>
</form>
</%def>

<%def name="script()"><script src="${static_url('queue.js')}" defer></script></%def>
