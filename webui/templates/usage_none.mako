<%inherit file="base.mako"/>
<%def name="title()">${_("Usage")}</%def>
<h1>${_("Usage")}</h1>
<section class="empty"><h2>${_("No access logs were imported yet")}</h2>
<p>${_("How often the records are viewed and downloaded is counted from the access logs of the repository's web server.")}</p>
<p><code>silo usage import DIR access.log</code></p>
% if may_import:
<p><a class="button" href="${urls.new_job('usage-import')}">${_("Import access logs")}</a></p>
% endif
</section>
