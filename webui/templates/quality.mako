<%inherit file="base.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="title()">${_("Quality")}</%def>
<div class="heading">
  <h1>${_("Quality")}</h1>
  <p class="count"><a href="${urls.duplicates()}">${_("Probable duplicates")}</a></p>
</div>
<p class="hint">${_("Probable errors in the metadata. This page changes nothing.")}</p>
<form class="search" action="${urls.quality()}" method="get" aria-label="${_('Choose a set')}">
  <p>
    <label for="set">${_("Set")}</label>
    <select id="set" name="set">
      <option value="">${_("All records")}</option>
% for one, name in sets:
      <option value="${one}"${" selected" if one == spec else ""}>${name}</option>
% endfor
    </select>
  </p>
  <p class="act"><button type="submit">${_("Show")}</button></p>
</form>
<div class="pictures">
% if not complete.is_empty:
<div>
${charts.figure(complete, "complete")}
<p class="hint">${_("Missing values of these fields are findings. How many records have another field:")} <a href="${urls.with_search(urls.search(action='fields'), blank_query)}">${_("Facet any field")}</a></p>
</div>
% endif
% if not by_set.is_empty:
${charts.figure(by_set, "by-set")}
% endif
</div>
% if rows:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Findings')}">
<table class="cards">
  <thead><tr><th scope="col">${_("Code")}</th><th scope="col">${_("Finding")}</th><th scope="col" class="number">${_("Records")}</th>\
% if may_change:
<td></td>\
% endif
</tr></thead>
  <tbody>
% for one in rows:
    <tr>
      <td class="id">${one.code}</td>
      <th scope="row"><a href="${one.url}">${capital(one.said)}</a></th>
      <td class="number" data-label="${_('Records')}">${numeral(one.count)}</td>
% if may_change:
      <td class="acts">\
% if one.queue_url:
<a href="${one.queue_url}">${_("Correct one by one")}<span class="unseen"> (${one.said})</span></a>\
% endif
% if one.search:
${queues.repair(one.code, one.search, one.said)}\
% endif
</td>
% endif
    </tr>
% endfor
  </tbody>
</table>
</div>
% else:
<section class="empty"><h2>${_("No findings")}</h2><p>${_("No record has a finding.")}</p></section>
% endif
