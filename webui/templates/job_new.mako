<%inherit file="base.mako"/>
<%def name="title()">${_("New job")}</%def>
<p class="crumbs"><a href="${urls.jobs()}">← ${_("Jobs")}</a></p>
<h1>${_("New job")}</h1>
<p>${_("A job continues when you close this page, and after a restart of the server.")} ${_("To edit many records, search for them first.")}</p>
% if base_url:
<article class="question">
  <h2>${_("Update")}</h2>
  <p>${_("Harvests what has changed in {url} since the last complete harvest.", url=base_url)}</p>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="update">
    <p class="act"><button type="submit">${_("Update")}</button></p>
  </form>
</article>
% endif
<article class="question">
  <h2>${_("Harvest")}</h2>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="harvest">
    <p><label for="url">${_("Base URL of the repository")}</label>
    <input id="url" name="url" type="url" value="${base_url}" required aria-describedby="url-hint" spellcheck="false">
    <small id="url-hint">${_("For example https://eprints.example.org/cgi/oai2")}</small></p>
    <p><label for="prefixes">${_("Formats")}</label>
    <input id="prefixes" name="prefixes" value="oai_dc" required aria-describedby="prefixes-hint" spellcheck="false">
    <small id="prefixes-hint">${_("Metadata prefixes, separated by spaces.")}</small></p>
    <p><label for="set">${_("Set")}</label>
    <input id="set" name="set" aria-describedby="set-hint" spellcheck="false">
    <small id="set-hint">${_("A setSpec. Leave empty for all records.")}</small></p>
    <p><label for="from">${_("From")}</label>
    <input id="from" name="from" type="date"></p>
    <p><label for="until">${_("Until")}</label>
    <input id="until" name="until" type="date"></p>
    <p class="act"><button type="submit">${_("Harvest")}</button></p>
  </form>
</article>
% for form in exports:
<% kind, id = form.first, form.first.name %>
<article class="question">
  <h2>${_(kind.heading)}</h2>
% if form.fault:
  <p class="note fault" dir="auto">${form.fault}</p>
% elif form.is_missing:
  <p>${_(kind.missing)}</p>
% else:
% if kind.hint:
  <p>${_(kind.hint)}</p>
% endif
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="export">
% if form.is_file:
${name_field(id + "-name", _("Name of a file beside the Silo. If it exists, the export replaces it."))}
% elif form.is_beside:
${name_field(id + "-name", _("Name of a directory beside the Silo. If it exists, the export updates it."))}
% endif
% if len(form.kinds) > 1:
    <p><label for="${id}-form">${_("As")}</label>
    <select id="${id}-form" name="form">
% for one in form.kinds:
      <option value="${one.name}">${_(one.title)}</option>
% endfor
    </select></p>
% else:
    <input type="hidden" name="form" value="${id}">
% endif
% for field, choices in form.fields:
${own_field(id, field, choices)}
% endfor
% if not form.is_file:
${versions_field(id + "-versions")}
% endif
% if not form.is_beside:
    <p><label for="${id}-deletions">${_("Deleted at the source")}</label>
    <select id="${id}-deletions" name="deletions"><option value="status">${_("mark as deleted")}</option><option value="delete">${_("delete")}</option><option value="keep">${_("keep")}</option></select></p>
    <p><label for="${id}-conflicts">${_("Changed in the target by others")}</label>
    <select id="${id}-conflicts" name="conflicts"><option value="fail">${_("skip, and report as failed")}</option><option value="skip">${_("skip")}</option><option value="overwrite">${_("overwrite")}</option></select></p>
% elif form.is_file:
    <p><label for="${id}-conflicts">${_("Changed in the target by others")}</label>
    <select id="${id}-conflicts" name="conflicts"><option value="fail">${_("skip, and report as failed")}</option><option value="overwrite">${_("overwrite")}</option></select></p>
% endif
${query_field(id + "-query")}
    <p class="act"><button type="submit">${_("Export")}</button></p>
  </form>
% endif
</article>
% endfor
<article class="question">
  <h2>${_("Audit")}</h2>
  <p>${_("Compares the files on disk with the manifests of the records. Changes nothing.")}</p>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="audit">
    <p><label for="share">${_("Records to checksum (%)")}</label>
    <input id="share" name="share" type="number" min="0.1" max="100" step="any" value="100" required></p>
    <p class="act"><button type="submit">${_("Audit")}</button></p>
  </form>
</article>
<article class="question">
  <h2>${_("Rebuild the index")}</h2>
  <p>${_("Needed only if files were changed by other software.")}</p>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="reindex">
    <p class="act"><button type="submit">${_("Rebuild the index")}</button></p>
  </form>
</article>
<%def name="name_field(id, hint)">
    <p><label for="${id}">${_("Name")}</label>
    <input id="${id}" name="name" required pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}" aria-describedby="${id}-hint" spellcheck="false">
    <small id="${id}-hint">${hint}</small></p>
</%def>
<%def name="versions_field(id)">
    <p><label for="${id}">${_("Versions")}</label>
    <select id="${id}" name="versions">
% for one in versions:
      <option value="${one}">${_(one)}</option>
% endfor
    </select></p>
</%def>
<%def name="query_field(id)">
    <p><label for="${id}">${_("Only records that match this search")}</label>
    <input id="${id}" name="query" type="search" dir="auto"></p>
</%def>
<%def name="own_field(id, field, choices)">
<% own = f"{id}-{field.name}" %>
    <p><label for="${own}">${_(field.label)}\
% if not field.required and not choices:
 <span class="optional">${_("(optional)")}</span>\
% endif
</label>
% if choices:
    <select id="${own}" name="${field.name}">
% for value, label in choices:
      <option value="${value}"${" selected" if value == field.default else ""}>${_(label)}</option>
% endfor
    </select></p>
% elif field.input == "texts":
    <input id="${own}" name="${field.name}" aria-describedby="${own}-hint" autocomplete="off" spellcheck="false">
% if field.default:
    <small id="${own}-hint">${_("Separated by spaces. Leave empty for {fields}.", fields=field.default)}</small></p>
% else:
    <small id="${own}-hint">${_("Separated by spaces.")}</small></p>
% endif
% else:
    <input id="${own}" name="${field.name}" type="${"number" if field.input == "number" else "text"}" value="${field.default}"${" step=any" if field.input == "number" else ""}${" required" if field.required else ""}${f' aria-describedby={own}-hint' if field.help else ""} autocomplete="off" spellcheck="false">
% if field.help:
    <small id="${own}-hint">${_(field.help)}</small>
% endif
    </p>
% endif
</%def>
