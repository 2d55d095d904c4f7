<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Probable duplicates")}</%def>
<p class="crumbs"><a href="${urls.quality()}">← ${_("Quality")}</a></p>
<div class="heading">
  <h1>${_("Probable duplicates")}</h1>
  <p class="count" role="status">${counted("{n} group", "{n} groups", total)}</p>
</div>
<p class="hint">${_("Records with the same title, year and first creator. Marking changes no metadata.")}</p>
% for number, group in groups:
% if may_change:
${mark(number, group)}
% else:
<section class="card">
  <h2>${number + 1}. <span dir="auto">${group[0]["title"]}</span></h2>
  <ul class="plain">
% for one in group:
    <li><a class="id" href="${urls.record(one['identifier'])}">${one["identifier"]}</a> ${parts.date(one["date"])}</li>
% endfor
  </ul>
</section>
% endif
% endfor
% if not groups:
<section class="empty"><h2>${_("No probable duplicates")}</h2><p>${_("Records that are already marked are not listed.")}</p></section>
% endif
% if next_url:
<nav class="pages" aria-label="${_('Pages of the list')}"><a class="step next" rel="next" href="${next_url}">${_("Next")} →</a></nav>
% endif
% if marked:
<section aria-labelledby="marked">
  <h2 id="marked">${_("Marked as duplicates")}</h2>
  <ul class="plain">
% for one in marked:
    <li>
      <a class="id" href="${urls.record(one['identifier'])}">${one["identifier"]}</a> ${_("of")} <a class="id" href="${urls.record(one['duplicate_of'])}">${one["duplicate_of"]}</a>
% if may_change:
      <form class="inline" action="${urls.duplicates()}" method="post">
        <input type="hidden" name="identifiers" value="${one['identifier']}">
        <button class="quiet" name="do" value="unmark">${_("Remove mark")}<span class="unseen"> (${one["identifier"]})</span></button>
      </form>
% endif
    </li>
% endfor
  </ul>
</section>
% endif
<%def name="mark(number, group)">
<form class="edit" action="${urls.duplicates()}" method="post">
  <fieldset class="card">
    <legend>${number + 1}. <span dir="auto">${group[0]["title"]}</span></legend>
    <textarea hidden name="identifiers" aria-hidden="true" tabindex="-1">
${"\n".join(one["identifier"] for one in group)}</textarea>
    <p>${_("Which record do you want to keep?")}</p>
    <ul class="plain">
% for place, one in enumerate(group):
      <li class="tick">
        <input id="of-${number}-${place}" type="radio" name="of" value="${one['identifier']}"${" checked" if place == 0 else ""}>
        <label for="of-${number}-${place}"><span class="id">${one["identifier"]}</span> ${parts.date(one["date"])}</label>
        <a href="${urls.record(one['identifier'])}">${_("Show")}<span class="unseen"> ${one["identifier"]}</span></a>
      </li>
% endfor
    </ul>
    <p class="act"><button name="do" value="duplicates">${_("Mark the others as duplicates")}<span class="unseen"> (${number + 1})</span></button>
      <button class="quiet" name="do" value="distinct">${_("Mark as distinct")}<span class="unseen"> (${number + 1})</span></button></p>
  </fieldset>
</form>
</%def>
