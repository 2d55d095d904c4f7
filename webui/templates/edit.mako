<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="head()">
% if queue:
${queues.script()}
% endif
</%def>
<%def name="title()">${_("Edit “{title}”", title=heading)}</%def>
## Enter in a field presses the form's first button.
<button form="description" class="unseen" tabindex="-1" aria-hidden="true" name="do" value="save">${_("Save")}</button>
% if queue:
${queues.bar(queue)}
% else:
<p class="crumbs"><a href="${urls.version(identifier, version, **{'from': came_from})}">← ${_("Back to")} <bdi class="id">${identifier}</bdi></a></p>
% endif
% if done:
${parts.done(_("Working copy created. The harvested version does not change."))}
% endif
<div class="heading">
  <h1 dir="auto">${_("Edit “{title}”", title=heading)}</h1>
  <p class="count">\
% if queue:
<a href="${urls.record(identifier, **{'from': came_from})}"><bdi class="id">${identifier}</bdi></a>\
% else:
<bdi class="id">${path}</bdi>\
% endif
% if is_copy:
 · <a href="${urls.version(identifier, version, 'edit-xml', path=path)}">${_("Edit as XML")}</a>\
% endif
</p>
</div>

% if is_conflict:
<section class="card conflict" role="alert" aria-labelledby="conflict">
  <h2 id="conflict">${_("This record was changed in the meantime")}</h2>
  <p>${_("Your change is not saved yet. The form below has both changes; where both changed the same field, it has yours. Check it, then save.")}</p>
  <%parts:table label="${_('Three versions of each field')}" heads="${(_('Field'), _('Before'), _('In this form'), _('Now'))}" kind="cards three">
% for row in form.differing():
      <tr>
        <th scope="row">${field_label(row.name)}</th>
        <td data-label="${_('Before')}">${side(row.base)}<button form="description" class="quiet" name="do" value="base-${row.name}">${_("Use this")}<span class="unseen"> (${field_label(row.name)}, ${_("before")})</span></button></td>
        <td data-label="${_('In this form')}">${side(row.ours)}</td>
        <td data-label="${_('Now')}">${side(row.theirs)}<button form="description" class="quiet" name="do" value="theirs-${row.name}">${_("Use this")}<span class="unseen"> (${field_label(row.name)}, ${_("now")})</span></button></td>
      </tr>
% endfor
  </%parts:table>
</section>
% endif

% if upstream_newer:
<p class="note">${_("The source has changed since this version was edited. Your edits are unchanged.")} <a href="${urls.upstream(identifier)}">${_("Compare and decide")}</a></p>
% endif
% if asks_title:
<p class="note fault" role="alert">${_("The record would have no title, so nothing was saved. Add a title, or save without one.")}
<button form="description" class="quiet" name="do" value="add-title">${_("Add a title")}</button></p>
% endif
% for tag in wrong_languages:
<p class="note fault" role="alert">${_("“{tag}” is not a language tag, so nothing was saved. Write one such as en or zh-Hant.").format(tag=tag)}</p>
% endfor
% for said, name in () if asks_title else missing:
<p class="lacks"><span class="badge finding">${said}</span>
<button form="description" class="quiet" name="do" value="add-${name}">${_("Add a value")}<span class="unseen"> (${field_label(name)})</span></button></p>
% endfor
<form id="description" class="edit" action="${url}" method="post" data-unsaved="${"yes" if is_unsaved else "no"}" data-lost="${_('The server does not answer. Nothing is lost; try again.')}">
  <input type="hidden" name="from" value="${came_from}">
  <input type="hidden" name="path" value="${path}">
% if queue:
  <input type="hidden" name="round" value="${queue.round.field}">
% endif
  <input type="hidden" name="base" value="${form.base_json}">
% if is_conflict:
  <input type="hidden" name="was" value="${form.was_json}">
% endif
  <input type="hidden" name="values" value="${len(form.fields)}">
% for name in form.names:
  <fieldset class="card field" id="field-${name}">
    <legend>${field_label(name)}</legend>
% for place, (number, field) in enumerate(form.rows(name)):
    ${value_row(name, number, field, place, len(form.rows(name)))}
% endfor
    <p class="act"><button class="quiet" name="do" value="add-${name}">${_("Add a value")}<span class="unseen"> (${field_label(name)})</span></button></p>
% if name in hints:
    <datalist id="values-${name}">
% for value in hints[name]:
      <option value="${value}"></option>
% endfor
    </datalist>
% endif
  </fieldset>
% endfor
% if not form.names:
  <p class="empty-line">${_("This file has no values yet; add one.")}</p>
% endif
  <fieldset class="card">
    <legend>${_("Another field")}</legend>
    <p class="side">
      <label for="add">${_("Field")}</label>
      <select id="add" name="add">
% for name in form.addable:
        <option value="${name}">${field_label(name)}</option>
% endfor
      </select>
      <button class="quiet" name="do" value="add">${_("Add")}</button>
    </p>
  </fieldset>
  <fieldset class="card save">
    <legend>${_("Status and reason")}</legend>
    <p>
      <label for="state">${_("Status of this version")}</label>
      <select id="state" name="state">
        <option value="">${_("not set")}</option>
% for one in states:
        <option value="${one}"${" selected" if one == state else ""}>${_(one)}</option>
% endfor
      </select>
    </p>
    <p>
      <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
      <input id="message" name="message" type="text" value="${message}" autocomplete="off" dir="auto">
    </p>
  </fieldset>
  <div class="savebar">
% if asks_title:
    <p class="tick">
      <input id="anyway" name="anyway" type="checkbox" value="yes">
      <label for="anyway">${_("Save without a title")}</label>
    </p>
% endif
    ${parts.unsaved(unsaved)}
% if queue:
    <p class="act"><button name="do" value="save" data-key="s">${_("Save and next")}</button>
      <a href="${queue.skip}">${_("Skip")}</a></p>
% else:
    <p class="act"><button name="do" value="save">${_("Save")}</button>
      <a class="clear" href="${urls.version(identifier, version)}">${_("Cancel")}</a></p>
% endif
  </div>
</form>
${parts.scripts()}

<%def name="value_row(name, number, field, place, count)">
<%
  label = f"{field_label(name)} {place + 1}"
  is_long = name == "description" or "\n" in field.text or "\r" in field.text or len(field.text) > 90
  note, found = others.get(number), findings.get(number)
  id = f"{name}-{place + 1}"
  noted = " ".join(f"{id}-{one}" for one, there in (("found", found), ("note", note is not None)) if there)
%>\
    <div class="value${' faulty' if found else ''}">
      <input type="hidden" name="name-${number}" value="${name}">
% if field.place is not None:
      <input type="hidden" name="place-${number}" value="${field.place}">
% endif
      <p class="text">
        <label class="unseen" for="${id}">${label}</label>
% if is_long:
        <textarea id="${id}" name="text-${number}" rows="${min(12, 2 + len(field.text) // 90)}" dir="auto"${fresh(number)}${described(noted)}>
${field.text}</textarea>
% else:
        <input id="${id}" name="text-${number}" type="text" value="${field.text}" dir="auto" autocomplete="off"${listed(name)}${fresh(number)}${described(noted)}>
% endif
% if found:
        <small id="${id}-found"><span class="badge finding">${", ".join(found)}</span></small>
% endif
% if note is not None:
        <small id="${id}-note">${counted("{n} other record has this value", "{n} other records have this value", note) if note else _("No other record has this value")}</small>
% endif
      </p>
      <p class="lang">
        <label class="unseen" for="${id}-lang">${_("Language of")} ${label}</label>
        <input id="${id}-lang" name="lang-${number}" type="text" value="${field.lang}" size="5" placeholder="${_('lang')}" autocomplete="off" spellcheck="false">
      </p>
      <p class="moves">
% if count > 1:
        <button class="quiet" name="do" value="up-${number}"${stay(f"{name}-{max(place, 1)}")}${off(place == 0)}><span aria-hidden="true">↑</span><span class="unseen">${_("Move up")} ${label}</span></button>
        <button class="quiet" name="do" value="down-${number}"${stay(f"{name}-{min(place + 2, count)}")}${off(place == count - 1)}><span aria-hidden="true">↓</span><span class="unseen">${_("Move down")} ${label}</span></button>
% endif
        <button class="quiet" name="do" value="remove-${number}"${stay(f"{name}-{min(place + 1, count - 1)}" if count > 1 else "add")}><span aria-hidden="true">✕</span><span class="unseen">${_("Remove")} ${label}</span></button>
      </p>
    </div>
</%def>
<%def name="side(values)">
% for one in values:
<p dir="auto">${one.text}\
% if one.lang:
 <small>[${one.lang}]</small>\
% endif
</p>
% endfor
% if not values:
<p class="empty-line">${_("nothing")}</p>
% endif
</%def>
<%def name="listed(name)">\
% if name in hints:
 list="values-${name}" data-values="${urls.search([('field', name)], 'values')}"\
% endif
</%def>
<%def name="described(ids)">\
% if ids:
 aria-describedby="${ids}"\
% endif
</%def>
<%def name="fresh(number)">${" autofocus" if number == form.fresh else ""}</%def>
<%def name="stay(id)"> formaction="${url}#${id}"</%def>
<%def name="off(yes)">${" disabled" if yes else ""}</%def>
