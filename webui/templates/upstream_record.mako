<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="compared" file="compared.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="head()">
% if queue:
${queues.script()}
% endif
</%def>
<%def name="title()">${_("Source change of {identifier}", identifier=found.identifier)}</%def>
% if queue:
${queues.bar(queue)}
% else:
<p class="crumbs"><a href="${urls.upstream_list()}">← ${_("Source changes")}</a></p>
% endif
${parts.done(done)}
<div class="heading">
  <h1 dir="auto">${_("Source change of “{title}”", title=line.title)}</h1>
  <p class="count"><a class="id" href="${urls.record(found.identifier)}">${found.identifier}</a> · ${label}</p>
</div>
<p class="under">${_("You edited version {base}; the source now has version {theirs}.", base=found.base, theirs=found.theirs)}
<a href="${urls.differences(found.identifier, found.base, found.theirs)}">${_("Changes at the source")}</a> ·
<a href="${urls.differences(found.identifier, found.base, found.ours)}">${_("Changes made here")}</a>
% if found.kind == "proposed":
 · <a href="${urls.differences(found.identifier, found.ours, found.proposal)}">${_("Changes in the proposal")}</a>
% endif
</p>
% if fault:
<p class="note fault" role="alert">${fault}</p>
% endif
% if found.reason:
<p class="note fault">${found.reason}</p>
% endif
% if line.changes:
<section class="changes" aria-labelledby="changes">
  <h2 id="changes">${line.label}</h2>
${compared.fields(line.changes)}
</section>
% elif line.label:
<p class="empty-line">${_("No field changes.")}</p>
% endif
% if found.kind == "conflict":
${choices()}
% endif
% if may_change:
<form action="${urls.upstream(found.identifier)}" method="post">
  <input type="hidden" name="if_match" value="${revision}">
${in_queue()}
  <p class="act">
% if found.kind == "proposed":
    <button name="do" value="accept" data-key="s">${_("Accept the proposal")}</button>
% elif found.kind == "clean":
    <button name="do" value="accept" data-key="s">${_("Accept the merge")}</button>
% endif
    <button class="quiet" name="do" value="keep">${_("Keep the edited version")}</button>
    <button class="quiet" name="do" value="follow">${_("Use the source version")}</button>
  </p>
</form>
% endif
% if found.kind == "proposed" and found.can_resolve and may_change:
<details class="again">
  <summary>${_("Choose other values")}</summary>
${choices()}
</details>
% endif
<%def name="in_queue()">
% if queue:
${queues.hidden(queue)}
  <input type="hidden" name="kind" value="${kind}">
% endif
</%def>
<%def name="choices()">
% if may_change:
<form class="edit" action="${urls.upstream(found.identifier)}" method="post">
${in_queue()}
  <input type="hidden" name="if_match" value="${revision}">
% else:
<div class="edit">
% endif
% for number, one in conflicts:
  <fieldset class="card">
    <legend>${field_label(one.name)}</legend>
    <input type="hidden" name="name-${number}" value="${one.name}">
    <div class="sides">
${side(number, "base", _("Before"), one.base)}
${side(number, "ours", _("Curated"), one.ours)}
${side(number, "theirs", _("At the source"), one.theirs)}
% if may_change:
      <div>
        <p class="tick"><input id="own-take-${number}" type="radio" name="take-${number}" value="own"${" checked" if taken.get(f"take-{number}") == "own" else ""}><label for="own-take-${number}">${_("Other values")}</label></p>
        <p><label class="unseen" for="own-${number}">${_("Values of {field}, one per line", field=field_label(one.name))}</label>
        <textarea id="own-${number}" name="own-${number}" rows="3" dir="auto">
${taken.get(f"own-{number}", text(one.ours))}</textarea></p>
      </div>
% endif
    </div>
  </fieldset>
% endfor
% if may_change:
  <p class="act"><button name="do" value="resolve">${_("Preview merge")}</button></p>
</form>
% else:
</div>
% endif
</%def>
<%def name="side(number, name, label, values)">
      <div>
% if may_change:
        <p class="tick"><input id="${name}-${number}" type="radio" name="take-${number}" value="${name}"${" checked" if taken.get(f"take-{number}") == name else ""}><label for="${name}-${number}">${label}</label></p>
% else:
        <p>${label}</p>
% endif
% for value in values:
        <p dir="auto">${value.text}\
% if value.lang:
 <small>[${value.lang}]</small>\
% endif
</p>
% endfor
% if not values:
        <p class="empty-line">${_("nothing")}</p>
% endif
      </div>
</%def>
