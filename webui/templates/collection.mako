<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${card.title}</%def>
<%def name="head()"><link rel="alternate" type="application/atom+xml" title="${card.title}" href="${feed_url}">
</%def>
<p class="crumbs"><a href="${urls.collections()}">← ${_("Collections")}</a></p>
<div class="heading">
  <h1 dir="auto">${card.title}</h1>
  <p class="count">${counted("{n} record", "{n} records", total)}</p>
</div>
% if is_first and (card.picture_url or text):
<div class="about">
% if card.picture_url:
  <img src="${card.picture_url}" alt="">
% endif
  <div>
${text}  </div>
</div>
% endif
<ul class="acts">
  <li><a href="${search_url}">${_("Search in this collection")}</a></li>
  <li><a href="${feed_url}">${_("Feed (Atom)")}</a></li>
% if may_change:
  <li><a href="${edit_url}">${_("Edit the collection")}</a></li>
% endif
</ul>
% if rows:
${lists.rows(rows)}
% else:
<section class="empty"><h2>${_("No records found")}</h2></section>
% endif
% if next_url:
<nav class="pages" aria-label="${_('Pages of the list')}"><a class="step next" rel="next" href="${next_url}">${_("Next")} →</a></nav>
% endif
