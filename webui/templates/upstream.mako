<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="compared" file="compared.mako"/>
<%def name="title()">${_("Source changes")}</%def>
% if done:
<p class="done" role="status">${done}
% if decided:
 <a class="id" href="${urls.record(decided)}"><bdi>${decided}</bdi></a>
% endif
</p>
% endif
% if round_said:
<p class="done" role="status">${round_said}</p>
% endif
<div class="heading"><h1>${_("Source changes")}</h1></div>
<p class="hint">${_("Records edited here that the source has changed since. Your edits are never overwritten.")}</p>
% if lines:
% if first or following:
<p class="hint">${_("On this page:")}</p>
% endif
<ul class="figures">
% for one, label, number in counts:
% if number:
  <li><strong>${numeral(number)}</strong> <a href="${urls.with_query(urls.upstream_list(), {'kind': one.value})}">${label}</a></li>
% endif
% endfor
</ul>
% if may_change:
<p class="act"><a class="button filled" href="${begin}">${_("Next source change") if decided else _("Decide one by one")}</a></p>
% endif
% if may_change and (first or following or kind or any(one == "clean" and number for one, _label, number in counts)):
<form action="${urls.upstream_list()}" method="post">
  <p class="act"><button type="submit">${_("Propose all clean merges")}</button></p>
</form>
% endif
% if kind:
<p><a class="clear" href="${urls.upstream_list()}">${_("Show all")}</a></p>
% endif
<ol class="records">
% for line in lines:
<% one = line.review %>\
  <li>
    <h2><a href="${urls.upstream(one.identifier)}" dir="auto">${line.title}</a></h2>
    <p class="what"><span class="id" dir="ltr">${one.identifier}</span> <span>${labels[one.kind]}</span>
% if one.conflicts:
      <span>${_("Conflicting fields")}: ${", ".join(field_label(conflict.name) for conflict in one.conflicts)}</span>
% endif
    </p>
% if line.changes:
    <details class="under">
      <summary>${line.label}</summary>
${compared.fields(line.changes)}
    </details>
% endif
  </li>
% endfor
</ol>
% elif following:
<p class="empty-line">${_("None of this kind on this page. Go to the next page.")}</p>
% elif first:
<p class="empty-line">${_("The list has no more entries.")}</p>
% else:
<section class="empty"><h2>${_("Nothing to decide")}</h2><p>${_("Records edited here are listed when the source changes them.")}</p></section>
% endif
${lists.steps(_("Pages of the list"), first, "", following)}
