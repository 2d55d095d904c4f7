## How a record was used, on its own page.
<%namespace name="charts" file="charts.mako"/>
<%def name="panel(usage)">
<section aria-labelledby="usage" class="usage">
  <h2 id="usage">${_("Usage")}</h2>
% if usage.total.total_investigations or usage.total.others:
  <dl class="figures">
    <div><dt>${_("Views in a year")}</dt><dd>${f"{usage.year.views:,}"}</dd></div>
    <div><dt>${_("Downloads in a year")}</dt><dd>${f"{usage.year.total_requests:,}"}</dd></div>
    <div><dt>${_("Views in all")}</dt><dd>${f"{usage.total.views:,}"}</dd></div>
    <div><dt>${_("Downloads in all")}</dt><dd>${f"{usage.total.total_requests:,}"}</dd></div>
  </dl>
${charts.spark(usage.spark)}
% if usage.countries:
  <p class="hint">${_("Most uses from")} \
% for name, uses in usage.countries:
${name} (${f"{uses:,}"})${"" if loop.last else ", "}\
% endfor
</p>
% endif
  <p><a href="${usage.url}">${_("Usage by month, day and country")}</a></p>
% else:
  <p class="empty-line">${_("Not used yet.")}</p>
% endif
</section>
</%def>
