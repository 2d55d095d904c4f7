<%inherit file="base.mako"/>
<%namespace name="facets" file="facets.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${choice.heading}</%def>
<p class="crumbs"><a href="${urls.new_job()}">← ${_("New job")}</a></p>
<h1>${choice.heading}</h1>
% if fault:
<p class="note fault" role="alert" dir="auto">\
% if wrong:
<a href="#${wrong}">${fault}</a>\
% else:
${fault}\
% endif
</p>
% endif
% if choice.export:
${export(choice.export)}
% else:
<article class="question">
  <p>${choice.explained}</p>
% if form_fault:
  <p class="note">${form_fault}</p>
% else:
  <form class="short" action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="${choice.name}">
% if choice.form.note:
    <p dir="auto">${sentence(choice.form.note)}</p>
% endif
% if choice.form.listed:
    <ul>
% for one in choice.form.listed:
      <li dir="ltr">${one}</li>
% endfor
    </ul>
% endif
% for field in choice.form.fields:
${own_field("", field, field.choices)}
% endfor
${when_field()}
    <p class="act"><button type="submit">${choice.heading}</button></p>
  </form>
% endif
</article>
% if choice.form.see:
<p class="more"><a href="${urls.at(choice.form.see[0])}">${_(choice.form.see[1])}</a></p>
% endif
% endif
<%def name="when_field()">
    <div class="pair">
    <p><label for="when">${_("When")}</label>
    <select id="when" name="when">
% for name, label in when.items():
      <option value="${name}"${lists.selected(given.get("when") == name)}>${_(label)}</option>
% endfor
    </select></p>
    <p><label for="at">${_("Time (UTC)")}</label>
    <input id="at" name="at" type="time" value="${given.get("at", "02:00")}" aria-describedby="at-hint">
    <small id="at-hint">${_("For jobs that run every day or on certain days.")}</small></p>
    </div>
</%def>
<%def name="records()">
<section class="question" aria-labelledby="which">
  <h2 id="which">${_("Records")}</h2>
  <p role="status" data-said><strong>${chosen.said}</strong>\
% if chosen.url:
 · <a href="${chosen.url}">${_("Show")}</a>\
% endif
</p>
  <p class="note" data-none${"" if not chosen.count else " hidden"}>${_("No record matches; nothing would be exported.")}</p>
${facets.chips(asked.chips, False)}
  <input type="hidden" name="search" value="${asked.search}">
  <input type="hidden" name="counted" value="${asked.counted}">
% if "q" in asked.own:
  <p class="wide"><label for="q">${_("Search")}</label>
  <input id="q" name="q" type="search" value="${asked.own["q"]}" dir="auto"></p>
% endif
  <div class="pair">
% if "set" in asked.own:
  <p><label for="only-set">${_("Set")}</label>
  <select id="only-set" name="set"><option value="">${_("All sets")}</option>
% for spec, name, count in sets:
    <option value="${spec}"${lists.selected(spec == asked.own["set"])}>${name} (${numeral(count)})</option>
% endfor
  </select></p>
% endif
% if "state" in asked.own:
  <p><label for="only-state">${_("Status")}</label>
  <select id="only-state" name="state"><option value="">${_("Any status")}</option>
% for one in states:
    <option value="${one}"${lists.selected(one == asked.own["state"])}>${_(one)}</option>
% endfor
  </select></p>
% endif
  </div>
  <p class="act"><button class="quiet" type="submit" formmethod="get" formaction="${choice.url}" formnovalidate>${_("Update the number")}</button> <a href="${chosen.url or urls.search()}">${_("Refine in search")}</a></p>
</section>
</%def>
<%def name="export(form)">
<% kind, id = form.first, form.first.name %>
<form class="short export" action="${urls.jobs()}" method="post" data-recount="${urls.twin(choice.url)}">
${records()}
<article class="question">
% if form.fault:
  <p class="note fault" dir="auto">${form.fault}</p>
% elif form.is_missing:
  <p>${_(kind.missing)}</p>
% if kind.name == "fedora":
  <p><a href="${urls.places()}">${_("Export places")}</a></p>
% endif
% else:
% if kind.hint:
  <p>${_(kind.hint)}</p>
% endif
    <input type="hidden" name="kind" value="export">
% if form.is_file:
${name_field(id + "-name", _("Name of a file beside the Silo. If it exists, the export replaces it."))}
% elif form.is_beside:
${name_field(id + "-name", _("Name of a directory beside the Silo. If it exists, the export updates it."))}
% endif
% if len(form.kinds) > 1:
    <p><label for="${id}-form">${_("Format")}</label>
    <select id="${id}-form" name="form">
% for one in form.kinds:
      <option value="${one.name}"${lists.selected(given.get("form") == one.name)}>${_(one.title)}</option>
% endfor
    </select></p>
% else:
    <input type="hidden" name="form" value="${id}">
% endif
% for field, choices in form.fields:
${own_field(id, field, choices)}
% endfor
% if not form.is_file:
${versions_field(id + "-versions", form.first.versions)}
% endif
    <p><label for="${id}-as-of">${_("As of (UTC)")} <span class="optional">${_("(optional)")}</span></label>
    <input id="${id}-as-of" name="as_of" type="datetime-local" step="1" value="${given.get("as_of", "")}" aria-describedby="${id}-as-of-hint">
    <small id="${id}-as-of-hint">${_("The records as they were at this moment, instead of as they are now.")}</small></p>
% if not form.is_beside:
    <p><label for="${id}-deletions">${_("Deleted at the source")}</label>
    <select id="${id}-deletions" name="deletions"><option value="status"${lists.selected(given.get("deletions") == "status")}>${_("mark as deleted")}</option><option value="delete"${lists.selected(given.get("deletions") == "delete")}>${_("delete")}</option><option value="keep"${lists.selected(given.get("deletions") == "keep")}>${_("keep")}</option></select></p>
    <p><label for="${id}-conflicts">${_("If others changed the target")}</label>
    <select id="${id}-conflicts" name="conflicts"><option value="fail"${lists.selected(given.get("conflicts") == "fail")}>${_("skip, and report as failed")}</option><option value="skip"${lists.selected(given.get("conflicts") == "skip")}>${_("skip")}</option><option value="overwrite"${lists.selected(given.get("conflicts") == "overwrite")}>${_("overwrite")}</option></select></p>
% elif form.is_file:
    <p><label for="${id}-conflicts">${_("If others changed the target")}</label>
    <select id="${id}-conflicts" name="conflicts"><option value="fail"${lists.selected(given.get("conflicts") == "fail")}>${_("skip, and report as failed")}</option><option value="overwrite"${lists.selected(given.get("conflicts") == "overwrite")}>${_("overwrite")}</option></select></p>
% endif
${when_field()}
    <p class="act"><button type="submit"${" disabled" if not chosen.count else ""}>${_("Export")}</button>
% if not form.is_file:
    <button class="quiet" name="dry_run" value="yes" aria-describedby="${id}-preview"${" disabled" if not chosen.count else ""}>${_("Preview")}</button>
    <small id="${id}-preview">${_("A preview starts now, says what the export would do, and writes nothing.")}</small>
% endif
    </p>
% endif
</article>
</form>
</%def>
<%def name="name_field(id, hint)">
    <p><label for="${id}">${_("Name")}</label>
    <input id="${id}" name="name" value="${given.get("name", name)}" required pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}" aria-describedby="${id}-hint" spellcheck="false">
    <small id="${id}-hint">${hint}</small></p>
</%def>
<%def name="versions_field(id, usual)">
    <p><label for="${id}">${_("Versions")}</label>
    <select id="${id}" name="versions">
% for one in versions:
      <option value="${one}"${lists.selected((given.get("versions") or usual) == one)}>${_(one)}</option>
% endfor
    </select></p>
</%def>
<%def name="own_field(id, field, choices)">
<% own = f"{id}-{field.name}" if id else field.name %>
% if field.input == "tick":
    <p class="tick">${box(field.name, field.label, field.default == "yes")}</p>
% elif field.input == "ticks":
    <fieldset>
      <legend>${_(field.label)}</legend>
<% named = given.get(field.others, "").split() if field.others else [] %>\
% for value, label in choices:
      <p class="tick">${box(f"{field.name}-{value}", label, value in field.default.split(), value in named)}</p>
% endfor
% if field.others:
      <p><label for="${field.others}">${_("Others")} <span class="optional">${_("(optional)")}</span></label>
      <input id="${field.others}" name="${field.others}" value="${" ".join(one for one in named if one not in dict(choices))}" aria-describedby="${own}-hint" autocomplete="off" spellcheck="false">
      <small id="${own}-hint">${_("Separated by spaces.")}</small></p>
% endif
    </fieldset>
% else:
    <p${' class=wide' if field.input == "url" else ""}><label for="${own}">${_(field.label)}\
% if not field.required and not choices:
 <span class="optional">${_("(optional)")}</span>\
% endif
</label>
% if choices:
<% usual = given.get("place" if getattr(field, "choices_of", None) and "place" in given else field.name, field.default) %>\
    <select id="${own}" name="${field.name}">
% for value, label in choices:
      <option value="${value}"${lists.selected(value == usual)}>${_(label)}</option>
% endfor
    </select></p>
% elif field.input == "texts":
    <input id="${own}" name="${field.name}" value="${given.get(field.name, "")}" aria-describedby="${own}-hint" autocomplete="off" spellcheck="false">
% if field.default:
    <small id="${own}-hint">${_("Separated by spaces. Leave empty for the usual ones.")}</small></p>
    <details>
      <summary>${_("The usual ones")}</summary>
      <p dir="ltr">${field.default}</p>
    </details>
% else:
    <small id="${own}-hint">${_("Separated by spaces.")}</small></p>
% endif
% else:
    <input id="${own}" name="${field.name}" type="${field.input}" value="${given.get(field.name, field.default)}"${limits(field)}${" required" if field.required else ""}${f' aria-describedby={own}-hint' if field.help else ""}${" aria-invalid=true" if wrong == field.name else ""} autocomplete="off" spellcheck="false"\
% if field.pattern:
 pattern="${field.pattern}"\
% endif
>
% if field.help:
    <small id="${own}-hint">${_(field.help)}</small>
% endif
    </p>
% endif
% endif
</%def>
<%def name="box(name, label, is_usual, is_named=False)">
<% is_ticked = name in given or is_named if given else is_usual %>
<input id="${name}" name="${name}" value="yes" type="checkbox"${" checked" if is_ticked else ""}> <label for="${name}" dir="auto">${_(label)}</label>\
</%def>
<%!
  def limits(field):
      """The attributes of an input of numbers."""
      if field.input != "number":
          return ""
      bounds = {"min": field.least, "max": field.most}
      return " step=any" + "".join(f" {name}={bound:g}" for name, bound in bounds.items() if bound is not None)
%>
