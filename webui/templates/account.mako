<%inherit file="base.mako"/>
<%def name="title()">${_("Your account")}</%def>
<article class="question">
  <h1>${_("Your account")}</h1>
  <p>${_("You are {name}, and a {role} here.", name=user.name, role=_(user.role.label))}</p>
% if done:
  <p role="status">${_("The password is changed; whoever was signed in with the old one is signed out.")}</p>
% endif
% if user.session:
  <form action="${urls.account()}/password" method="post">
    <input name="username" type="text" value="${user.name}" autocomplete="username" hidden>
    <p>
      <label for="password">${_("Present password")}</label>
      <input id="password" name="password" type="password" required autocomplete="current-password">
    </p>
    <p>
      <label for="new">${_("New password")}</label>
      <input id="new" name="new" type="password" required minlength="12" autocomplete="new-password" aria-describedby="new-hint">
      <small id="new-hint">${_("12 characters at least; several words are good.")}</small>
    </p>
    <p class="act"><button type="submit">${_("Change the password")}</button></p>
  </form>
% endif
</article>
