<%inherit file="base.mako"/>
<%def name="title()">${int(error.status)}</%def>
<section class="error">
  <p class="status" aria-hidden="true">${int(error.status)}</p>
  <h1>${heading}</h1>
  <p role="alert" dir="auto">${error.message}</p>
% if error.code == "sign_in_required":
  <p>${_("Sign in in another tab, then reload this page: what you filled in is sent again. If you leave this page, it is lost.")}</p>
  <p><a class="button filled" href="${urls.sign_in()}" target="_blank">${_("Sign in")}</a></p>
% elif back:
  <p><a href="${back}">${_("Go back")}</a></p>
% endif
% if error.code == "silo_gone":
  <p><a href="">${_("Try again")}</a></p>
% else:
  <p><a href="${urls.search()}">${_("Go to the records")}</a></p>
% endif
</section>
