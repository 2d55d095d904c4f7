<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${_("Crawl targets")}</%def>
<div class="heading">
  <h1>${_("Crawl targets")}</h1>
  <p class="count" role="status">${counted("{n} target", "{n} targets", total)}</p>
% if may_change:
  <p><a class="button filled" href="${add_url}">${_("Add a target")}</a></p>
% endif
</div>
${parts.done(done)}
<p class="hint">${_("What is crawled, how far, and when. Records have links; a search with its records can be a target, too.")}</p>
% for fault in faults:
<p class="note fault" dir="auto">${fault}</p>
% endfor
% if lines:
<%parts:table label="${_('Crawl targets')}" heads="${(_('Target'), _('What'), _('How often'), _('Next launch'), _('Last launch'))}">
% for one in lines:
    <tr>
      <th scope="row"><a href="${at(one.target.name)}" dir="auto">${one.target.title or one.target.name}</a></th>
      <td data-label="${_('What')}" dir="auto">${sentence(one.target.seeds_said)}</td>
      <td data-label="${_('How often')}">${one.frequency}</td>
      <td data-label="${_('Next launch')}">${crawls.next_launch(one)}</td>
      <td data-label="${_('Last launch')}">${parts.moment(one.last, _("never"))}</td>
    </tr>
% endfor
</%parts:table>
${lists.steps(_("Pages of the list"), previous=previous_url, following=next_url)}
% elif not faults:
<section class="empty">
  <h2>${_("No targets yet")}</h2>
  <p>${_("To crawl the links of records, search for them and choose “Crawl their links”.")} <a href="${urls.search()}">${_("Search")}</a></p>
</section>
% endif
