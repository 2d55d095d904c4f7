<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Where version {name} came from", name=version)}</%def>
<p class="crumbs"><a href="${urls.version(identifier, version)}">← <bdi class="id">${identifier}</bdi></a></p>
<div class="heading"><h1>${_("Where version {name} came from", name=version)}</h1></div>
% if found.harvest:
<dl class="fields">
  <div><dt>${_("Harvest")}</dt><dd class="id">${found.harvest.id}</dd></div>
  <div><dt>${_("Of")}</dt><dd class="id">${found.harvest.receipt.get("base_url", "")}</dd></div>
  <div><dt>${_("Began")}</dt><dd>${parts.date(found.harvest.receipt.get("started") or "")}</dd></div>
  <div><dt>${_("Ended")}</dt><dd>${parts.date(found.harvest.receipt.get("ended") or "")}</dd></div>
  <div><dt>${_("Outcome")}</dt><dd>${_(found.harvest.state)}</dd></div>
  <div><dt>${_("Stored")}</dt><dd>${parts.date(origin.date)}</dd></div>
</dl>
% else:
<section class="empty"><h2>${_("No harvest tells of it")}</h2><p>${_("This Silo has no receipt of a harvest at the time this version was stored.")}</p></section>
% endif
% if found.response:
<section aria-labelledby="response">
  <h2 id="response">${_("The response")}</h2>
  <dl class="fields">
    <div><dt>${_("Asked")}</dt><dd class="id">${found.response.asked}</dd></div>
    <div><dt>${_("Received")}</dt><dd>${parts.date(found.response.received)}</dd></div>
    <div><dt>${_("Status")}</dt><dd>${found.response.status}</dd></div>
    <div><dt>${_("Size")}</dt><dd>${human_size(found.response.size)}</dd></div>
    <div><dt>${_("Kept as")}</dt><dd class="id">${found.response.where}</dd></div>
  </dl>
% if pieces:
  <h3>${_("The record in it")}</h3>
${parts.xml(pieces, _("The record as received"))}
% endif
</section>
% elif found.harvest:
<p class="note">\
% if found.is_cut:
${_("The harvest has very many responses, and looking was stopped after some seconds.")}\
% elif found.harvest.files:
${_("None of the responses kept of this harvest holds this record.")}\
% else:
${_("No responses were kept of this harvest.")}\
% endif
</p>
% endif
