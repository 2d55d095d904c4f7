<%inherit file="base.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%def name="title()">${_("Batch edit")}</%def>
<%def name="head()"><script src="${static_url('bulk.js')}" defer></script></%def>
<div class="heading">
  <h1>${_("Batch edit")}</h1>
  <p class="count"><a href="${urls.rules()}">${_("Rules")}</a> · <a href="${urls.bulk_jobs()}">${_("Batch edits")}</a></p>
</div>
<p class="hint">${_("Only working copies are changed. Every batch edit can be undone.")}
<a href="${urls.with_search(urls.sheet(), form.search)}">${_("Edit in a spreadsheet")}</a> ·
<a href="${urls.with_search(urls.attach(), form.search)}">${_("Attach a file")}</a></p>
% if fault:
<p class="note fault" role="alert" dir="auto">\
% if fault.at:
<a href="#${fault.at}">${fault.said}</a>\
% else:
${fault.said}\
% endif
</p>
% endif
<form class="edit rule" action="${urls.bulk()}" method="post" data-values="${urls.search(action='values')}"${" data-listed" if chosen.select.identifiers else ""}>
  <button class="unseen" tabindex="-1" aria-hidden="true" name="do" value="preview">${_("Preview")}</button>
  <input type="hidden" name="search" value="${form.search}">
% if job:
  <input type="hidden" name="job" value="${job}">
% endif
  <input type="hidden" name="changes" value="${len(form.changes)}">
  <fieldset class="card">
    <legend>${_("Records")}</legend>
${previews.chosen(chosen)}
    <details${" open" if form.identifiers else ""}>
      <summary>${_("List of identifiers")}</summary>
      <p>
        <label for="identifiers">${_("One identifier per line")}</label>
        <textarea id="identifiers" name="identifiers" rows="5" dir="ltr" spellcheck="false">
${form.identifiers}</textarea>
      </p>
    </details>
  </fieldset>
% for number, change in enumerate(form.changes):
${one_change(number, change)}
% endfor
  <fieldset class="card">
    <legend>${_("Add a change") if form.changes else _("Change")}</legend>
    <p class="side">
      <label for="add">${_("Change")}</label>
      <select id="add" name="add">
% for kind in kinds:
        <option value="${kind.do}">${_(kind.label)}</option>
% endfor
      </select>
      <label for="add-field">${_("of the field")}</label>
      ${field_list("add-field", "")}
      <button class="quiet" name="do" value="add">${_("Add")}</button>
    </p>
  </fieldset>
  <fieldset class="card">
    <legend>${_("Options")}</legend>
    <p>
      <label for="state">${_("Set status")}</label>
      <select id="state" name="state">
        <option value="">${_("leave unchanged")}</option>
% for one in states:
        <option value="${one}"${" selected" if one == form.state else ""}>${_(one)}</option>
% endfor
      </select>
    </p>
    <details${" open" if form.file or form.title or form.name or form.keep or wrong_at == "name" else ""}>
    <summary>${_("More options")}</summary>
    <p>
      <label for="file">${_("Metadata file")}</label>
      <input id="file" name="file" type="text" value="${form.file}" autocomplete="off" spellcheck="false" aria-describedby="file-hint">
      <small id="file-hint">${_("Leave empty for oai_dc or, if there is none, the first file whose fields can be edited.")}</small>
    </p>
    <p>
      <label for="title">${_("Title")}</label>
      <input id="title" name="title" type="text" value="${form.title}" autocomplete="off" dir="auto">
    </p>
    <p>
      <label for="name">${_("Name of the rule")}</label>
      <input id="name" name="name" type="text" value="${form.name}" autocomplete="off" spellcheck="false"${described("name", "")}>
${wrong("name")}
    </p>
    <p class="tick">
      <input id="keep" name="keep" type="checkbox" value="yes"${" checked" if form.keep else ""} aria-describedby="keep-hint">
      <label for="keep">${_("Also apply to what the source changes later")}</label>
    </p>
    <p class="hint" id="keep-hint">${_("When the source changes a record that was edited here, the proposal applies the rule to it. New records are not changed: for them, preview and apply the rule again.")}</p>
    <p class="act"><button class="quiet" name="do" value="keep">${_("Save as rule")}</button></p>
    </details>
  </fieldset>
  <fieldset class="card save">
    <legend>${_("Preview")}</legend>
    <p>
      <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
      <input id="message" name="message" type="text" value="${message}" autocomplete="off" dir="auto">
    </p>
    <p class="act"><button name="do" value="preview">${_("Preview")}</button>
    </p>
  </fieldset>
</form>

<%def name="one_change(number, change)">
<% kind = by_name[change["do"]] %>
  <fieldset class="card">
    <legend>${number + 1}. ${_(kind.label)}</legend>
    <p>
      <label for="change-${number}-do">${_("Change")}</label>
      <select id="change-${number}-do" name="change-${number}-do" data-kind="kind-${number}">
% for kind in kinds:
        <option value="${kind.do}"${" selected" if kind.do == change["do"] else ""}>${_(kind.label)}</option>
% endfor
<% kind = by_name[change["do"]] %>\
      </select>
      <noscript><button class="quiet" name="do" value="kind-${number}" formnovalidate>${_("Show its fields")}</button></noscript>
    </p>
    <p>
      <label for="change-${number}-field">${_("Field")}</label>
      ${field_list(f"change-{number}-field", change.get("field", ""), form.fresh == number and not fault)}
${wrong(f"change-{number}-field")}
    </p>
% for one in kind.inputs:
${one_input(f"change-{number}-{one.name}", one, change.get(one.name, ""), number, change.get("field", ""))}
% endfor
    <div class="tried" aria-live="polite" data-tried="${number}"></div>
    <p class="act"><button class="quiet" name="do" value="remove-${number}" formnovalidate>${_("Remove this change")}<span class="unseen"> (${number + 1})</span></button></p>
  </fieldset>
</%def>
<%def name="one_input(id, one, value, number, field)">
% if one.kind == "tick":
    <p class="tick">
      <input id="${id}" name="${id}" type="checkbox" value="yes"${" checked" if value else ""}>
      <label for="${id}">${_(one.label)}</label>
    </p>
% else:
    <p>
      <label for="${id}">${_(one.label)}</label>
% if one.kind in ("lines", "table"):
      <textarea id="${id}" name="${id}" rows="${min(20, 4 + value.count(chr(10)))}" dir="auto"${described(id, one.hint)}>
${value}</textarea>
% elif one.kind == "field":
      ${field_list(id, value)}
% elif one.kind == "case":
      <select id="${id}" name="${id}"${described(id, one.hint)}>
% for case in cases:
        <option value="${case}"${" selected" if case == value else ""}>${case}</option>
% endfor
      </select>
% elif one.kind == "how":
      <select id="${id}" name="${id}"${described(id, one.hint)}>
% for how, label in hows.items():
        <option value="${how}"${" selected" if how == value else ""}>${_(label)}</option>
% endfor
      </select>
% elif one.kind == "finding":
      <select id="${id}" name="${id}"${described(id, one.hint)}>
% for code, said in repairs.items():
        <option value="${code}"${" selected" if code == value else ""}>${code} ${said}</option>
% endfor
      </select>
% elif one.name == "value":
      <input id="${id}" name="${id}" type="text" value="${value}" dir="auto" autocomplete="off" spellcheck="false" list="${id}-values"${described(id, one.hint)}>
      <datalist id="${id}-values">
% for known in offered.get(field or fields[0], ()):
        <option value="${known.value}" label="${known.value} (${numeral(known.count)})"></option>
% endfor
      </datalist>
% else:
      <input id="${id}" name="${id}" type="text" value="${value}" dir="auto" autocomplete="off" spellcheck="false"${described(id, one.hint)}>
% endif
% if one.hint:
      <small id="${id}-hint">${_(one.hint)}</small>
% endif
${wrong(id)}
    </p>
% endif
</%def>
<%def name="described(id, hint)">\
<% by = ([f"{id}-hint"] if hint else []) + ([f"{id}-fault"] if wrong_at == id else []) %>\
% if by:
 aria-describedby="${" ".join(by)}"\
% endif
% if wrong_at == id:
 aria-invalid="true"${" autofocus"}\
% endif
</%def>
<%def name="wrong(id)">\
% if wrong_at == id:
      <small class="fault" id="${id}-fault" dir="auto">${fault.reason}</small>\
% endif
</%def>
<%def name="field_list(id, value, is_first=False)">\
<select id="${id}" name="${id}" required${described(id, "")}${" autofocus" if is_first else ""}>
% for name in fields:
        <option value="${name}"${" selected" if name == value else ""} data-facet="${facets.get(name, "")}">${field_label(name)}</option>
% endfor
      </select>\
</%def>
