<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="fleet" file="fleet_parts.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%def name="title()">${_("Silos")}</%def>
<div class="heading">
  <h1>${_("Silos")}</h1>
  <p class="count">${counted("{n} Silo in this directory", "{n} Silos in this directory", total)}</p>
% if fleet_url:
  <p class="under"><a href="${fleet_url}">${_("Repository status")}</a></p>
% endif
% if years:
  <p class="under">${_("The bars show the records of each Silo by year, {first} to {last}.", first=years[0], last=years[1])}</p>
% endif
</div>
% if lines:
<form class="search list" action="${urls.search()}" method="get" aria-label="${_('Search all Silos')}">
  <p class="words">
    <label for="find-all" class="unseen">${_("Search all Silos")}</label>
    <input id="find-all" name="q" type="search" placeholder="${_('Search all Silos')}" autocomplete="off" spellcheck="false" dir="auto">
  </p>
  <p class="act"><button type="submit">${_("Search")}</button></p>
</form>
<ul class="silos">
% for line in lines:
  <li class="card">
    <h2><a href="${places[line.name]}" dir="auto">${line.title or line.name}</a></h2>
    <p class="under">
% if line.title not in ("", line.name):
      <span class="id">${line.name}</span>
% endif
% if line.records is None:
      <span class="fault">${_("cannot be read; see the log of the server")}</span>
% else:
      <span class="on">${counted("{n} record", "{n} records", line.records)}</span>
% endif
    </p>
% if line.name in pictures:
    ${charts.spark(pictures[line.name])}
% endif
% if line.name in states:
    <a href="${urls.endpoint(line.name)}">${fleet.badge(states[line.name])}</a>
% endif
% if line.last_harvest:
    ${parts.harvest(line.last_harvest, line.name not in states)}
% elif line.records is not None:
    <p class="under">${_("No harvests with a receipt")}</p>
% endif
% if line.records:
    <form class="find" action="${places[line.name]}search" method="get" aria-label="${_('Search {name}', name=line.title or line.name)}">
      <label class="unseen" for="find-${loop.index}">${_("Search {name}", name=line.title or line.name)}</label>
      <input id="find-${loop.index}" name="q" type="search" placeholder="${_('Search')}" autocomplete="off" spellcheck="false" dir="auto">
      <button type="submit" class="quiet">${_("Find")}</button>
    </form>
% endif
  </li>
% endfor
</ul>
${lists.steps(_("Pages of the list"), previous=previous_url, following=next_url)}
% else:
<section class="empty">
  <h2>${_("No Silos yet")}</h2>
  <p>${_("Silos appear here as soon as they are harvested into this directory.")}</p>
</section>
% endif
