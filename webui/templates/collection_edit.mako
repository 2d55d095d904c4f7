<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Edit the collection")}</%def>
<p class="crumbs"><a href="${card.url if is_collection else urls.saved_search(card.name)}">← ${_("Back to")} <bdi>${card.title}</bdi></a></p>
<div class="heading"><h1>${_("Edit the collection") if is_collection else _("Make a collection")}</h1></div>
<article class="question">
  <form action="${here}" method="post" enctype="multipart/form-data">
    <p><label for="title">${_("Title")}</label>
    <input id="title" name="title" value="${card.title}" required autocomplete="off" dir="auto" aria-describedby="title-hint">
    <small id="title-hint">${_("The saved search gets this title, too.")}</small></p>
    <p><label for="text">${_("Text")}</label>
    <textarea id="text" name="text" rows="8" maxlength="${most_text}" dir="auto" aria-describedby="text-hint">${found.text}</textarea>
    <small id="text-hint">${_("Markdown: *emphasis*, [a link](https://example.org), - for a list, # for a heading; an empty line begins a paragraph.")}</small></p>
    <p><label for="sort">${_("Order")}</label>
    <select id="sort" name="sort">
      <option value="">${_("As in the search")}</option>
% for name, label in sorts:
      <option value="${name}"${" selected" if name == found.sort else ""}>${label}</option>
% endfor
    </select></p>
    <fieldset>
      <legend>${_("Picture")}</legend>
% if card.picture_url:
      <p><img class="thumbnail" src="${card.picture_url}" alt="${_('The present picture')}"></p>
      <p class="tick"><input id="no-picture" name="no_picture" type="checkbox" value="yes"> <label for="no-picture">${_("No picture")}</label></p>
% endif
      <p><label for="part">${_("Upload a picture")}</label>
      <input id="part" name="part" type="file" accept="image/png,image/jpeg,image/gif,image/webp" data-limit="${most_picture}" aria-describedby="part-hint">
      <small id="part-hint">${_("PNG, JPEG, GIF or WebP, at most {limit}.", limit=limit)}</small></p>
      <p><label for="picture_record">${_("Or a file of a record: its identifier")}</label>
      <input id="picture_record" name="picture_record" value="${picture_of[0]}" autocomplete="off" spellcheck="false"></p>
      <p><label for="picture_file">${_("Name of the file")}</label>
      <input id="picture_file" name="picture_file" value="${picture_of[1]}" autocomplete="off" spellcheck="false"></p>
    </fieldset>
${parts.sending()}
    <p class="act"><button type="submit">${_("Save")}</button></p>
  </form>
</article>
% if is_collection and rows:
<article class="question">
  <h2 id="order">${_("What comes first")}</h2>
  <p>${_("Records with a number come first, the smallest number at the top. The others follow in the order above. Drag a record by its handle, or move it with the arrow keys.")}</p>
  <form action="${order_url}" method="post" aria-labelledby="order">
    <ol class="places" data-order data-move="${_('Move {title}')}" data-moved="${_('{title}: place {place}')}">
% for row, place in rows:
      <li><input type="hidden" name="row-${loop.index}" value="${row.identifier}">
      <input id="place-${loop.index}" name="place-${loop.index}" type="number" min="1" step="any" value="${place}">
      <label for="place-${loop.index}" dir="auto">${row.title or row.identifier}</label></li>
% endfor
    </ol>
    <p class="act"><button type="submit">${_("Save the order")}</button></p>
  </form>
</article>
% endif
% if is_collection:
<article class="question">
  <h2>${_("No longer a collection")}</h2>
  <p>${_("The saved search stays; its text, its picture and its order are deleted. The records stay as they are.")}</p>
  <form action="${end_url}" method="post"><button type="submit" class="quiet">${_("Remove the collection")}</button></form>
</article>
% endif
<script src="${static_url('order.js')}" defer></script>
${parts.scripts()}
