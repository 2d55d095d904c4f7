<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%def name="title()">${_("Edit in a spreadsheet")}</%def>
<p class="crumbs"><a href="${urls.with_search(urls.bulk(), chosen.search)}">← ${_("Batch edit")}</a></p>
<div class="heading"><h1>${_("Edit in a spreadsheet")}</h1></div>
% if fault:
<p class="note fault" role="alert" dir="auto">${fault.message}</p>
% endif
<section class="question" aria-labelledby="out">
  <h2 id="out">1. ${_("Export")}</h2>
${previews.chosen(chosen)}
  <p>${_("One row for each record, one column for each field and language. Several values in a cell are separated by ||. Do not change the columns identifier and mark.")}</p>
  <p class="act"><a class="button filled" href="${urls.sheet_csv(chosen.search)}">${_("Download CSV")}</a></p>
</section>
<section class="question" aria-labelledby="in">
  <h2 id="in">2. ${_("Import")}</h2>
  <form action="${urls.sheet()}" method="post" enctype="multipart/form-data">
    <input type="hidden" name="search" value="${chosen.search}">
    <p>
      <label for="title">${_("Title")} <span class="optional">${_("(optional)")}</span></label>
      <input id="title" name="title" type="text" autocomplete="off" dir="auto">
    </p>
    <p>
      <label for="part">${_("Edited file")}</label>
      <input id="part" name="part" type="file" data-limit="${most}" required aria-describedby="part-hint">
      <small id="part-hint">${_("CSV in UTF-8, at most {limit}. You see a preview before anything changes.", limit=limit)}</small>
    </p>
${parts.sending()}
    <p class="act"><button type="submit">${_("Preview")}</button></p>
  </form>
</section>
${parts.scripts()}
