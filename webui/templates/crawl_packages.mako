<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
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
<%parts:table label="${_('Packages')}" heads="${(_('Package'), _('State'), _('ARK'), _('Size'), _('Crawled until'))}" numbers="${(3,)}">
% for one in lines:
    <tr>
      <th scope="row"><a href="${at(one.id)}"><span class="id">${one.id}</span></a></th>
      <td data-label="${_('State')}">${crawls.package_state(one, state(one))}</td>
      <td data-label="${_('ARK')}"><span class="id" dir="ltr">${one.ark}</span></td>
      <td class="number" data-label="${_('Size')}">${human_size(one.size)}</td>
      <td data-label="${_('Crawled until')}">${parts.moment(one.ended)}</td>
    </tr>
% endfor
</%parts:table>
${lists.steps(_("Pages of the list"), previous=previous_url, following=next_url)}
% elif not unbegun:
<section class="empty"><h2>${_("No packages yet")}</h2>
  <p>${_("A checkpoint of a crawl becomes a package, with identifiers, checksums and metadata, in a store.")} <code>silo crawl package DIR --store PLACE</code></p></section>
% endif
% if unbegun:
<section aria-labelledby="unbegun">
<h2 id="unbegun">${_("Checkpoints that are to be packaged")}</h2>
<%parts:table label="${_('Checkpoints that are to be packaged')}" heads="${(_('Package'), _('State'), _('Details'))}">
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
</%parts:table>
</section>
% endif
