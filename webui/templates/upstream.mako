<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Source changes")}</%def>
${parts.done(done)}
<div class="heading"><h1>${_("Source changes")}</h1></div>
<p class="hint">${_("Records edited here that the source has changed since. Your edits are never overwritten.")}</p>
% if found:
% if first or following:
<p class="hint">${_("On this page:")}</p>
% endif
<ul class="figures">
% for one, label, number in counts:
% if number:
  <li><strong>${f"{number:,}"}</strong> <a href="${urls.with_query(urls.upstream_list(), {'kind': one.value})}">${label}</a></li>
% endif
% endfor
</ul>
% if may_change:
<form action="${urls.upstream_list()}" method="post">
  <p class="act"><button type="submit">${_("Propose all clean merges")}</button></p>
</form>
% endif
% if kind:
<p><a class="clear" href="${urls.upstream_list()}">${_("Show all")}</a></p>
% endif
<div class="scroll" tabindex="0" role="region" aria-label="${_('Source changes')}">
<table>
  <thead><tr><th scope="col">${_("Record")}</th><th scope="col">${_("Status")}</th><th scope="col">${_("Conflicting fields")}</th></tr></thead>
  <tbody>
% for one in found:
    <tr>
      <th scope="row"><a class="id" href="${urls.upstream(one.identifier)}">${one.identifier}</a></th>
      <td>${labels[one.kind]}</td>
      <td>${", ".join(conflict.name for conflict in one.conflicts)}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
% elif following:
<p class="empty-line">${_("None of this kind on this page. Go to the next page.")}</p>
% elif first:
<p class="empty-line">${_("The list has no more entries.")}</p>
% else:
<section class="empty"><h2>${_("Nothing to decide")}</h2><p>${_("Records edited here are listed when the source changes them.")}</p></section>
% endif
${lists.steps(_("Pages of the list"), first, "", following)}
