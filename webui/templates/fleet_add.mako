<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Add repositories")}</%def>
<p class="crumbs"><a href="${fleet_url}">← ${_("Repositories")}</a></p>
<div class="heading"><h1>${_("Add repositories")}</h1></div>
% if added is not None:
<p class="note" role="status">${counted("{n} repository added.", "{n} repositories added.", added)}\
% if known:
 ${counted("{n} is known already.", "{n} are known already.", known)}\
% endif
</p>
% endif
% if refused:
<div class="note" role="status">
  <p>${_("These lines are not addresses:")}</p>
  <ul class="plain">
% for where, reason in refused:
    <li dir="auto">${where}: ${reason}</li>
% endfor
% if more_refused:
    <li>${counted("and {n} more", "and {n} more", more_refused)}</li>
% endif
  </ul>
</div>
% endif
% if found:
<section aria-labelledby="probed">
<h2 id="probed">${_("What they answer")}</h2>
<%parts:table label="${_('What they answer')}" heads="${(_('Repository'), _('Answer'), _('Address'))}">
% for one in found:
    <tr>
      <th scope="row" dir="auto">${one.said if one.answers else one.endpoint.name}</th>
      <td data-label="${_('Answer')}">\
% if one.answers:
<span class="badge ok">${_("Answers")}</span>\
% elif one.answers is None:
<span class="badge plain">${_("Not asked, or too slow")}</span>\
% else:
<span class="badge warn">${_("Fails")}</span> <span class="under" dir="auto">${one.said}</span>\
% endif
</td>
      <td class="id" data-label="${_('Address')}">${one.endpoint.url}</td>
    </tr>
% endfor
</%parts:table>
</section>
% endif
<article class="question">
  <form action="${here}" method="post" enctype="multipart/form-data">
    <p><label for="list">${_("Addresses")}</label>
    <textarea id="list" name="list" rows="8" spellcheck="false" aria-describedby="list-hint">${text}</textarea>
    <small id="list-hint">${_("One OAI-PMH address per line, or a CSV table with the columns url, name, set, prefix, every, tags.")}</small></p>
    <p><label for="part">${_("Or a file")}</label>
    <input id="part" name="part" type="file" data-limit="${most_bytes}" aria-describedby="part-hint">
    <small id="part-hint">${_("Lines, CSV, ListFriends, or a list of CORE or OpenDOAR; at most {limit}.", limit=limit)}</small></p>
    <p><label for="every">${_("How often")} <span class="optional">(${_("optional")})</span></label>
    <input id="every" name="every" value="${every}" placeholder="1d" autocomplete="off" aria-describedby="every-hint">
    <small id="every-hint">${_("Such as 12h or 2d.")}</small></p>
    <p><label for="tag">${_("Tags")} <span class="optional">(${_("optional")})</span></label>
    <input id="tag" name="tag" value="${tag}" autocomplete="off"></p>
    <p class="act"><button type="submit" name="do" value="probe" class="${'quiet' if found else ''}">${_("Ask whether they answer")}</button>
    <button type="submit" name="do" value="add" class="${'' if found else 'quiet'}">${_("Add")}</button></p>
    <p class="hint">${_("At most {n} are asked, each for its name. Nothing is harvested now.", n=most)}</p>
  </form>
</article>
