<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
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
<p class="hint">${_("A Heritrix that is named in crawling/heritrix.toml is shown here with its jobs.")}</p>
% endif
