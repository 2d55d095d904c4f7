<%inherit file="base.mako"/>
<%namespace name="fleet" file="fleet_parts.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%def name="title()">${line.endpoint.name}</%def>
<% wish, facts = line.endpoint, line.facts %>
<div class="heading">
  <h1 dir="auto">${called or wish.name}</h1>
  <p class="count">${fleet.badge(line.state)}</p>
  <p class="under">\
% if called:
<span class="id">${wish.name}</span> \
% endif
<a href="${fleet_url}">${_("All repositories")}</a></p>
</div>
${parts.done(done)}
<p>${state_hint(line.state)}</p>
% if line.reason:
<p class="note">${line.reason}</p>
% endif
% if is_manager:
<p${'' if is_at_work else ' class="note"'}>${will_happen}\
% if not is_at_work:
 <code>silo fleet run DIR</code>\
% endif
</p>
<form method="post" action="${here}" class="actions">
  <button name="action" value="run-now">${_("Run now")}</button>
% if wish.is_paused:
  <button name="action" value="resume" class="quiet">${_("Resume")}</button>
% else:
  <button name="action" value="pause" class="quiet">${_("Pause")}</button>
% endif
% if facts.is_quarantined:
  <button name="action" value="release" class="quiet">${_("Release from quarantine")}</button>
% else:
  <button name="action" value="quarantine" class="quiet">${_("Quarantine")}</button>
% endif
% if line.state.value == "suspicious":
  <button name="action" value="accept-list" class="quiet">${_("Accept the shorter list")}</button>
% endif
% if facts.moved_to:
  <button name="action" value="accept" class="quiet">${_("Accept the new address")}</button>
% endif
</form>
% endif
<dl class="facts">
  <dt>${_("Address")}</dt><dd><a href="${wish.url}" rel="noopener noreferrer" dir="ltr">${wish.url}</a></dd>
% if facts.moved_to:
  <dt>${_("Redirects to")}</dt><dd dir="ltr">${facts.moved_to}</dd>
% endif
  <dt>${_("Last whole harvest")}</dt><dd>${parts.moment(facts.whole, _("never"))}</dd>
  <dt>${_("Records")}</dt><dd>${numeral(facts.records)}\
% if facts.promised is not None:
 ${_("of {n} promised", n=numeral(facts.promised))}\
% endif
% if silo_url:
 · <a href="${silo_url}">${_("Open its Silo")}</a>\
% endif
</dd>
  <dt>${_("Next run")}</dt><dd>${parts.moment(line.due, _("now") if line.state.value == "running" else _("none"))}</dd>
  <dt>${_("Failures in a row")}</dt><dd>${facts.failures}</dd>
% if line.node:
  <dt>${_("Node")}</dt><dd dir="auto">${line.node}</dd>
% endif
  <dt>${_("Formats")}</dt><dd>${", ".join(wish.prefixes or ("oai_dc",))}</dd>
% if wish.sets:
  <dt>${_("Sets")}</dt><dd>${", ".join(wish.sets)}</dd>
% endif
% if wish.tags:
  <dt>${_("Tags")}</dt><dd>\
% for tag in wish.tags:
<a href="${urls.with_query(fleet_url, {'tag': tag})}" dir="auto">${tag}</a>${"" if loop.last else ", "}\
% endfor
</dd>
% endif
  <dt>${_("Host")}</dt><dd><a href="${urls.with_query(fleet_url, {'host': facts.host})}">${facts.host}</a></dd>
  <dt>${_("Last runs")}</dt><dd>${fleet.outcomes(line)}</dd>
</dl>
% if history:
${charts.figure(history, "history")}
% endif
% if runs:
<h2>${_("Runs of the last month")}</h2>
<%parts:table label="${_('Runs of the last month')}" heads="${(_('Started'), _('Ended'), _('Outcome'), _('Changed'), _('What it said'))}" numbers="${(3,)}">
% for run in runs:
    <tr>
      <th scope="row">${parts.moment(run.started, "")}</th>
      <td data-label="${_('Ended')}">${parts.moment(run.ended, _("at work: {n} listed", n=numeral(run.done)))}</td>
      <td data-label="${_('Outcome')}">${outcome_label(run.outcome) if run.outcome else ""}</td>
      <td class="number" data-label="${_('Changed')}">${numeral(run.changed)}</td>
      <td data-label="${_('What it said')}" dir="auto">${run.said}</td>
    </tr>
% endfor
</%parts:table>
% endif
