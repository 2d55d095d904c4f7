## What the pages of usage share: the figures, the map, lists, and the form of the period.
<%namespace name="charts" file="charts.mako"/>
<%namespace name="parts" file="parts.mako"/>

<%def name="figures(some)">
<dl class="figures">
  <div><dt>${_("Views")}</dt><dd>${numeral(some.views)}</dd></div>
  <div><dt>${_("Downloads")}</dt><dd>${numeral(some.total_requests)}</dd></div>
  <div><dt>${_("Unique uses")}</dt><dd>${numeral(some.unique_investigations)}</dd></div>
  <div><dt>${_("Unique downloads")}</dt><dd>${numeral(some.unique_requests)}</dd></div>
</dl>
<details class="rules">
  <summary>${_("How we count")}</summary>
  <p class="hint">${_("COUNTER R5.1: double clicks within 30 seconds count once, and robots and machines are left out. In a session (a user, a day, an hour) a record counts once.")}</p>
  <p class="hint">${_("The rule of 2010 counts one use for each address, record, day and kind: {views} views, {downloads} downloads, {others} others. Visitors, of each record and day: {visitors}.", views=numeral(some.views_2010), downloads=numeral(some.downloads_2010), others=numeral(some.others_2010), visitors=numeral(some.visitors))}</p>
</details>
</%def>

<%def name="period(asked, action, hidden=(), orders=())">
<form class="period" action="${action}" method="get" aria-label="${_('Period')}">
% for name, value in hidden:
  <input type="hidden" name="${name}" value="${value}">
% endfor
  <p><label for="from">${_("From")}</label> <input id="from" name="from" value="${asked.first}" size="10" autocomplete="off" placeholder="2026-01"></p>
  <p><label for="until">${_("Until")}</label> <input id="until" name="until" value="${asked.last}" size="10" autocomplete="off" placeholder="2026-03-31"></p>
% if orders:
  <p><label for="by">${_("Order")}</label> <select id="by" name="by">
% for name, label in orders.items():
    <option value="${name}"${' selected' if name == asked.by else ''}>${label}</option>
% endfor
  </select></p>
% endif
  <p><button type="submit">${_("Show")}</button></p>
</form>
</%def>

<%def name="world(map)">
<div class="world">
${map_only(map, _("Uses by country"))}
% if map.places:
<div class="scroll places" tabindex="0" role="region" aria-label="${_('Uses by country')}">
${countries(map.first)}
% if map.others:
<details>
<summary>${counted("{n} more country", "{n} more countries", len(map.others))}</summary>
${countries(map.others)}
</details>
% endif
</div>
% else:
<p class="empty-line">${_("No countries are known. They need a file of addresses when logs are imported.")}</p>
% endif
</div>
</%def>

<%def name="map_only(map, caption)">
<figure class="chart">
  <figcaption>${caption}
% if map.places:
    <span class="says">${_("{label} has the most: {value}.", label=map.places[0].name, value=numeral(map.places[0].investigations))}</span>
% endif
  </figcaption>
  <svg class="drawing map" viewBox="0 0 ${map.width} ${map.height}" role="img" aria-label="${map.summary}">
% for shape in map.shapes:
<path class="${shape.css}" d="${shape.path}">${tip(shape.label)}</path>
% endfor
  </svg>
% if map.places:
  <ul class="legend">
% for (css, least), (_next, after) in zip(map.legend, (*map.legend[1:], ("", 0))):
    <li><svg width="12" height="12" aria-hidden="true" class="drawing map"><rect class="${css}" width="12" height="12"/></svg> ${_("{first}–{last}", first=numeral(least), last=numeral(after - 1)) if after > least + 1 else numeral(least) if after else _("{number} and more", number=numeral(least))}</li>
% endfor
  </ul>
% endif
</figure>
</%def>

<%def name="countries(places)">
<table>
  <thead><tr><th scope="col">${_("Country")}</th><th scope="col" class="number">${_("Uses")}</th><th scope="col" class="number">${_("Downloads")}</th></tr></thead>
  <tbody>
% for place in places:
    <tr><th scope="row">${place.name}</th><td class="number">${numeral(place.investigations)}</td><td class="number">${numeral(place.requests)}</td></tr>
% endfor
  </tbody>
</table>
</%def>

<%def name="tip(label)">\
% if label:
<title>${label}</title>\
% endif
</%def>

<%def name="used(lines, label)">
% if lines:
<% are_many, have_months = any(line.used.kind != "record" for line in lines), any(line.spark for line in lines) %>\
<%parts:table label="${label}" heads="${(label, _('Views'), _('Downloads'), *([_('Records')] if are_many else []), *([_('By month')] if have_months else []))}" numbers="${(1, 2, 3) if are_many else (1, 2)}" kind="cards used">
% for line in lines:
    <tr>
      <th scope="row" dir="auto"><a href="${line.url}">${line.label}</a></th>
      <td class="number" data-label="${_('Views')}">${numeral(line.used.figures.views)}</td>
      <td class="number" data-label="${_('Downloads')}">${numeral(line.used.figures.total_requests)}</td>
% if line.used.kind != "record":
      <td class="number" data-label="${_('Records')}">${numeral(line.used.records)}</td>
% endif
% if line.spark:
      <td data-label="${_('By month')}">${charts.spark(line.spark)}</td>
% endif
    </tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("Nothing was used in this period.")}</p>
% endif
</%def>
