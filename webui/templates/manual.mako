<%inherit file="base.mako"/>
<%def name="title()">${headline}</%def>
% if not is_index:
<p class="crumbs"><a href="${urls.manual()}">← ${_("Help")}</a></p>
% endif
% if language() != "en":
<p class="hint">${_("The documentation is in English.")}</p>
% endif
<div class="manual" lang="en">
% for block in blocks:
% if block.kind == "pre":
<pre tabindex="0">${block.text}</pre>
% elif block.kind == "ul":
<ul>
% for cells, depth in zip(block.rows, block.text):
  <li${" class=under-it" if depth == "1" else ""}>${inline(cells[0])}</li>
% endfor
</ul>
% elif block.kind == "table":
<div class="scroll" tabindex="0" role="region" aria-label="${_('Table')}"><table>
<thead><tr>
% for cell in block.rows[0]:
  <th scope="col">${inline(cell)}</th>
% endfor
</tr></thead>
<tbody>
% for row in block.rows[1:]:
<tr>
% for cell in row:
  <td>${inline(cell)}</td>
% endfor
</tr>
% endfor
</tbody>
</table></div>
% elif block.kind == "p":
<p>${inline(block.rows[0][0])}</p>
% elif block.kind == "h1":
<h1>${inline(block.rows[0][0])}</h1>
% elif block.kind == "h2":
<h2 id="${block.text}">${inline(block.rows[0][0])}</h2>
% else:
<h3 id="${block.text}">${inline(block.rows[0][0])}</h3>
% endif
% endfor
</div>
<%def name="inline(pieces)">\
% for piece in pieces:
% if piece.kind == "code":
<code>${piece.text}</code>\
% elif piece.kind == "strong":
<strong>${piece.text}</strong>\
% elif piece.kind == "em":
<em>${piece.text}</em>\
% elif piece.kind == "link":
<a href="${urls.manual(piece.topic) if piece.topic else ''}${('#' + piece.anchor) if piece.anchor else ''}">${piece.text}</a>\
% else:
${piece.text}\
% endif
% endfor
</%def>
