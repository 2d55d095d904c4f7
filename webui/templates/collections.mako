<%inherit file="base.mako"/>
<%namespace name="own" file="collection_parts.mako"/>
<%def name="title()">${_("Collections")}</%def>
<div class="heading">
  <h1>${_("Collections")}</h1>
  <p class="count">${counted("{n} collection", "{n} collections", len(collections))}</p>
</div>
% if collections:
${own.cards(collections)}
% else:
<section class="empty">
  <h2>${_("No collections yet")}</h2>
  <p>${_("A collection is a saved search with a text and a picture. Save a search, then make it a collection.")}</p>
  <p><a href="${urls.searches()}">${_("Saved searches")}</a></p>
</section>
% endif
