<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${_("Services and lists")}</%def>
<p class="crumbs"><a href="${urls.at('/reconciliation')}">← ${_("Reconciliation")}</a></p>
<div class="heading"><h1>${_("Services and lists")}</h1></div>
<p class="hint">${_("Values are reconciled against these. A list of your own works without a network.")}</p>
${parts.done(done)}
% if fault:
<p class="note fault" dir="auto">${fault}</p>
% endif
% for one, labels in places:
<section class="card schedule" aria-labelledby="p-${one.name}">
  <h2 id="p-${one.name}" dir="auto">${one.title}</h2>
  <p><span class="id">${one.url or one.list}</span></p>
  <p>${_("For: {fields}", fields=", ".join(labels))}\
% if one.type:
 · ${_("Only of the type {type}", type=one.type)}\
% endif
% if not one.is_added:
 · ${_("Defined in curation/reconciliation.toml by the administrator of the server.")}\
% endif
</p>
% if outcome and tested == one.name:
  <p role="status">${live.outcome(outcome)}</p>
% endif
  <div class="actions">
    <form action="${here}/${one.name}/test" method="post"><button class="quiet" type="submit">${_("Test")}<span class="unseen"> ${one.title}</span></button></form>
% if one.is_added:
    <form action="${here}/${one.name}/remove" method="post"><button class="quiet" type="submit">${_("Remove")}<span class="unseen"> ${one.title}</span></button></form>
% endif
  </div>
</section>
% endfor
<section class="question">
  <h2>${_("New service or list")}</h2>
  <form class="short" action="${here}" method="post" enctype="multipart/form-data">
    <div class="pair">
    <p><label for="name">${_("Name")}</label>
    <input id="name" name="name" required pattern="[a-z0-9][a-z0-9_\-]{0,39}" autocomplete="off" spellcheck="false" aria-describedby="name-hint">
    <small id="name-hint">${_("Letters a-z, digits, hyphens and underscores.")}</small></p>
    <p><label for="title">${_("Title")} <span class="optional">${_("(optional)")}</span></label>
    <input id="title" name="title" autocomplete="off" dir="auto"></p>
    </div>
    <p class="wide"><label for="url">${_("Address of a service")}</label>
    <input id="url" name="url" type="url" spellcheck="false" aria-describedby="url-hint">
    <small id="url-hint">${_("It speaks the Reconciliation Service API, as OpenRefine does. The values that are asked for are sent to it.")}</small></p>
    <p class="wide"><label for="part">${_("Or a list of your own")}</label>
    <input id="part" name="part" type="file" accept=".csv,text/csv" data-limit="${most}" aria-describedby="part-hint">
    <small id="part-hint">${_("A CSV file in UTF-8 with the columns id and name, at most {limit}. It may have aliases, type and description.", limit=limit)}</small></p>
    <fieldset>
      <legend>${_("Fields")}</legend>
% for name, label in fields:
      <p class="tick"><input id="for-${name}" name="for-${name}" type="checkbox" value="yes" checked> <label for="for-${name}">${label}</label></p>
% endfor
    </fieldset>
    <p><label for="type">${_("Only entities of this type")} <span class="optional">${_("(optional)")}</span></label>
    <input id="type" name="type" autocomplete="off" spellcheck="false" aria-describedby="type-hint">
    <small id="type-hint">${_("The identifier that the service has for the type, such as Q5 for people in Wikidata.")}</small></p>
${parts.sending()}
    <p class="act"><button type="submit">${_("Add")}</button></p>
  </form>
</section>
${parts.scripts()}
