<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%namespace name="fleet" file="fleet_parts.mako"/>
<%def name="title()">${_("Repositories")}</%def>
<div class="heading">
  <h1>${_("Repositories")}</h1>
  <p class="count" role="status">${counted("{n} repository", "{n} repositories", total)}</p>
% if is_manager:
  <p class="under"><a class="button" href="${add_url}">${_("Add repositories")}</a></p>
% endif
% if day:
  <p class="under"><a href="#day">${_("Last and next 24 hours")}</a></p>
% endif
% if nodes:
  <p class="under"><a href="#nodes">${_("Nodes")}</a></p>
% endif
</div>

${parts.done(done)}
% if parts_of_day:
<section class="home" aria-label="${_('What to know today')}">
% for heading, hint, part, url in parts_of_day:
<div class="card">
  <h2>${heading} <span class="count">${numeral(part.number)}</span></h2>
  <p class="under">${hint}</p>
  <ul class="entries">
% for line in part.lines:
    <li><a href="${urls.endpoint(line.endpoint.name)}" dir="auto">${line.endpoint.name}</a> ${fleet.badge(line.state)}\
% if line.reason:
 <span class="under" dir="auto">${line.reason}</span>\
% endif
</li>
% endfor
  </ul>
% if part.number > len(part.lines):
  <p class="more"><a href="${url}">${_("Show all")}</a></p>
% endif
</div>
% endfor
</section>
% endif
<ul class="states" aria-label="${_('States')}">
  <li><a class="button quiet" href="${all_url}"${' aria-current=true' if not asked.state else ''}>${_("All")}</a></li>
% for state, number, url in states:
  <li><a class="button quiet" href="${url}" title="${state_hint(state)}"${' aria-current=true' if asked.state == state.value else ''}>${fleet.badge(state)} ${numeral(number)}</a></li>
% endfor
</ul>

% if total and not is_at_work:
<p class="note" role="status">${_("The scheduler is not running, so no run starts. Start it on the server:")} <code>silo fleet run DIR</code></p>
% endif

% for node, number in awaited:
<p class="note">${_("The node {node} has not reported since the rebuild.", node=node) if node in rebuilt else _("The node {node} has never reported.", node=node)} ${counted("{n} repository waits for it.", "{n} repositories wait for it.", number)}</p>
% endfor

<form class="search list" action="${page_url}" method="get" aria-label="${_('Find repositories')}">
  <p class="words">
    <label for="q" class="unseen">${_("Name or address")}</label>
    <input id="q" name="q" type="search" value="${asked.text}" placeholder="${_('Name or address')}" autocomplete="off" spellcheck="false" dir="auto">
  </p>
% for name, value in (("state", asked.state), ("tag", asked.tag), ("host", asked.host), ("sort", asked.sort)):
% if value:
  <input type="hidden" name="${name}" value="${value}">
% endif
% endfor
  <p class="act"><button type="submit">${_("Find")}</button></p>
</form>
% for label, value, url in ((_("Tag"), asked.tag, page_url), (_("Host"), asked.host, page_url)):
% if value:
<p class="under">${label}: <strong dir="auto">${value}</strong> <a href="${url}">${_("Show all")}</a></p>
% endif
% endfor

% if lines:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Repositories')}">
<table class="cards fleet">
  <thead><tr>
    ${column("name", _("Repository"))}
    ${column("state", _("State"))}
    ${column("whole", _("Last whole harvest"))}
    ${column("records", _("Records"), "number")}
    ${column("failures", _("Failures"), "number")}
    ${column("due", _("Next run"))}
    <th scope="col">${_("Last runs")}</th>
  </tr></thead>
  <tbody>
% for line, url in lines:
    <tr>
      <th scope="row"><a href="${url}" dir="auto">${names.get(line.endpoint.name, line.endpoint.name)}</a>\
% if line.endpoint.name in names:
 <span class="under id">${line.endpoint.name}</span>\
% endif
</th>
      <td data-label="${_('State')}">${fleet.badge(line.state)}\
% if line.reason:
 <span class="under">${line.reason}</span>\
% endif
</td>
      <td data-label="${_('Last whole harvest')}">${parts.moment(line.facts.whole, _("never"))}</td>
      <td class="number" data-label="${_('Records')}">${numeral(line.facts.records)}\
% if line.facts.promised and line.facts.promised != line.facts.records:
 <span class="under">${_("of {n} promised", n=numeral(line.facts.promised))}</span>\
% endif
</td>
      <td class="number" data-label="${_('Failures')}">${line.facts.failures}</td>
      <td data-label="${_('Next run')}">${parts.moment(line.due, _("now") if line.state.value == "running" else "")}\
% if has_nodes and line.node:
 <span class="under" dir="auto">${_("on {node}", node=line.node)}</span>\
% endif
</td>
      <td data-label="${_('Last runs')}">${fleet.outcomes(line)}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
${lists.steps(_("Pages of the list"), previous=previous_url, following=next_url)}
<p class="under"><a href="${csv_url}">${_("This list as CSV")}</a></p>
% else:
<section class="empty">
  <h2>${_("No repositories")}</h2>
% if not asked.is_everything:
  <p><a href="${page_url}">${_("Show all")}</a></p>
% else:
% if is_manager:
  <p><a class="button filled" href="${add_url}">${_("Add repositories")}</a></p>
% endif
  <p>${_("Add repositories to this fleet:")}</p>
  <pre tabindex="0" aria-label="${_('Command')}"><code>silo fleet add DIR URL</code></pre>
% endif
</section>
% endif

% if day:
<h2 id="day">${_("Last and next 24 hours")}</h2>
% if not asked.is_everything:
<p class="under">${counted("Only runs of the {n} repository in this list are counted.", "Only runs of the {n} repositories in this list are counted.", total)}</p>
% endif
<div class="pictures">
% for picture in day:
${charts.figure(picture, f"day-{loop.index}")}
% endfor
</div>
% endif

% if nodes:
<h2 id="nodes">${_("Nodes")}</h2>
<%parts:table label="${_('Nodes')}" heads="${(_('Node'), _('Last report'), _('Runs at a time'), _('Free capacity (records)'))}" numbers="${(2, 3)}">
% for node, lost, room in nodes:
    <tr>
      <th scope="row" dir="auto">${node.name}</th>
      <td data-label="${_('Last report')}">${parts.moment(node.seen, "")}${" " + _("(lost)") if lost else ""}</td>
      <td class="number" data-label="${_('Runs at a time')}">${node.slots}</td>
      <td class="number" data-label="${_('Free capacity (records)')}">${numeral(room)}</td>
    </tr>
% endfor
</%parts:table>
% endif

<%def name="column(name, label, css='')">
    <th scope="col"${f' class={css}' if css else ''}${f' aria-sort={"descending" if name in ("records", "failures") else "ascending"}' if asked.sort == name else ''}><a href="${sort_url[name]}">${label}</a></th>
</%def>
