<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Accounts")}</%def>
<div class="heading"><h1>${_("Accounts")}</h1></div>
${parts.done(done)}
% if not sign_in:
<p class="note">${_("Sign-in is off: only this computer can open the page. Accounts take effect when the page is served with sign-in.")}</p>
% endif
% for fault in faults:
<p class="note fault" dir="auto">${fault}</p>
% endfor
% for one in lines:
<% url = urls.account_of(one.name) %>
<section class="card schedule" aria-labelledby="a-${one.name}">
  <h2 id="a-${one.name}">${one.name}</h2>
  <p>${dict(roles)[one.role.label]} · ${_("since")} ${parts.date(one.made)}\
% if not one.password_hash:
 · ${_("signs in by a proxy")}\
% endif
% if one.name == user.name:
 · <a href="${urls.account()}">${_("your account")}</a>\
% endif
</p>
% if one.name != user.name:
  <details>
    <summary>${_("Change")}</summary>
    <form class="short" action="${url}/role" method="post">
      <p><label for="role-${one.name}">${_("Role")}</label>
      <select id="role-${one.name}" name="role">
% for label, text in roles:
        <option value="${label}"${" selected" if label == one.role.label else ""}>${text}</option>
% endfor
      </select></p>
      <p class="act"><button class="quiet" type="submit">${_("Change role")}</button></p>
    </form>
    <form class="short" action="${url}/password" method="post">
      <input name="username" type="text" value="${one.name}" autocomplete="username" hidden>
      <p><label for="password-${one.name}">${_("New password")}</label>
      <input id="password-${one.name}" name="password" type="password" required minlength="12" autocomplete="new-password"></p>
      <p class="act"><button class="quiet" type="submit">${_("Change password")}</button></p>
    </form>
    <form action="${url}/remove" method="post">
      <p class="act"><button class="quiet" type="submit">${_("Remove account")}</button></p>
    </form>
  </details>
% endif
</section>
% endfor
<section class="question">
  <h2>${_("New account")}</h2>
  <form class="short" action="${urls.accounts()}" method="post">
    <p><label for="name">${_("Name")}</label>
    <input id="name" name="name" required autocomplete="off" spellcheck="false" aria-describedby="name-hint">
    <small id="name-hint">${_("Letters a-z, digits, and . _ @ + -")}</small></p>
    <p><label for="role">${_("Role")}</label>
    <select id="role" name="role" aria-describedby="role-hint">
% for label, text in roles:
      <option value="${label}">${text}</option>
% endfor
    </select>
    <small id="role-hint">${_("Viewers read; curators also edit; managers also harvest, export and delete.")}</small></p>
    <p><label for="password">${_("Password")}</label>
    <input id="password" name="password" type="password" minlength="12" autocomplete="new-password" aria-describedby="password-hint">
    <small id="password-hint">${_("At least 12 characters; several words work well.")} ${_("Leave empty if a proxy signs people in.")}</small></p>
    <p class="act"><button type="submit">${_("Add account")}</button></p>
  </form>
</section>
