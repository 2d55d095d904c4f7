<%inherit file="base.mako"/>
<%namespace name="panels" file="panels.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Compared pages")} · ${one.url}</%def>
<p class="crumbs"><a href="${list_url}">← ${_("Compared pages")}</a></p>
<h1>${_("Compared page")}</h1>
<dl class="facts">
  <dt>${_("Address")}</dt><dd dir="ltr"><a href="${one.url}" rel="noopener noreferrer">${one.url}</a></dd>
% for label, said in numbers:
  <dt>${label}</dt><dd>${said}</dd>
% endfor
  <dt>${_("Captured")}</dt><dd>${parts.date(captured)}</dd>
  <dt>${_("Compared")}</dt><dd>${parts.date(one.compared)}</dd>
</dl>
<div class="columns halves">
% for name, heading, alternative, url in pictures:
<section aria-labelledby="${name}">
  <h2 id="${name}">${heading}</h2>
% if url:
  <img class="first-page" src="${url}" width="1280" alt="${alternative}">
% else:
  <p class="note">${_("There is no picture.")}</p>
% endif
</section>
% endfor
</div>
% if missing:
${panels.panel(missing)}
% endif
