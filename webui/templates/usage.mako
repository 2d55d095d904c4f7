<%inherit file="base.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%namespace name="shared" file="usage_parts.mako"/>
<%! from webui.usage import addresses %>\
<%! from webui.words.dates import for_people %>
<%def name="title()">${_("Usage")}</%def>
<div class="heading">
  <h1>${_("Usage")}</h1>
  <p class="under"><span>${_("Counted from {first} to {last}", first=for_people(bounds[0]), last=for_people(bounds[1]))}</span> <a href="${addresses.usage('days.csv', **asked.fields)}">${_("Days as CSV")}</a> <a href="${addresses.usage('countries.csv', **asked.fields)}">${_("Countries as CSV")}</a>
% if may_import:
 <a href="${urls.new_job('usage-import')}">${_("Import access logs")}</a>
% endif
</p>
</div>
${shared.period(asked, addresses.usage(), orders=orders)}
${shared.figures(figures)}
<div class="pictures">
${charts.figure(pictures["months"], "months")}
${charts.figure(pictures["days"], "days")}
</div>
<section aria-labelledby="top">
<h2 id="top">${orders[asked.by]}</h2>
${shared.used(lines, _("Record"))}
<p><a href="${addresses.usage('top', **asked.fields)}">${_("More records")}</a></p>
</section>
<section aria-labelledby="kinds">
<h2 id="kinds">${_("By creator, subject, set …")}</h2>
<ul class="entity-kinds">
% for kind, label, number in kinds:
  <li><a class="button" href="${addresses.usage('top', kind=kind, **asked.fields)}">${label} <span class="count">${numeral(number)}</span></a></li>
% endfor
</ul>
</section>
<section aria-labelledby="places">
<h2 id="places">${_("Where the readers are")}</h2>
${shared.world(map)}
</section>
