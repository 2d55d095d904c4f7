## The filters in use above the results, and the facets beside them: a sheet on a phone.
<%namespace name="charts" file="charts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="rename" file="rename_parts.mako"/>

<%def name="chips(groups, can_clear=True)">
% if groups:
<ul class="chosen" aria-label="${_('Filters in use')}">
% for group in groups:
  <li class="group"><span class="field">${group.label}: \
% if group.is_exclusion:
<em>${_("not")}</em> \
% elif len(group.choices) > 1:
<em>${_("any of")}</em> \
% endif
</span>\
% for one in group.choices:
<a href="${one.url}" dir="auto"><span class="unseen">${_("Remove filter:")} ${group.label}: </span>${one.label} <span aria-hidden="true">×</span></a> \
% endfor
</li>
% endfor
% if can_clear:
  <li><a class="clear" href="${urls.search()}">${_("Clear all")}</a></li>
% endif
</ul>
% endif
</%def>

<%def name="opener(in_use)">
<button type="button" class="quiet filters-button" popovertarget="facets">${_("Filters")}\
% if in_use:
 (${in_use})\
% endif
</button>
</%def>

<%def name="column(facets, request)">
<aside class="facets" id="facets" popover aria-label="${_('Filters')}">
  <p class="close"><button type="button" class="quiet" popovertarget="facets" popovertargetaction="hide">${_("Close")}</button></p>
% for facet in facets:
  <details class="facet"${lists.opened(facet.is_open)}>
    <summary>${facet.label}\
% if facet.chosen:
 <span class="in-use">${facet.chosen}<span class="unseen"> ${_("in use")}</span></span>\
% endif
</summary>
% if facet.order_url:
    <p class="order"><a href="${facet.order_url}">\
% if facet.is_by_name:
${_("Sort by count")}\
% else:
${_("Sort by year") if facet.name == "year" else _("Sort by name")}\
% endif
<span class="unseen">: ${facet.label}</span></a></p>
% endif
% if facet.years:
${years(facet.years)}
% endif
% if facet.choices:
${values(facet.choices)}
% else:
    <p class="empty-line">${_("No values in these records.")}</p>
% endif
% if facet.merge_url and may_change:
    <p class="merge"><a class="rename" href="${facet.merge_url}">${_("Merge the chosen values")}<span class="unseen">: ${facet.label}</span></a></p>
% endif
% if facet.is_searched:
    <form class="typed" action="${urls.search()}/values" method="get" data-values="${request.url(('field', facet.name), action='values')}">
      <input type="hidden" name="field" value="${facet.name}">
${lists.hidden(request.pairs)}
      <label class="unseen" for="match-${facet.name}">${_("Find a value of {field}", field=facet.label)}</label>
      <input id="match-${facet.name}" name="match" type="search" autocomplete="off" placeholder="${_('Type to search')}">
      <button type="submit" class="quiet">${_("Find")}</button>
      <div class="typed-found" aria-live="polite"></div>
    </form>
% endif
% if facet.more_url:
    <p class="more"><a href="${facet.more_url}">${_("More")}<span class="unseen"> ${_("values of {field}", field=facet.label)}</span></a></p>
% endif
  </details>
% endfor
${rename.inline()}\
</aside>
</%def>

<%def name="values(choices, form='')">
    <ul class="choices several${' ticked' if form else ''}">
% for one in choices:
      <li${state(one)}>\
% if form:
<input type="checkbox" form="${form}" name="value-${loop.index}" value="${one.value}" autocomplete="off" aria-label="${_('Merge')} ${one.label}">\
% endif
<a class="choose" href="${one.url}"${lists.chosen(one.is_chosen)}><span class="box" aria-hidden="true"></span><span dir="auto">${one.label}</span> <span class="number">${numeral(one.count)}</span></a>\
${rename.link(one.rename_url, one.label)}\
% if one.not_url:
<a class="not" href="${one.not_url}" title="${_('Include again') if one.is_excluded else _('Exclude')}"><span aria-hidden="true">${"+" if one.is_excluded else "−"}</span><span class="unseen">${_("Include again") if one.is_excluded else _("Exclude")} ${one.label}</span></a>\
% endif
</li>
% endfor
    </ul>
</%def>

<%def name="state(one)">\
% if one.is_excluded:
 class="excluded"\
% endif
</%def>

<%def name="years(years)">
    <div class="years" data-start="${years.start}" data-width="${years.width}" data-bins="${years.bins}">
${charts.figure(years.picture, "years")}
    <form class="range" action="${urls.search()}" method="get" aria-label="${_('Range of years')}">
${lists.hidden(years.kept)}
      <p><label for="year-from">${_("From")}</label> <input id="year-from" name="year_from" value="${years.first}" inputmode="numeric" pattern="[0-9]{1,4}" size="4" autocomplete="off"></p>
      <p><label for="year-to">${_("To")}</label> <input id="year-to" name="year_to" value="${years.last}" inputmode="numeric" pattern="[0-9]{1,4}" size="4" autocomplete="off"></p>
      <button type="submit" class="quiet">${_("Apply")}</button>
    </form>
    </div>
</%def>
