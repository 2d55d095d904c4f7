<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Probable duplicates")}</%def>
<p class="crumbs"><a href="${urls.quality()}">← ${_("Quality")}</a></p>
${parts.done(done)}
% if distinct and may_change:
<form action="${urls.duplicates()}" method="post">
  <textarea hidden name="identifiers" aria-hidden="true" tabindex="-1">
${distinct}</textarea>
  <p class="act"><button class="quiet" name="do" value="revoke">${_("Undo")}</button></p>
</form>
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
% for number, group, fields in groups:
<details class="card"${lists.opened(loop.first)}>
  <summary><h2>${number + 1}. <span dir="auto">${group[0].row.title or group[0].row.identifier}</span></h2>
    <small>${counted("{n} record", "{n} records", len(group))} · ${_("different:")} ${", ".join(one.label for one in fields if one.differs) or _("nothing")}</small></summary>
% if may_change:
  <form class="edit" action="${urls.duplicates()}" method="post">
    <textarea hidden name="identifiers" aria-hidden="true" tabindex="-1">
${"\n".join(line.row.identifier for line in group)}</textarea>
${side_by_side(number, group, fields, True)}
    <p class="act"><button name="do" value="duplicates">${_("Mark the others as duplicates")}<span class="unseen"> (${number + 1})</span></button>
      <button class="quiet" name="do" value="distinct">${_("Mark as distinct")}<span class="unseen"> (${number + 1})</span></button></p>
  </form>
% else:
${side_by_side(number, group, fields, False)}
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
<%def name="side_by_side(number, group, fields, is_choice)">
  <div class="scroll" tabindex="0" role="region" aria-label="${_('The records side by side')}">
  <table class="beside cards">
    <thead><tr>
      <th scope="col">${_("Field")}</th>
% for place, line in enumerate(group):
      <th scope="col"><a class="id" href="${line.url}">${line.row.identifier}</a>
% if is_choice:
        <label><input type="radio" name="of" value="${line.row.identifier}"${" checked" if place == 0 else ""}> ${_("Keep this record")}</label>
% endif
${parts.badges(line.row.deleted, line.row.curated, line.row.upstream_newer)}
      </th>
% endfor
    </tr></thead>
    <tbody>
% for field in fields:
      <tr class="${'differs' if field.differs else 'same'}">
        <th scope="row">${field.label}
% if field.differs:
          <span class="badge plain">${_("differs")}</span>
% endif
        </th>
% for line, values in zip(group, field.cells):
        <td data-label="${line.row.identifier}">\
% for value in values:
<span dir="auto">${value}</span>${"" if loop.last else "; "}\
% endfor
</td>
% endfor
      </tr>
% endfor
    </tbody>
  </table>
  </div>
</%def>
