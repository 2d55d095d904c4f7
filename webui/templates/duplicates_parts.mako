## A group of probable duplicates, shared by the list and the queue.
<%namespace name="parts" file="parts.mako"/>
<%namespace name="queues" file="queue.mako"/>

## What takes the last mark back.
<%def name="take_back(undo, undone, round)">
% if undone and may_change:
<form action="${urls.duplicates()}" method="post">
% if round:
  <input type="hidden" name="round" value="${round}">
% endif
  <textarea hidden name="identifiers" aria-hidden="true" tabindex="-1">
${undone}</textarea>
  <p class="act"><button class="quiet" name="do" value="${undo}">${_("Undo")}</button></p>
</form>
% endif
</%def>

<%def name="differing(group, fields)">\
${counted("{n} record", "{n} records", len(group))} · ${_("different:")} ${", ".join(one.label for one in fields if one.differs) or _("nothing")}\
</%def>

<%def name="decision(number, group, fields, queue=None)">
  <form class="edit" action="${urls.duplicates()}" method="post">
    <textarea hidden name="identifiers" aria-hidden="true" tabindex="-1">
${"\n".join(line.row.identifier for line in group)}</textarea>
${queues.hidden(queue)}
${side_by_side(number, group, fields, True)}
    <p class="act"><button name="do" value="duplicates"${" data-key=s" if queue else ""}>${_("Mark the others as duplicates")}<span class="unseen"> (${number + 1})</span></button>
      <button class="quiet" name="do" value="distinct">${_("Mark as distinct")}<span class="unseen"> (${number + 1})</span></button></p>
  </form>
</%def>

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
