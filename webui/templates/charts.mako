## Draws the values of webui/charts: SVG with its text alternative, and the table.
<%namespace name="parts" file="parts.mako"/>

<%def name="figure(picture, key)">
<figure class="chart" id="${key}">
  <figcaption>${picture.title}
% if picture.caption:
    <span class="says" dir="auto">${picture.caption}</span>
% endif
  </figcaption>
% if picture.is_empty:
  <p class="empty-line">${picture.summary}</p>
% else:
${key_of(picture)}
${drawing(picture)}
  <details class="numbers">
    <summary>${_("Table")}<span class="unseen">: ${picture.title}</span></summary>
    <%parts:table label="${picture.title}" heads="${picture.head}">
% for row in picture.rows:
        <tr>\
% for cell in row.cells:
% if loop.first and row.url:
<th scope="row" dir="auto"><a href="${row.url}">${cell}</a></th>\
% elif loop.first:
<th scope="row" dir="auto">${cell}</th>\
% else:
<td data-label="${picture.head[loop.index]}">${cell}</td>\
% endif
% endfor
</tr>
% endfor
    </%parts:table>
  </details>
% endif
</figure>
</%def>

<%def name="key_of(picture)">\
% if picture.legend:
  <ul class="legend">
% for tone, name in picture.legend:
    <li><svg width="12" height="12" aria-hidden="true"><rect class="${tone}" width="12" height="12"/></svg> ${name}</li>
% endfor
  </ul>
% endif
</%def>

## Without caption and table, as in a cell that has a name.
<%def name="drawing(picture)">
<svg class="drawing" width="100%" height="${f'{picture.height:g}'}" role="${'group' if picture.has_links else 'img'}" aria-label="${picture.title}. ${picture.summary}">
% for one in picture.lines:
<line class="grid" x1="${percent(one.x1)}" x2="${percent(one.x2)}" y1="${f'{one.y:.1f}'}" y2="${f'{one.y:.1f}'}"/>
% endfor
% for one in picture.boxes:
${link(one)}<rect class="${one.css}" x="${percent(one.x)}" y="${f'{one.y:.2f}'}" width="${percent(one.width)}" height="${f'{one.height:.2f}'}">${tip(one)}</rect>${unlink(one)}
% endfor
% for one in picture.labels:
${link(one)}${words(one, one.text, "brief" if one.longer else "")}${words(one, one.longer, "longer")}${unlink(one)}
% endfor
</svg>
</%def>

<%def name="words(one, text, css)">\
% if text:
<text class="${css}" x="${percent(one.x)}" y="${f'{one.y:.1f}'}" text-anchor="${one.anchor}">${text}</text>\
% endif
</%def>

## A sparkline: bars only, as one path, because a list has many. The title is also the tooltip.
<%def name="spark(picture)">
<svg class="drawing spark" width="100%" height="${f'{picture.height:g}'}" viewBox="0 0 100 ${f'{picture.height:g}'}" preserveAspectRatio="none" role="img">\
<title>${picture.title}. ${picture.summary}</title>\
<path class="main" d="${''.join(f'M{one.x:.4g} {one.y:.3g}h{one.width:.3g}v{one.height:.3g}h-{one.width:.3g}z' for one in picture.boxes)}"/></svg>
</%def>

<%!
def percent(number):
    return f"{number:.3f}%"
%>

## The table has the same links; those of the picture are no further steps of the keyboard.
<%def name="link(one)">\
% if one.url:
<a href="${one.url}" tabindex="-1">\
% endif
</%def>

<%def name="unlink(one)">\
% if one.url:
</a>\
% endif
</%def>

<%def name="tip(one)">\
% if one.label:
<title>${one.label}</title>\
% endif
</%def>
