<%inherit file="base.mako"/>
<%def name="title()">${int(error.status)}</%def>
<section class="error">
  <p class="status" aria-hidden="true">${int(error.status)}</p>
  <h1>${_(error.status.phrase)}</h1>
  <p role="alert" dir="auto">${error.message}</p>
% if back:
  <p><a href="${back}">${_("Go back")}</a></p>
% endif
  <p><a href="${urls.search()}">${_("Go to the records")}</a></p>
</section>
