<%inherit file="base.mako"/>
<%def name="title()">${_("New job")}</%def>
<p class="crumbs"><a href="${urls.jobs()}">← ${_("Jobs")}</a></p>
<h1>${_("New job")}</h1>
<p>${_("A job continues when you close this page, and after a restart of the server.")} ${_("To edit many records, search for them first.")}</p>
% for group, choices in groups:
<section class="told">
  <h2>${group}</h2>
  <ul class="kinds">
% for one in choices:
    <li><a href="${one.url}">${one.heading}</a><p>${one.explained}</p></li>
% endfor
  </ul>
</section>
% endfor
