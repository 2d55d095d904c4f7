<%inherit file="base.mako"/>
<%def name="title()">${_("Begin a job")}</%def>
<p class="crumbs"><a href="${urls.JOBS}">← ${_("Jobs")}</a></p>
<h1>${_("Begin a job")}</h1>
<p>${_("A job goes on when this page is closed, and after a restart.")} ${_("To change many records, search for them first.")}</p>
% if base_url:
<article class="question">
  <h2>${_("Update")}</h2>
  <p>${_("Get what changed in {url} since the last harvest.", url=base_url)}</p>
  <form action="${urls.JOBS}" method="post">
    <input type="hidden" name="kind" value="update">
    <p class="act"><button type="submit">${_("Update")}</button></p>
  </form>
</article>
% endif
<article class="question">
  <h2>${_("Harvest")}</h2>
  <form action="${urls.JOBS}" method="post">
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
  <h2>${_("Export")}</h2>
  <form action="${urls.JOBS}" method="post">
    <input type="hidden" name="kind" value="export">
    <p><label for="name">${_("Name")}</label>
    <input id="name" name="name" required pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}" aria-describedby="name-hint" spellcheck="false">
    <small id="name-hint">${_("Of the directory, which is put beside the Silo; exported again, it is brought up to date.")}</small></p>
    <p><label for="form">${_("As")}</label>
    <select id="form" name="form"><option value="files">${_("files")}</option><option value="bag">${_("bags (BagIt)")}</option></select></p>
    <p><label for="versions">${_("Versions")}</label>
    <select id="versions" name="versions">
% for one in versions:
      <option value="${one}">${_(one)}</option>
% endfor
    </select></p>
    <p><label for="query">${_("Only what this search finds")}</label>
    <input id="query" name="query" type="search" dir="auto"></p>
    <p class="act"><button type="submit">${_("Export")}</button></p>
  </form>
</article>
<article class="question">
  <h2>${_("Audit")}</h2>
  <p>${_("Compare the disk with what the records say of themselves; nothing is changed.")}</p>
  <form action="${urls.JOBS}" method="post">
    <input type="hidden" name="kind" value="audit">
    <p><label for="share">${_("Read byte for byte, in percent of the records")}</label>
    <input id="share" name="share" type="number" min="0.1" max="100" step="any" value="100" required></p>
    <p class="act"><button type="submit">${_("Audit")}</button></p>
  </form>
</article>
<article class="question">
  <h2>${_("Index anew")}</h2>
  <p>${_("Needed only after files were changed by other means.")}</p>
  <form action="${urls.JOBS}" method="post">
    <input type="hidden" name="kind" value="reindex">
    <p class="act"><button type="submit">${_("Index anew")}</button></p>
  </form>
</article>
