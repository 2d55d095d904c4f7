<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${_("Crawl status")}</%def>
<div class="heading">
  <h1>${_("Crawl status")}</h1>
  <p class="under"><a href="${targets_url}">${_("Crawl targets")}</a></p>
</div>
<%parts:table label="${_('Crawl status')}" heads="${(_('What'), _('State'), _('Details'), _('What to do next'))}">
% for one in found.conditions:
    <tr>
      <th scope="row">${names[one.name]}\
% if one.of:
 <span class="id" dir="auto">${one.of}</span>\
% endif
</th>
      <td data-label="${_('State')}">${crawls.badge(one.word, words[one.word])}</td>
      <td data-label="${_('Details')}" dir="auto">${sentence(one.said)}</td>
% if one.advice:
      <td data-label="${_('What to do next')}" dir="auto">${sentence(one.advice)}</td>
% else:
      <td></td>
% endif
    </tr>
% endfor
</%parts:table>
<section aria-labelledby="queues">
<h2 id="queues">${_("Queues")}</h2>
<%parts:table label="${_('Queues')}" heads="${(_('Queue'), _('Waiting'), _('For later'), _('In progress'), _('Failed'), _('Oldest waits for'))}" numbers="${(1, 2, 3, 4)}">
% for name, size in found.queues.items():
    <tr>
      <th scope="row"><span class="id">${name}</span></th>
      <td class="number" data-label="${_('Waiting')}">${numeral(size.waiting)}</td>
      <td class="number" data-label="${_('For later')}">${numeral(size.later)}</td>
      <td class="number" data-label="${_('In progress')}">${numeral(size.taken)}</td>
      <td class="number" data-label="${_('Failed')}">\
% if size.dead:
<a href="${dead(name)}">${numeral(size.dead)}</a>\
% else:
0\
% endif
</td>
% if size.waiting:
      <td data-label="${_('Oldest waits for')}">${age(size.oldest)}</td>
% else:
      <td></td>
% endif
    </tr>
% endfor
</%parts:table>
</section>
<section aria-labelledby="hosts">
<h2 id="hosts">${_("Hosts that rest")}</h2>
% if found.resting:
<p class="hint">${_("They asked to be left alone, in an answer or in their robots.txt.")}</p>
<%parts:table label="${_('Hosts that rest')}" heads="${(_('Host'), _('For'))}">
% for host, seconds in found.resting:
    <tr><th scope="row" dir="ltr">${host}</th><td data-label="${_('For')}">${age(seconds)}</td></tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("None.")}</p>
% endif
</section>
