## What packages show of a record; every text is escaped.
<%namespace name="charts" file="charts.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%! from webui.record.panels import own_address, safe_link %>
<%def name="cell(one)">\
% if safe_link(one):
<a href="${safe_link(one)}" rel="noopener noreferrer" dir="auto">${one.text}</a>\
% elif len(one.text) <= 24:
<span class="short" dir="auto">${one.text}</span>\
% else:
<span dir="auto">${one.text}</span>\
% endif
</%def>
<%def name="panel(shown)">
<section aria-labelledby="panel-${shown.name}">
  <h2 id="panel-${shown.name}">${shown.title}</h2>
${content(shown)}
</section>
</%def>
<%def name="content(shown)">
% if shown.view.note:
  <p dir="auto">${shown.view.note}</p>
% endif
% if shown.view.figures:
  <dl class="figures">
% for label, number in shown.view.figures:
    <div><dt>${label}</dt><dd>${numeral(number)}</dd></div>
% endfor
  </dl>
% endif
% for picture, is_small in shown.pictures:
% if is_small:
${charts.spark(picture)}
% else:
${charts.figure(picture, f"{shown.name}-chart-{loop.index}")}
% endif
% endfor
% if shown.view.rows:
  <dl class="fields">
% for label, value in shown.view.rows:
    <div><dt>${label}</dt><dd>${cell(value)}</dd></div>
% endfor
  </dl>
% endif
% if shown.view.links:
  <ul class="links">
% for link in shown.view.links:
    <li>${cell(link)}</li>
% endfor
  </ul>
% endif
% if shown.view.pictures:
  <ul class="shots">
% for one in shown.view.pictures:
    <li><figure>
      <a href="${own_address(one.whole)}"><img src="${own_address(one.small)}" alt="${one.text}" width="240" height="180" loading="lazy"></a>
      <figcaption>\
% for part in one.caption:
${cell(part)}\
% endfor
</figcaption>
    </figure></li>
% endfor
  </ul>
% endif
% if shown.view.table:
  <%parts:table label="${shown.title}" heads="${shown.view.table.columns}">
% for row in shown.view.table.rows:
      <tr>
% for name, one in zip(shown.view.table.columns, row):
% if one.text:
        <td data-label="${name}">${cell(one)}</td>
% else:
        <td></td>
% endif
% endfor
      </tr>
% endfor
  </%parts:table>
% endif
</%def>
