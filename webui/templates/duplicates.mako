<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="dups" file="duplicates_parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Probable duplicates")}</%def>
<p class="crumbs"><a href="${urls.quality()}">← ${_("Quality")}</a></p>
${parts.done(done)}
${dups.take_back(undo, undone, "")}
% if round_said:
<p class="done" role="status">${round_said}</p>
% endif
<div class="heading">
  <h1>${_("Probable duplicates")}</h1>
% if found:
  <p class="count" role="status">${counted("{n} group", "{n} groups", total)}</p>
% endif
</div>
<p class="hint">${_("Records with nearly the same title and the same creators; the surest first. Marking changes no metadata.")}
% if found and not is_current:
${_("Records have changed since this list was made; it is being renewed.")}
% endif
</p>
% if groups and may_change:
<p class="act"><a class="button filled" href="${begin}">${_("Decide one by one")}</a></p>
% endif
% for number, group, fields in groups:
<details class="card"${lists.opened(loop.first)}>
  <summary><h2>${number + 1}. <span dir="auto">${group[0].row.title or group[0].row.identifier}</span></h2>
    <small>${dups.differing(group, fields)}</small></summary>
% if may_change:
${dups.decision(number, group, fields)}
% else:
${dups.side_by_side(number, group, fields, False)}
% endif
</details>
% endfor
% if not found:
<section class="empty" role="status" data-awaited="${urls.twin(urls.duplicates())}"><h2>${_("Looking for probable duplicates")}</h2>
  <p>${_("In a large Silo this takes some minutes. You can leave this page meanwhile.")} <a href="${urls.duplicates()}">${_("Reload")}</a></p></section>
% elif not groups:
<section class="empty"><h2>${_("No probable duplicates")}</h2><p>${_("Records that are already marked are not listed.")}</p></section>
% endif
${lists.steps(_("Pages of the list"), first_url, "", next_url)}
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
