## What packages show of a record; every text is escaped.
<%! from webui.record.panels import drawn, safe_link %>
<%def name="cell(one)">\
% if safe_link(one):
<a href="${safe_link(one)}" rel="noopener noreferrer" dir="auto">${one.text}</a>\
% else:
<span dir="auto">${one.text}</span>\
% endif
</%def>
<%def name="panel(shown)">
<section aria-labelledby="panel-${shown.name}">
  <h2 id="panel-${shown.name}">${shown.title}</h2>
% if shown.view.note:
  <p dir="auto">${shown.view.note}</p>
% endif
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
% if shown.view.table:
  <div class="scroll" tabindex="0" role="region" aria-label="${shown.title}">
  <table class="cards">
    <thead><tr>
% for name in shown.view.table.columns:
      <th scope="col">${name}</th>
% endfor
    </tr></thead>
    <tbody>
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
    </tbody>
  </table>
  </div>
% endif
% if shown.view.bars:
  <svg viewBox="0 0 ${len(shown.view.bars) * 20} 60" width="${len(shown.view.bars) * 20}" height="60" aria-hidden="true" focusable="false">
% for bar in drawn(shown.view.bars):
    <rect x="${bar.x}" y="${f'{bar.y:.1f}'}" width="16" height="${f'{bar.height:.1f}'}" fill="currentColor"><title>${bar.label}: ${f'{bar.number:,.12g}'}</title></rect>
% endfor
  </svg>
  <details>
    <summary>${_("Numbers")}</summary>
    <table>
      <tbody>
% for bar in shown.view.bars:
        <tr><th scope="row">${bar.label}</th><td class="number">${f'{bar.number:,.12g}'}</td></tr>
% endfor
      </tbody>
    </table>
  </details>
% endif
</section>
</%def>
