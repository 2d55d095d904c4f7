## What a bulk change would do, and the records it is for; shared by the pages of bulk changes.
<%! from webui.words.field_labels import field_label %>
<%namespace name="parts" file="parts.mako"/>

<%def name="preview(found, has_samples=True)">
<section class="card" aria-labelledby="preview">
  <h2 id="preview" tabindex="-1">${_("Preview")}</h2>
  <p role="status">${_("Nothing has been changed yet.")}</p>
% for remark in found.remarks:
  <p class="note">${remark}</p>
% endfor
  <ul class="figures">
    <li><strong>${numeral(found.records)}</strong> ${_("records checked")}</li>
    <li><strong>${numeral(found.changed)}</strong> ${_("records change")}</li>
% if found.values or not found.changed:
    <li><strong>${numeral(found.values)}</strong> ${_("values change")}</li>
% endif
    <li><strong>${numeral(found.copies)}</strong> ${_("working copies will be created")}</li>
% if found.deleted:
    <li><strong>${numeral(found.deleted)}</strong> ${_("deleted records left out")}</li>
% endif
  </ul>
% if found.skipped:
  <h3>${_("Skipped")}</h3>
  <ul class="plain">
% for reason, number in found.skipped.items():
    <li>${counted("{n} record", "{n} records", number)}: ${reason}
      <details>
        <summary>${_("Identifiers")}</summary>
        <ul class="plain">
% for identifier, why in found.passed_over:
% if why == reason:
          <li class="id">${identifier}</li>
% endif
% endfor
        </ul>
      </details>
    </li>
% endfor
  </ul>
% endif
% if found.samples and has_samples:
  <h3>${_("Examples")}</h3>
  <%parts:table label="${_('Examples')}" heads="${(_('Record'), _('Before'), _('After'))}" kind="cards three">
% for one in found.samples:
      <tr>
        <th scope="row"><a class="id" href="${urls.record(one.identifier)}">${one.identifier}</a></th>
        <td data-label="${_('Before')}">${values(one.before, one.after, "del")}</td>
        <td data-label="${_('After')}">${values(one.after, one.before, "ins")}\
% if one.state:
<p>${_("Status: {state}", state=one.state)}</p>\
% endif
</td>
      </tr>
% endfor
  </%parts:table>
% elif not found.changed:
  <p class="empty-line">${_("Nothing would change.")}</p>
% endif
</section>
</%def>

<%def name="values(these, others, mark)">
% for name, text, lang in these:
<p dir="auto"><small>${field_label(name)}${f" [{lang}]" if lang else ""}</small>
% if (name, text, lang) in others:
${text}\
% elif mark == "del":
<del>${text}</del>\
% else:
<ins>${text}</ins>\
% endif
</p>
% endfor
</%def>

<%def name="chosen(found)">
<p class="chosen-records">${found.said}.
% if found.url:
<a href="${found.url}">${_("Show")}</a>
% endif
</p>
</%def>
