<%inherit file="base.mako"/>
<%def name="title()">${_("Your account")}</%def>
<article class="question">
  <h1>${_("Your account")}</h1>
  <p>${_("You are signed in as {name}. Your role: {role}.", name=user.name, role=_(user.role.label))}</p>
% if done:
  <p role="status">${_("Password changed. Sessions with the old password have ended.")}</p>
% endif
% if user.session:
  <form action="${urls.account()}/password" method="post">
    <input name="username" type="text" value="${user.name}" autocomplete="username" hidden>
    <p>
      <label for="password">${_("Current password")}</label>
      <input id="password" name="password" type="password" required autocomplete="current-password">
    </p>
    <p>
      <label for="new">${_("New password")}</label>
      <input id="new" name="new" type="password" required minlength="12" autocomplete="new-password" aria-describedby="new-hint">
      <small id="new-hint">${_("At least 12 characters; several words work well.")}</small>
    </p>
    <p class="act"><button type="submit">${_("Change password")}</button></p>
  </form>
% endif
</article>
