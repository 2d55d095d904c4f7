<%inherit file="base.mako"/>
<%def name="title()">${_("Begin a job")}</%def>
<p class="crumbs"><a href="${urls.jobs()}">← ${_("Jobs")}</a></p>
<h1>${_("Begin a job")}</h1>
<p>${_("A job goes on when this page is closed, and after a restart.")} ${_("To change many records, search for them first.")}</p>
% if base_url:
<article class="question">
  <h2>${_("Update")}</h2>
  <p>${_("Get what changed in {url} since the last harvest.", url=base_url)}</p>
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
    <p><label for="url">${_("Address of the repository")}</label>
    <input id="url" name="url" type="url" value="${base_url}" required aria-describedby="url-hint" spellcheck="false">
    <small id="url-hint">${_("Its OAI-PMH base URL, such as https://eprints.example.org/cgi/oai2")}</small></p>
    <p><label for="prefixes">${_("Formats")}</label>
    <input id="prefixes" name="prefixes" value="oai_dc" required aria-describedby="prefixes-hint" spellcheck="false">
    <small id="prefixes-hint">${_("Metadata prefixes, separated by blanks.")}</small></p>
    <p><label for="set">${_("Set")}</label>
    <input id="set" name="set" aria-describedby="set-hint" spellcheck="false">
    <small id="set-hint">${_("Its setSpec; empty: all records.")}</small></p>
    <p><label for="from">${_("From")}</label>
    <input id="from" name="from" type="date"></p>
    <p><label for="until">${_("Until")}</label>
    <input id="until" name="until" type="date"></p>
    <p class="act"><button type="submit">${_("Harvest")}</button></p>
  </form>
</article>
<article class="question">
  <h2>${_("Export files")}</h2>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="export">
${name_field("name", _("Of the directory, which is put beside the Silo; exported again, it is brought up to date."))}
    <p><label for="form">${_("As")}</label>
    <select id="form" name="form"><option value="files">${_("files")}</option><option value="bag">${_("bags (BagIt)")}</option></select></p>
${versions_field("versions")}
${query_field("query")}
    <p class="act"><button type="submit">${_("Export")}</button></p>
  </form>
</article>
<article class="question">
  <h2>${_("Export a table")}</h2>
  <p>${_("A row for each record as it is now; the job’s page has the file when it is done.")}</p>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="export">
${name_field("table-name", _("Of the file, which is put beside the Silo, in the place of one of that name."))}
    <p><label for="table-form">${_("As")}</label>
    <select id="table-form" name="form"><option value="csv">${_("CSV")}</option><option value="jsonl">${_("JSON lines")}</option></select></p>
    <p><label for="columns">${_("Fields")} <span class="optional">${_("(may stay empty)")}</span></label>
    <input id="columns" name="columns" aria-describedby="columns-hint" autocomplete="off" spellcheck="false">
    <small id="columns-hint">${_("Separated by blanks; empty: {fields}.", fields=columns)}</small></p>
    <p><label for="table-conflicts">${_("What others changed there")}</label>
    <select id="table-conflicts" name="conflicts"><option value="fail">${_("is left alone, and listed")}</option><option value="overwrite">${_("is overwritten")}</option></select></p>
${query_field("table-query")}
    <p class="act"><button type="submit">${_("Export")}</button></p>
  </form>
</article>
<article class="question">
  <h2>${_("Export to Fedora")}</h2>
% if places_fault:
  <p class="note fault" dir="auto">${places_fault}</p>
% elif places:
  <p>${_("Each record becomes an object, each version a version; what is there already stays.")}</p>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="export">
    <input type="hidden" name="form" value="fedora">
    <p><label for="place">${_("Where")}</label>
    <select id="place" name="place">
% for place in places:
      <option value="${place.name}">${place.name} (${place.url})</option>
% endfor
    </select></p>
${versions_field("fedora-versions")}
    <p><label for="deletions">${_("What the source deleted")}</label>
    <select id="deletions" name="deletions"><option value="status">${_("is marked as deleted")}</option><option value="delete">${_("is deleted there")}</option><option value="keep">${_("stays as it is")}</option></select></p>
    <p><label for="conflicts">${_("What others changed there")}</label>
    <select id="conflicts" name="conflicts"><option value="fail">${_("is left alone, and listed")}</option><option value="skip">${_("is left alone")}</option><option value="overwrite">${_("is overwritten")}</option></select></p>
${query_field("fedora-query")}
    <p class="act"><button type="submit">${_("Export")}</button></p>
  </form>
% else:
  <p>${_("No Fedora is named for this Silo. Whoever keeps it names one in {file}; user and password lie elsewhere, never in this form.", file=places_file)}</p>
% endif
</article>
<article class="question">
  <h2>${_("Audit")}</h2>
  <p>${_("Compare the disk with what the records say of themselves; nothing is changed.")}</p>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="audit">
    <p><label for="share">${_("Read byte for byte, in percent of the records")}</label>
    <input id="share" name="share" type="number" min="0.1" max="100" step="any" value="100" required></p>
    <p class="act"><button type="submit">${_("Audit")}</button></p>
  </form>
</article>
<article class="question">
  <h2>${_("Index anew")}</h2>
  <p>${_("Needed only after files were changed by other means.")}</p>
  <form action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="reindex">
    <p class="act"><button type="submit">${_("Index anew")}</button></p>
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
    <p><label for="${id}">${_("Only what this search finds")}</label>
    <input id="${id}" name="query" type="search" dir="auto"></p>
</%def>
