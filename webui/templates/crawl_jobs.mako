<%inherit file="base.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${_("Crawl jobs")}</%def>
<h1>${_("Crawl jobs")}</h1>
<section aria-labelledby="own">
<h2 id="own">${_("Our own crawl")}</h2>
<p><a href="${own_url}">${own_state}</a>\
% if own.is_running:
 · ${_("{rate} addresses a second", rate=f"{own.rate:.1f}")}\
% endif
</p>
</section>
% for number, one in enumerate(engines):
<section aria-labelledby="engine-${number}">
<h2 id="engine-${number}" dir="auto">${_("Heritrix {name}", name=one.name)}</h2>
<p class="under"><span dir="ltr">${one.url}</span> ${one.version}</p>
% if one.fault:
<p>${crawls.badge("alert", _("alert"))} <span dir="auto">${one.fault}</span></p>
% elif one.jobs:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Jobs of {name}', name=one.name)}">
<table class="cards">
  <thead><tr><th scope="col">${_("Job")}</th><th scope="col">${_("State")}</th></tr></thead>
  <tbody>
% for name, said, url in one.jobs:
    <tr><th scope="row" dir="auto"><a href="${url}">${name}</a></th><td data-label="${_('State')}" dir="auto">${said}</td></tr>
% endfor
  </tbody>
</table>
</div>
% else:
<p class="empty-line">${_("It has no jobs.")}</p>
% endif
</section>
% endfor
% if not engines:
<p class="hint">${_("A Heritrix that is named in crawling/heritrix.toml is shown here with its jobs.")}</p>
% endif
