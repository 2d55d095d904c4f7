<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Provenance of version {name}", name=version)}</%def>
<p class="crumbs"><a href="${urls.version(identifier, version)}">← <bdi class="id">${identifier}</bdi></a></p>
<div class="heading"><h1>${_("Provenance of version {name}", name=version)}</h1></div>
% if found.harvest:
<dl class="fields">
  <div><dt>${_("Harvest")}</dt><dd class="id">${found.harvest.id}</dd></div>
  <div><dt>${_("Repository")}</dt><dd class="id">${found.harvest.receipt.get("base_url", "")}</dd></div>
  <div><dt>${_("Started")}</dt><dd>${parts.date(found.harvest.receipt.get("started") or "")}</dd></div>
  <div><dt>${_("Ended")}</dt><dd>${parts.date(found.harvest.receipt.get("ended") or "")}</dd></div>
  <div><dt>${_("Outcome")}</dt><dd>${_(found.harvest.state)}</dd></div>
  <div><dt>${_("Stored")}</dt><dd>${parts.date(origin.date)}</dd></div>
</dl>
% else:
<section class="empty"><h2>${_("Unknown harvest")}</h2><p>${_("No receipt of a harvest covers the time when this version was stored.")}</p></section>
% endif
% if found.response:
<section aria-labelledby="response">
  <h2 id="response">${_("Response")}</h2>
  <dl class="fields">
    <div><dt>${_("Request")}</dt><dd class="id">${found.response.asked}</dd></div>
    <div><dt>${_("Received")}</dt><dd>${parts.date(found.response.received)}</dd></div>
    <div><dt>${_("Status")}</dt><dd>${found.response.status}</dd></div>
    <div><dt>${_("Size")}</dt><dd>${human_size(found.response.size)}</dd></div>
    <div><dt>${_("Stored as")}</dt><dd class="id">${found.response.where}</dd></div>
  </dl>
% if pieces:
  <h3>${_("The record in the response")}</h3>
${parts.xml(pieces, _("The record as received"))}
% endif
</section>
% elif found.harvest:
<p class="note">\
% if found.is_cut:
${_("This harvest has too many responses to search them all.")}\
% elif found.harvest.elsewhere:
${_("Responses of this harvest are in an object store: {address}. To bring them back: {command}", address=found.harvest.elsewhere[0].url, command="silo fleet archive --back DIR")}\
% elif found.harvest.files:
${_("None of the stored responses of this harvest contains this record.")}\
% else:
${_("The responses of this harvest were not kept.")}\
% endif
</p>
% endif
