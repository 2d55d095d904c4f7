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
<div class="scroll" tabindex="0" role="region" aria-label="${_('Failed messages')}">
<table class="cards">
  <thead><tr><th scope="col">${_("Address")}</th><th scope="col">${_("Reason")}</th><th scope="col" class="number">${_("Attempts")}</th><th scope="col">${_("Failed")}</th>\
% if may_change:
<th scope="col">${_("Retry")}</th>\
% endif
</tr></thead>
  <tbody>
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
  </tbody>
</table>
</div>
${lists.steps(_("Pages of the list"), following=next_url)}
% else:
<p class="empty-line">${_("None.")}</p>
% endif
