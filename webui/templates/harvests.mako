<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${_("Harvests")}</%def>
<div class="heading">
  <h1>${_("Harvests")}</h1>
% if may_harvest:
  <p><a class="button filled" href="${urls.new_job('harvest')}">${_("Harvest")}</a></p>
% endif
</div>
% if history:
<section class="card" aria-label="${_('Records in each harvest')}">
${charts.figure(history, "history")}
</section>
% endif
% if found:
<ul class="entries">
% for line, receipt in found:
  <li>${parts.harvest(line)}
% if line.elsewhere:
    <p class="under">${_("WARC files in an object store: {away} of {all}", away=numeral(len(line.elsewhere)), all=numeral(line.files))} <code>${next(iter(line.elsewhere.values())).rpartition("/")[0]}</code></p>
% endif
% if not receipt.is_empty:
    <details>
      <summary>${_("Receipt")}<span class="unseen"> ${line.id}</span></summary>
${live.receipt(receipt)}
    </details>
% endif
  </li>
% endfor
</ul>
% elif first:
<p class="empty-line">${_("The list has no more entries.")}</p>
% else:
<section class="empty"><h2>${_("No harvests with a receipt")}</h2><p>${_("Each harvest is listed here when it begins, and its receipt when it ends.")}</p></section>
% endif
${lists.steps(_("Pages of the list"), first, "", following)}
