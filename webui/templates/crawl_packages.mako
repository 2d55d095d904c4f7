<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${_("Packages")}</%def>
<div class="heading">
  <h1>${_("Packages")}</h1>
  <p class="count">${counted("{n} package", "{n} packages", total)}</p>
</div>
% for fault in faults:
<p>${crawls.badge("alert", _("alert"))} <span dir="auto">${fault}</span></p>
% endfor
% if lines:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Packages')}">
<table class="cards">
  <thead><tr><th scope="col">${_("Package")}</th><th scope="col">${_("State")}</th><th scope="col">${_("ARK")}</th><th scope="col" class="number">${_("Size")}</th><th scope="col">${_("Crawled until")}</th></tr></thead>
  <tbody>
% for one in lines:
    <tr>
      <th scope="row"><a href="${at(one.id)}"><span class="id">${one.id}</span></a></th>
      <td data-label="${_('State')}">${crawls.package_state(one, state(one))}</td>
      <td data-label="${_('ARK')}"><span class="id" dir="ltr">${one.ark}</span></td>
      <td class="number" data-label="${_('Size')}">${human_size(one.size)}</td>
      <td data-label="${_('Crawled until')}">${crawls.moment(one.ended)}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
${lists.steps(_("Pages of the list"), previous=previous_url, following=next_url)}
% elif not unbegun:
<section class="empty"><h2>${_("No packages yet")}</h2>
  <p>${_("A checkpoint of a crawl becomes a package, with identifiers, checksums and metadata, in a store.")} <code>silo crawl package DIR --store PLACE</code></p></section>
% endif
% if unbegun:
<section aria-labelledby="unbegun">
<h2 id="unbegun">${_("Checkpoints that are to be packaged")}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="${_('Checkpoints that are to be packaged')}">
<table class="cards">
  <thead><tr><th scope="col">${_("Package")}</th><th scope="col">${_("State")}</th><th scope="col">${_("Details")}</th></tr></thead>
  <tbody>
% for one in unbegun:
    <tr>
      <th scope="row"><span class="id">${one.package}</span></th>
      <td data-label="${_('State')}">\
% if one.is_dead:
<a href="${dead_url}">${_("failed too often")}</a>\
% else:
${_("waiting")}\
% endif
</td>
      <td data-label="${_('Details')}" dir="auto">${one.reason}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
</section>
% endif
