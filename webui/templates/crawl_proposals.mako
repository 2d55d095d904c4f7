<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="head()">${queues.script()}</%def>
<%def name="title()">${_("Proposed documents")}</%def>
% if one:
${queues.bar(queue)}
% else:
${queues.before(queue.before)}
% endif
% if undo and may_change:
<form action="${undo}" method="post">${queues.hidden(queue)}<p class="act"><button class="quiet">${_("Undo")}</button></p></form>
% endif
<div class="heading">
  <h1>${_("Proposed documents")}</h1>
  <p class="count" role="status">${counted("{n} waits for a decision", "{n} wait for a decision", total)}</p>
</div>
% if one:
<p class="hint">${_("Compare the document with the record. A wrong document is worse than none.")}</p>
<div class="columns results">
<div class="content">
% if about["picture"]:
  <img class="first-page" src="${about["picture"]}" width="800" loading="eager" alt="${_('The first page of the document, if it can be drawn')}">
% else:
  <p class="note">${_("It is not a PDF, so there is no picture of its first page.")}</p>
% endif
</div>
<div class="side">
<section class="card" aria-labelledby="decision">
  <h2 id="decision">${_("Is this the document of the record?")}</h2>
  <p><strong>${_(one.reason.sentence)}</strong></p>
% if may_change:
  <div class="actions">
    <form action="${about["action"]}/attach" method="post">${queues.hidden(queue)}<button type="submit" data-key="s">${_("Attach")}</button></form>
    <form action="${about["action"]}/reject" method="post">${queues.hidden(queue)}<button class="quiet" type="submit">${_("Reject")}</button></form>
  </div>
% endif
</section>
<section class="card" aria-labelledby="record">
  <h2 id="record">${_("Record")}</h2>
  <dl class="facts">
    <dt>${_("Title")}</dt><dd dir="auto"><a href="${about["record_url"]}">${about["title"] or one.record}</a></dd>
% if about["creators"]:
    <dt>${_("Creators")}</dt><dd dir="auto">${about["creators"]}</dd>
% endif
    <dt>${_("DOI")}</dt><dd dir="ltr">${about["doi"] or _("none")}</dd>
  </dl>
</section>
<section class="card" aria-labelledby="document">
  <h2 id="document">${_("Document")}</h2>
  <dl class="facts">
    <dt>${_("Address")}</dt><dd dir="ltr"><a href="${one.url}" rel="noopener noreferrer">${one.url}</a></dd>
% if about["archived"]:
    <dt>${_("As archived")}</dt><dd><a href="${about["archived"]}" rel="noopener noreferrer">${_("Show")}</a></dd>
% endif
    <dt>${_("Media type")}</dt><dd>${one.mimetype}</dd>
    <dt>${_("DOIs on its first page")}</dt><dd dir="ltr">${one.doi or _("none")}</dd>
% if one.score:
    <dt>${_("Title on its first page")}</dt><dd>${_("{n} of 100", n=f"{one.score:.0f}")}</dd>
% endif
  </dl>
</section>
<section class="card" aria-labelledby="landing">
  <h2 id="landing">${_("The page that links to it")}</h2>
% if about["landing"]:
  <dl class="facts">
    <dt>${_("Title")}</dt><dd dir="auto">${about["landing_title"] or _("none")}</dd>
    <dt>${_("Address")}</dt><dd dir="ltr"><a href="${about["landing"]}" rel="noopener noreferrer">${about["landing"]}</a></dd>
  </dl>
% else:
  <p>${_("The link of the record leads to it directly.")}</p>
% endif
</section>
</div>
</div>
% elif total:
<section class="empty"><h2>${round_said or _("No more after this one")}</h2></section>
% else:
<section class="empty"><h2>${round_said or _("No documents wait for a decision")}</h2>
  <p>${_("What a crawl finds and no rule is sure of is shown here.")}</p></section>
% endif
${lists.steps(_("Pages of the list"), first=first_url)}
% if decided:
<section aria-labelledby="decided">
<h2 id="decided">${_("Decided last")}</h2>
<%parts:table label="${_('Decided last')}" heads="${(_('Record'), _('Document'), _('Decision'), _('Who'), *([''] if may_change else []))}">
% for one in decided:
    <tr>
      <th scope="row" dir="auto">\
% if one["record_url"]:
<a href="${one["record_url"]}">${one["title"]}</a>\
% else:
${one["title"]}\
% endif
</th>
      <td data-label="${_('Document')}" dir="ltr"><a href="${one["url"]}" rel="noopener noreferrer">${one["url"]}</a></td>
      <td data-label="${_('Decision')}">${one["said"]}</td>
      <td data-label="${_('Who')}" dir="auto">${one["agent"]}</td>
% if may_change:
      <td><form action="${one["undo"]}" method="post"><button class="quiet">${_("Undo")}</button></form></td>
% endif
    </tr>
% endfor
</%parts:table>
</section>
% endif
