<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Reconciliation")}</%def>
<div class="heading">
  <h1>${_("Reconciliation")}</h1>
% if asked:
  <p class="count" role="status">${counted("{n} value", "{n} values", all)}</p>
% endif
</div>
<p class="hint">${_("Find out which person, institution or subject a name means, and give it an identifier.")}\
% if may_manage and asked:
 <a href="${urls.at('/reconciliation/places')}">${_("Services and lists")}</a>\
% endif
</p>
% if fault:
<p class="note fault" dir="auto">${fault}</p>
% endif
% if not asked:
<section class="empty"><h2>${_("No services yet")}</h2>
% if may_manage:
<p>${_("Add a service that speaks the Reconciliation Service API, or a list of your own: a CSV file with the columns id and name.")}</p>
<p><a role="button" href="${urls.at('/reconciliation/places')}">${_("Add a service or a list")}</a></p></section>
% else:
<p>${_("A manager can add services and lists here.")}</p></section>
% endif
% else:
<form class="search" action="${urls.at('/reconciliation')}" method="get" aria-label="${_('What is reconciled')}">
  <p>
    <label for="place">${_("Service or list")}</label>
    <select id="place" name="place">
% for one in places:
      <option value="${one.name}"${lists.selected(one.name == asked.place.name)}>${one.title}</option>
% endfor
    </select>
  </p>
  <p>
    <label for="field">${_("Field")}</label>
    <select id="field" name="field">
% for name, label in fields:
      <option value="${name}"${lists.selected(name == asked.field)}>${label}</option>
% endfor
    </select>
  </p>
  <p>
    <label for="score">${_("Least score")}</label>
    <input id="score" name="score" type="number" min="0" max="1000" value="${asked.score}">
  </p>
  <p>
    <label for="distance">${_("Least distance to the next")}</label>
    <input id="distance" name="distance" type="number" min="0" max="1000" value="${asked.distance}">
  </p>
${lists.hidden(kept)}
  <p class="act"><button type="submit">${_("Show")}</button></p>
</form>
% if done:
<p class="done" role="status">${done}</p>
% if batch and may_change:
<form class="act" action="${urls.at('/reconciliation')}" method="post">
  ${about()}
  <input type="hidden" name="batch" value="${batch}">
  <button type="submit" class="quiet" name="do" value="undo">${_("Undo")}</button>
</form>
% endif
% endif
<nav aria-label="${_('Values by decision')}"><ul class="figures">
% for kind, label, number, url in kinds:
  <li><strong>${numeral(number)}</strong> <a href="${url}"${' aria-current=page' if kind == shown else ""}>${label}</a></li>
% endfor
</ul></nav>
% if may_change:
<form class="edit" action="${urls.at('/reconciliation')}" method="post">
  ${about()}
  <p class="actions">
% if unasked:
  <button type="submit" name="do" value="ask">${counted("Ask for {n} value", "Ask for {n} values", unasked)}</button>
% endif
% if clear:
  <button type="submit" name="do" value="clear">${counted("Accept {n} clear candidate", "Accept {n} clear candidates", clear)}</button>
% endif
% if accepted:
  <button type="submit" class="quiet" name="do" value="write">${_("Write identifiers into the records")}</button>
% endif
  </p>
% if accepted and has_no_room:
  <p class="hint">${_("Nothing can be written into these records: Dublin Core has no place for identifiers, but DataCite and MODS have. Pages of records show them all the same, and exports write them where their format has a place.")}</p>
% endif
% endif
% if page:
<div class="clusters">
% for number, one in page:
  <fieldset class="card">
    <legend><span dir="auto">${one.value}</span> <small><a href="${one.records_url}">${counted("{n} record", "{n} records", one.records)}<span class="unseen"> ${one.value}</span></a></small></legend>
    <input type="hidden" name="value-${number}" value="${one.value}">
% if one.known.decision == "accepted" or one.other:
    <p>${identifier(one.known.id or one.other.id, one.link, one.known.name or one.other.name)}
% if may_change and one.known.decision == "accepted":
    <button type="submit" class="quiet" name="do" value="undo-${number}">${_("Undo")}<span class="unseen"> ${one.value}</span></button>
% endif
    </p>
% elif one.known.decision == "rejected":
    <p>${_("None fits")}
% if may_change:
    <button type="submit" class="quiet" name="do" value="undo-${number}">${_("Undo")}<span class="unseen"> ${one.value}</span></button>
% endif
    </p>
% elif one.candidates:
    <ul class="plain">
% for place, each in enumerate(one.candidates):
      <li class="tick">
% if may_change:
        <input id="pick-${number}-${place}" name="pick-${number}" type="radio" value="id:${each.candidate.id}"${" checked" if each.is_clear else ""}>
        <label for="pick-${number}-${place}"><span dir="auto">${each.candidate.name}</span> <strong>${numeral(each.candidate.score)}</strong></label>
% else:
        <span dir="auto">${each.candidate.name}</span> <strong>${numeral(each.candidate.score)}</strong>
% endif
        <small>${identifier(each.candidate.id, each.link, "")} ${"; ".join(each.candidate.types)} <span dir="auto">${each.candidate.description}</span></small>
      </li>
% endfor
% if may_change:
      <li class="tick"><input id="pick-${number}-none" name="pick-${number}" type="radio" value="none"><label for="pick-${number}-none">${_("None of these")}</label></li>
      <li class="tick"><input id="pick-${number}-later" name="pick-${number}" type="radio" value=""${"" if any(each.is_clear for each in one.candidates) else " checked"}><label for="pick-${number}-later">${_("Decide later")}</label></li>
% endif
    </ul>
% elif one.known.asked:
    <p>${_("No candidates.")}</p>
% if may_change:
    <p class="tick"><input id="pick-${number}-none" name="pick-${number}" type="checkbox" value="none"><label for="pick-${number}-none">${_("None fits")}</label></p>
% endif
% else:
    <p>${_("Not asked yet")}</p>
% endif
  </fieldset>
% endfor
</div>
% else:
<section class="empty"><p>${_("No values here.")}</p></section>
% endif
% if may_change:
% if shown in ("open", "without") and page:
  <div class="savebar"><p class="act"><button type="submit" name="do" value="save">${_("Save decisions")}</button></p></div>
% endif
</form>
% endif
${lists.steps(_("Pages of the list"), "", previous_url, next_url)}
% endif

<%def name="about()">
% for name, value in (("place", asked.place.name), ("field", asked.field), ("score", asked.score), ("distance", asked.distance), ("search", urls.query(kept))):
  <input type="hidden" name="${name}" value="${value}">
% endfor
</%def>
<%def name="identifier(key, link, name)">\
% if link:
<a class="id" href="${link}" rel="noopener noreferrer">${key}</a>\
% else:
<span class="id">${key}</span>\
% endif
% if name:
 <span dir="auto">${name}</span>\
% endif
</%def>
