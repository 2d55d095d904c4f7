<%inherit file="base.mako"/>
<%def name="title()">${_("Sign in")}</%def>
<article class="question">
  <h1>${_("Sign in")}</h1>
% if fault:
  <p class="fault" role="alert" id="fault">${fault}</p>
% endif
  <form action="${urls.sign_in()}" method="post">
    <input type="hidden" name="next" value="${then}">
    <p>
      <label for="name">${_("Name")}</label>
      <input id="name" name="name" type="text" value="${name}" required autocomplete="username" autocapitalize="none" spellcheck="false"${described()}>
    </p>
    <p>
      <label for="password">${_("Password")}</label>
      <input id="password" name="password" type="password" required autocomplete="current-password"${described()}>
    </p>
    <p class="act"><button type="submit">${_("Sign in")}</button></p>
  </form>
  <p>${_("Ask the administrator for an account or a new password.")}</p>
</article>
<%def name="described()">\
% if fault:
 aria-describedby="fault"\
% endif
</%def>
