<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("A list of identifiers")}</%def>
<p class="crumbs"><a href="${urls.searches()}">← ${_("Saved searches")}</a></p>
<div class="heading">
  <h1>${_("A list of identifiers")}</h1>
  <p class="count">${counted("{n} identifier", "{n} identifiers", len(identifiers))}</p>
</div>
${parts.lacking(missing)}
% if rows:
${lists.rows(rows)}
% else:
<section class="empty"><h2>${_("No records found")}</h2><p>${_("None of these identifiers has a record in this Silo.")}</p></section>
% endif
% if next_start:
<form class="inline" action="${urls.pasted()}" method="post">
  <input type="hidden" name="identifiers" value="${" ".join(identifiers)}">
  <input type="hidden" name="start" value="${next_start}">
  <button type="submit" class="quiet">${_("Next")} →</button>
</form>
% endif
% if may_change:
<article class="question">
  <form action="${urls.searches()}" method="post">
    <input type="hidden" name="identifiers" value="${" ".join(identifiers)}">
    <p>
      <label for="title">${_("Name")} <span class="optional">(${_("optional")})</span></label>
      <input id="title" name="title" type="text" autocomplete="off" dir="auto">
    </p>
    <p class="act"><button type="submit">${_("Save as list")}</button></p>
  </form>
</article>
% endif
