<%inherit file="base.mako"/>
<%namespace name="dups" file="duplicates_parts.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="title()">${_("Probable duplicates")}</%def>
<%def name="head()">${queues.script()}</%def>
${queues.bar(queue)}
${dups.take_back(undo, undone, round)}
<div class="heading">
  <h1 dir="auto">${group[0].row.title or group[0].row.identifier}</h1>
  <p class="count">${dups.differing(group, fields)}</p>
</div>
% if may_change:
${dups.decision(0, group, fields, queue)}
% else:
${dups.side_by_side(0, group, fields, False)}
% endif
