<%inherit file="base.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="title()">${_("The queue is at its end")}</%def>
<p class="crumbs"><a href="${back}">← ${_("Back to the list")}</a></p>
${queues.before(before)}
<section class="empty">
  <h1>${said or _("Nothing is left")}</h1>
% if left:
  <p>${counted("{n} record is left in the list: skipped, or as it was.", "{n} records are left in the list: skipped, or as they were.", left)}</p>
  <p class="act"><a class="button filled" href="${first}">${_("Begin again")}</a></p>
% else:
  <p>${_("The list is empty.")}</p>
% endif
</section>
