<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${_("Crawl jobs")}</%def>
<h1>${_("Crawl jobs")}</h1>
<p class="hint">${_("Crawls at work: how fast they are, what waits to be fetched, and the end of their logs.")}</p>
<section aria-labelledby="own">
<h2 id="own">${_("Our own crawl")}</h2>
<p><a href="${own_url}">${own_state}</a>\
% if own.is_running:
 · ${_("{rate} addresses a second", rate=numeral(float(own.rate), 1))}\
% endif
</p>
% if own.is_running is False and not own.sizes:
<div class="empty">
  <p>${_("Nothing was launched yet. First add a crawl target, such as the links of the records of a search. Targets that are due are launched on the server by:")} <code>silo crawl run DIR</code></p>
  <p><a class="button filled" href="${targets_url}">${_("Crawl targets")}</a></p>
</div>
% endif
</section>
% for number, one in enumerate(engines):
<section aria-labelledby="engine-${number}">
<h2 id="engine-${number}" dir="auto">${_("Heritrix {name}", name=one.name)}</h2>
<p class="under"><span dir="ltr">${one.url}</span> ${one.version}</p>
% if one.fault:
<p>${crawls.badge("alert", _("alert"))} <span dir="auto">${one.fault}</span></p>
% elif one.jobs:
<%parts:table label="${_('Jobs of {name}', name=one.name)}" heads="${(_('Job'), _('State'))}">
% for name, said, url in one.jobs:
    <tr><th scope="row" dir="auto"><a href="${url}">${name}</a></th><td data-label="${_('State')}" dir="auto">${said}</td></tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("It has no jobs.")}</p>
% endif
</section>
% endfor
% if not engines:
<p class="hint">${_("The jobs of a Heritrix are shown here, too, once the administrator of the server has named it in crawling/heritrix.toml.")}</p>
% endif
