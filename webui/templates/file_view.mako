<%inherit file="base.mako"/>
<%def name="title()">${path}</%def>
<div class="heading"><h1 dir="auto">${path}</h1></div>
<p class="acts"><a href="${record_url}">${_("Back to the record")}</a> <a href="${file_url}" download>${_("Download")}</a>
% if picture and not pages:
<a href="${url if is_zoomed else url + '?zoom=1'}">${_("Fit to the page") if is_zoomed else _("Full size")}</a>
% endif
</p>
% if note:
<p class="note">${note}</p>
% elif pages:
<nav aria-label="${_('Pages of the document')}"><p class="acts">
% if page > 1:
  <a rel="prev" href="${f'{url}?page={page - 1}'}">${_("Previous page")}</a>
% endif
  <span role="status">${_("Page {page} of {pages}", page=page, pages=pages)}</span>
% if page < pages:
  <a rel="next" href="${f'{url}?page={page + 1}'}">${_("Next page")}</a>
% endif
</p></nav>
<p class="seen"><img src="${picture}" alt="${_('Page {page} of {pages}', page=page, pages=pages)}"></p>
<p class="hint">${_("The pages are pictures. To select or search their text, download the file.")}</p>
% elif picture:
<p class="seen${' zoomed' if is_zoomed else ''}" tabindex="0"><img src="${picture}" alt="${path}"></p>
% elif rows:
<div class="scroll" tabindex="0"><table>
  <thead><tr>
% for cell in rows[0]:
    <th scope="col" dir="auto">${cell}</th>
% endfor
  </tr></thead>
  <tbody>
% for row in rows[1:]:
    <tr>
% for cell in row:
      <td dir="auto">${cell}</td>
% endfor
    </tr>
% endfor
  </tbody>
</table></div>
% elif text is not None:
<pre class="seen" tabindex="0" dir="auto">${text}</pre>
% endif
% if is_cut:
<p class="hint">${_("This is the beginning of the file. Download it to see all.")}</p>
% endif
