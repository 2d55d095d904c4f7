<%inherit file="base.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Sets")}</%def>
<div class="heading">
  <h1>${_("Sets")}</h1>
  <p class="count">${counted("{n} set with records in this Silo", "{n} sets with records in this Silo", total)}</p>
</div>
% if total:
% if total > few or match:
<form class="find" action="${urls.sets()}" method="get" aria-label="${_('Filter the sets')}">
  <label class="unseen" for="match">${_("Name or setSpec contains")}</label>
  <input id="match" name="match" type="search" value="${match}" placeholder="${_('Name or setSpec contains')}" autocomplete="off" spellcheck="false" dir="auto">
  <button type="submit" class="quiet">${_("Filter")}</button>
% if match:
  <a class="clear" href="${urls.sets()}">${_("Show all sets")}</a>
% endif
</form>
% endif
% if set_choices:
% if years:
<p class="under">${_("The bars show the records of each set by year, {first} to {last}.", first=years[0], last=years[1])}</p>
% endif
<ul class="set-list">
% for spec, name, count in set_choices:
  <li>
    <a href="${urls.records_of_set(spec)}" title="${spec}" dir="auto">${name}</a>
    <span class="number">${numeral(count)}<span class="unseen"> ${_("records")}</span></span>
% if spec in specs:
    <span class="id">${spec}</span>
% endif
% if spec in pictures:
    ${charts.spark(pictures[spec])}
% endif
  </li>
% endfor
</ul>
${lists.steps(_("Pages of the list"), first_url, "", next_url)}
% else:
<p class="empty-line" role="status">${_("No set matches.")}</p>
% endif
% else:
<section class="empty">
  <h2>${_("No sets")}</h2>
  <p>${_("No record of this Silo is in a set.")} <a href="${urls.search()}">${_("Show all records")}</a></p>
</section>
% endif
