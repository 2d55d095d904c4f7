<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Failed messages")} · ${queue}</%def>
<p class="crumbs"><a href="${status_url}">← ${_("Crawl status")}</a></p>
<div class="heading">
  <h1>${_("Failed messages")}</h1>
  <p class="under"><span class="id">${queue}</span></p>
</div>
${parts.done(done)}
% if letters:
% if may_change:
<form class="actions" action="${action}" method="post"><button class="quiet" type="submit">${_("Retry all")}</button></form>
% endif
<%parts:table label="${_('Failed messages')}" heads="${(_('Address'), _('Reason'), _('Attempts'), _('Failed'), *([_('Retry')] if may_change else []))}" numbers="${(2,)}">
% for one in letters:
    <tr>
      <th scope="row" dir="auto">${one.url}</th>
      <td data-label="${_('Reason')}" dir="auto">${one.reason}</td>
      <td class="number" data-label="${_('Attempts')}">${one.tries}</td>
      <td data-label="${_('Failed')}">${parts.date(one.died)}</td>
% if may_change:
      <td data-label="${_('Retry')}"><form action="${action}" method="post"><input type="hidden" name="number" value="${one.number}"><button class="quiet" type="submit" aria-label="${_('Retry {address}', address=one.url)}">${_("Retry")}</button></form></td>
% endif
    </tr>
% endfor
</%parts:table>
${lists.steps(_("Pages of the list"), following=next_url)}
% else:
<p class="empty-line">${_("None.")}</p>
% endif
