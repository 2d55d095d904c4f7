<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="live" file="live.mako"/>
<%def name="title()">${_("Export places")}</%def>
<div class="heading"><h1>${_("Export places")}</h1></div>
<p>${_("An export to Fedora goes to one of these places.")}</p>
${parts.done(done)}
% for fault in faults:
<p class="note fault" dir="auto">${fault}</p>
% endfor
% for one in places:
<section class="card schedule" aria-labelledby="p-${one.name}">
  <h2 id="p-${one.name}" dir="auto">${one.name}</h2>
  <p><span class="id">${one.url}</span></p>
  <p>\
% if not one.is_added:
${_("Defined in curation/fedora.toml by the administrator of the server.")}\
% elif one.credentials:
${_("User and password are stored. They are not shown, and are sent only to this address.")}\
% else:
${_("No user and password are sent.")}\
% endif
</p>
% if outcome and tested == one.name:
  <p role="status">${live.outcome(outcome)}</p>
% endif
  <div class="actions">
    <form action="${urls.place(one.name)}/test" method="post"><button class="quiet" type="submit">${_("Test connection")}</button></form>
% if one.is_added:
${remove(one.name)}
% endif
  </div>
% if one.is_added:
  <details>
    <summary>${_("Change")}</summary>
    <form class="short" action="${urls.place(one.name)}/change" method="post">
${fields(one.name + "-", one.url)}
% if one.credentials:
      <p class="tick"><input id="${one.name}-forget" name="forget" value="yes" type="checkbox"> <label for="${one.name}-forget">${_("Delete the stored user and password")}</label></p>
      <p>${_("Leave user and password empty to keep those stored. Another address deletes them.")}</p>
% endif
      <p class="act"><button type="submit">${_("Save")}</button></p>
    </form>
  </details>
% endif
</section>
% endfor
% for name in broken:
<section class="card schedule" aria-labelledby="p-${name}">
  <h2 id="p-${name}">${name}</h2>
  <p>${_("The file of this place cannot be read.")}</p>
  <div class="actions">${remove(name)}</div>
</section>
% endfor
<section class="question">
  <h2>${_("New export place")}</h2>
  <form class="short" action="${urls.places()}" method="post">
    <p><label for="name">${_("Name")}</label>
    <input id="name" name="name" required pattern="[a-z0-9][a-z0-9\-]{0,63}" autocomplete="off" spellcheck="false" aria-describedby="name-hint">
    <small id="name-hint">${_("Letters a-z, digits and hyphens.")}</small></p>
${fields("", "")}
    <p class="act"><button type="submit">${_("Add export place")}</button></p>
  </form>
</section>
<%def name="remove(name)">
    <form action="${urls.place(name)}/remove" method="post"><button class="quiet" type="submit">${_("Remove")}</button></form>
</%def>
<%def name="fields(id, url)">
      <p class="wide"><label for="${id}url">${_("Address of a container in a Fedora")}</label>
      <input id="${id}url" name="url" type="url" value="${url}" required aria-describedby="${id}url-hint" spellcheck="false">
      <small id="${id}url-hint">${_("For example https://fedora.example.org/rest/eprints. The export creates the container if it is missing.")}</small></p>
      <div class="pair">
      <p><label for="${id}user">${_("User")} <span class="optional">${_("(optional)")}</span></label>
      <input id="${id}user" name="user" autocomplete="off" spellcheck="false"></p>
      <p><label for="${id}password">${_("Password")} <span class="optional">${_("(optional)")}</span></label>
      <input id="${id}password" name="password" type="password" autocomplete="new-password"></p>
      </div>
</%def>
