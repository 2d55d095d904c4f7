<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
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
${said(outcome)}
% endif
  <div class="actions">
    <form action="${here}/${one.name}/test" method="post"><button class="quiet" type="submit">${_("Test")}<span class="unseen"> ${one.title}</span></button></form>
% if one.is_added:
    <form action="${here}/${one.name}/remove" method="post"><button class="quiet" type="submit">${_("Remove")}<span class="unseen"> ${one.title}</span></button></form>
% endif
  </div>
% if one.is_added:
  <details>
    <summary>${_("Change")}<span class="unseen"> ${one.title}</span></summary>
    <form class="short" action="${here}/${one.name}/change" method="post" enctype="multipart/form-data">
${title_field(one.name + "-", one.title if one.title != one.name else "")}
% if one.url:
${url_field(one.name + "-", one.url)}
% else:
${list_field(one.name + "-", _("Another list, instead of this one"))}
% endif
${others(one.name + "-", one.fields, one.type)}
    <p class="act"><button type="submit">${_("Save")}</button></p>
    </form>
  </details>
% endif
</section>
% endfor
% if asked:
<section class="question" aria-labelledby="asked">
  <h2 id="asked">${_("Add {name}?", name=asked[1]["title"] or asked[0])}</h2>
  <p><span class="id">${asked[1]["url"]}</span></p>
${said(asked[2])}
  <form action="${here}" method="post">
% for key, value in (("name", asked[0]), ("url", asked[1]["url"]), ("title", asked[1]["title"]), ("type", asked[1]["type"])):
    <input type="hidden" name="${key}" value="${value}">
% endfor
% for field in asked[1]["fields"]:
    <input type="hidden" name="for-${field}" value="yes">
% endfor
    <p class="act"><button type="submit">${_("Add") if asked[2].name == "done" else _("Add anyway")}</button></p>
  </form>
</section>
% endif
<section class="question">
  <h2>${_("New service or list")}</h2>
  <form class="short" action="${here}" method="post" enctype="multipart/form-data">
    <input type="hidden" name="ask" value="yes">
    <div class="pair">
    <p><label for="name">${_("Name")}</label>
    <input id="name" name="name" required pattern="[a-z0-9][a-z0-9_\-]{0,39}" autocomplete="off" spellcheck="false" value="${asked[0] if asked else ""}" aria-describedby="name-hint">
    <small id="name-hint">${_("Letters a-z, digits, hyphens and underscores.")}</small></p>
${title_field("", asked[1]["title"] if asked else "")}
    </div>
${url_field("", asked[1]["url"] if asked else "")}
${list_field("", _("Or a list of your own"))}
${others("", (asked[1]["fields"] if asked else ()) or [name for name, _label in fields], asked[1]["type"] if asked else "")}
${parts.sending()}
    <p class="act"><button type="submit">${_("Continue")}</button></p>
  </form>
</section>
${parts.scripts()}
<%def name="said(found)">
  <p class="${"done" if found.name == "done" else "note fault"}" role="status" dir="auto">${found.word}</p>
</%def>
<%def name="title_field(id, called)">
    <p><label for="${id}title">${_("Title")} <span class="optional">${_("(optional)")}</span></label>
    <input id="${id}title" name="title" value="${called}" autocomplete="off" dir="auto"></p>
</%def>
<%def name="url_field(id, url)">
    <p class="wide"><label for="${id}url">${_("Address of a service")}</label>
    <input id="${id}url" name="url" type="url" value="${url}" spellcheck="false" aria-describedby="${id}url-hint">
    <small id="${id}url-hint">${_("It speaks the Reconciliation Service API, as OpenRefine does. The values that are asked for are sent to it.")}</small></p>
</%def>
<%def name="list_field(id, label)">
    <p class="wide"><label for="${id}part">${label}</label>
    <input id="${id}part" name="part" type="file" accept=".csv,text/csv" data-limit="${most}" aria-describedby="${id}part-hint">
    <small id="${id}part-hint">${_("A CSV file in UTF-8 with the columns id and name, at most {limit}. It may have aliases, type and description.", limit=limit)}</small></p>
</%def>
<%def name="others(id, chosen, type)">
    <fieldset>
      <legend>${_("Fields")}</legend>
% for name, label in fields:
      <p class="tick"><input id="${id}for-${name}" name="for-${name}" type="checkbox" value="yes"${" checked" if name in chosen else ""}> <label for="${id}for-${name}">${label}</label></p>
% endfor
    </fieldset>
    <p><label for="${id}type">${_("Only entities of this type")} <span class="optional">${_("(optional)")}</span></label>
    <input id="${id}type" name="type" value="${type}" autocomplete="off" spellcheck="false" aria-describedby="${id}type-hint">
    <small id="${id}type-hint">${_("The identifier that the service has for the type, such as Q5 for people in Wikidata.")}</small></p>
</%def>
