<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${_("Our own crawl")}</%def>
<p class="crumbs"><a href="${jobs_url}">← ${_("Crawl jobs")}</a></p>
<h1>${_("Our own crawl")}</h1>
${parts.done(done)}
<dl class="facts">
  <dt>${_("State")}</dt><dd>${state} · <a href="${status_url}">${_("Crawl status")}</a></dd>
  <dt>${_("Addresses a second")}</dt><dd>${numeral(float(own.rate), 2)} ${_("in the last five minutes")}</dd>
  <dt>${_("Last checkpoint")}</dt><dd><span class="id">${own.checkpoint or _("none")}</span></dd>
</dl>
% if action:
<div class="actions"><form action="${action}" method="post"><button class="quiet" type="submit">${_("Make a checkpoint")}</button></form></div>
% endif
${crawls.longest(_("Hosts of what waits next"), _("Host"), own.hosts)}
<section aria-labelledby="queues">
<h2 id="queues">${_("Queues")}</h2>
% if own.sizes:
<%parts:table label="${_('Queues')}" heads="${(_('Queue'), _('Waiting'), _('For later'), _('In progress'), _('Failed'))}" numbers="${(1, 2, 3, 4)}">
% for name, size in own.sizes.items():
    <tr>
      <th scope="row"><span class="id">${name}</span></th>
      <td class="number" data-label="${_('Waiting')}">${numeral(size.waiting)}</td>
      <td class="number" data-label="${_('For later')}">${numeral(size.later)}</td>
      <td class="number" data-label="${_('In progress')}">${numeral(size.taken)}</td>
      <td class="number" data-label="${_('Failed')}">${numeral(size.dead)}</td>
    </tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("Nothing was launched yet.")}</p>
% endif
</section>
${crawls.log(_("Log"), own.tail)}
