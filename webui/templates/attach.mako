<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%def name="title()">${_("Attach a file")}</%def>
<p class="crumbs"><a href="${urls.with_search(urls.bulk(), chosen.search)}">← ${_("Batch edit")}</a></p>
<div class="heading"><h1>${_("Attach a file")}</h1></div>
% if fault:
<p class="note fault" role="alert" dir="auto">${fault.message}</p>
% endif
${previews.chosen(chosen)}
<section class="question" aria-labelledby="file-of-mine">
  <h2 id="file-of-mine">${_("The same file for all records")}</h2>
  <form action="${urls.attach()}" method="post" enctype="multipart/form-data">
    <input type="hidden" name="search" value="${chosen.search}">
    <p>
      <label for="path">${_("Name")}</label>
      <input id="path" name="path" type="text" autocomplete="off" spellcheck="false" aria-describedby="path-hint">
      <small id="path-hint">${_("Leave empty to keep the name of the file.")}</small>
    </p>
    <p>
      <label for="part">${_("File")}</label>
      <input id="part" name="part" type="file" data-limit="${most}" required aria-describedby="part-hint">
      <small id="part-hint">${_("For example a licence or a note; at most {limit}.", limit=limit)}</small>
    </p>
${parts.sending()}
    <p class="act"><button type="submit">${_("Preview")}</button></p>
  </form>
</section>
<section class="question" aria-labelledby="premis-heading">
  <h2 id="premis-heading">${_("A PREMIS record of each record’s history")}</h2>
  <form action="${urls.attach()}" method="post" enctype="multipart/form-data">
    <input type="hidden" name="search" value="${chosen.search}">
    <input type="hidden" name="premis" value="yes">
    <p>
      <label for="premis-path">${_("Name")}</label>
      <input id="premis-path" name="path" type="text" value="${premis}" autocomplete="off" spellcheck="false">
    </p>
    <p class="act"><button type="submit">${_("Preview the PREMIS records")}</button></p>
  </form>
</section>
${parts.scripts()}
