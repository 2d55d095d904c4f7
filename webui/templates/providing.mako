<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Harvesters")}</%def>
<h1>${_("Harvesters")}</h1>
<p>${_("Catalogues and other repositories can harvest the records by OAI-PMH, without signing in.")}</p>
${parts.done(done)}
% if fault:
<p class="note fault" dir="auto">${_("The settings in curation/provider.toml cannot be used:")} ${fault}</p>
% endif
% if by_operator:
<p class="note">${_("The administrator of the server has switched it on.")}</p>
% endif
% if by_operator or settings.page:
<p>${_("Address for harvesters:")} <a class="id" href="${try_url}">${address}</a></p>
% endif
<article class="question">
  <form class="short" action="${action}" method="post">
    <p class="tick"><input id="page" name="page" value="yes" type="checkbox"${" checked" if settings.page else ""}> <label for="page">${_("Give the records to harvesters")}</label></p>
    <p class="wide"><label for="name">${_("Name of the repository")} <span class="optional">${_("(optional)")}</span></label>
    <input id="name" name="name" value="${settings.name}" autocomplete="off"></p>
    <p class="wide"><label for="emails">${_("Mail address of who looks after it")}</label>
    <input id="emails" name="emails" value="${" ".join(settings.emails)}" autocomplete="off" spellcheck="false" aria-describedby="emails-hint">
    <small id="emails-hint">${_("Several are separated by commas or spaces.")}</small></p>
    <p><label for="state">${_("What is given of a record")}</label>
    <select id="state" name="state">
% for value, label in states:
      <option value="${value}"${" selected" if value == settings.state else ""}>${label}</option>
% endfor
    </select>
    <small>${_("What is withheld is given as deleted.")}</small></p>
    <p class="wide"><label for="identifiers">${_("What identifiers begin with")} <span class="optional">${_("(optional)")}</span></label>
    <input id="identifiers" name="identifiers" value="${settings.identifiers}" autocomplete="off" spellcheck="false" aria-describedby="identifiers-hint">
    <small id="identifiers-hint">${_("For example oai:data.example.org: and then the identifier of the source. Empty: that of the source alone. Choose before anybody harvests.")}</small></p>
    <p class="wide"><label for="rights">${_("Licence of the metadata")} <span class="optional">${_("(optional)")}</span></label>
    <input id="rights" name="rights" type="url" value="${settings.rights}" spellcheck="false" aria-describedby="rights-hint">
    <small id="rights-hint">${_("An address, such as https://creativecommons.org/publicdomain/zero/1.0/.")}</small></p>
    <details>
      <summary>${_("More")}</summary>
      <p class="tick"><input id="all_searches" name="all_searches" value="yes" type="checkbox"${" checked" if settings.all_searches else ""}> <label for="all_searches">${_("Each saved search is a set")}</label></p>
      <p class="wide"><label for="searches">${_("Saved searches that are sets")}</label>
      <input id="searches" name="searches" value="${" ".join(settings.searches)}" list="saved" autocomplete="off" spellcheck="false">
      <datalist id="saved">
% for one in searches:
        <option value="${one}"></option>
% endfor
      </datalist></p>
      <p class="wide"><label for="friends">${_("Addresses of other repositories")}</label>
      <textarea id="friends" name="friends" rows="2" spellcheck="false">${"\n".join(settings.friends)}</textarea></p>
      <p class="wide"><label for="base_url">${_("Address that harvesters are told")}</label>
      <input id="base_url" name="base_url" type="url" value="${settings.base_url}" spellcheck="false" aria-describedby="base-hint">
      <small id="base-hint">${_("Where another server passes requests on. Empty: the address of this page.")}</small></p>
      <p class="wide"><label for="icon">${_("Address of a picture of the collection")}</label>
      <input id="icon" name="icon" type="url" value="${icon.icon}" spellcheck="false"></p>
      <p class="wide"><label for="icon_link">${_("Where the picture leads to")}</label>
      <input id="icon_link" name="icon_link" type="url" value="${icon.link}" spellcheck="false"></p>
      <p class="wide"><label for="icon_title">${_("Title of the picture")}</label>
      <input id="icon_title" name="icon_title" value="${icon.title}"></p>
      <div class="pair">
      <p><label for="icon_width">${_("Width in pixels")}</label>
      <input id="icon_width" name="icon_width" inputmode="numeric" value="${icon.width or ''}"></p>
      <p><label for="icon_height">${_("Height in pixels")}</label>
      <input id="icon_height" name="icon_height" inputmode="numeric" value="${icon.height or ''}"></p>
      </div>
    </details>
    <p class="act"><button type="submit">${_("Save")}</button></p>
  </form>
</article>
