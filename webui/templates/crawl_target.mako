<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%! from webui.words.dates import for_people %>
<% one = line.target %>
<%def name="title()">${line.target.title or line.target.name}</%def>
<p class="crumbs"><a href="${list_url}">← ${_("Crawl targets")}</a></p>
<h1 dir="auto">${one.title or one.name}</h1>
${parts.done(done)}
<dl class="facts">
  <dt>${_("What")}</dt><dd dir="auto">\
% if one.url:
<a href="${one.url}" rel="noopener noreferrer">${one.url}</a>\
% else:
${_("Links of")} \
% if search_url:
<a href="${search_url}">${said}</a>\
% else:
${said}\
% endif
 · ${counted("{n} record", "{n} records", records)}\
% endif
 · <a href="${at('/seeds')}">${_("Seeds")}</a></dd>
  <dt>${_("What belongs to it")}</dt><dd>${scope}${" " + _("and what these pages link to") if one.scope.plus_one else ""}</dd>
% if one.is_rendered:
  <dt>${_("Browser")}</dt><dd>${_("The seeds are shown in a browser.")} · <a href="${compared_url}">${_("Compared pages")}</a></dd>
% endif
% if one.watched:
  <dt>${_("Watched")}</dt><dd>${_("Its documents become records of a Silo of their own:")} <span dir="ltr">${one.watched}</span></dd>
% endif
  <dt>${_("Limits")}</dt><dd>${_("At most {pages} addresses, {bytes} and {time} in a launch, and {hops} hops from each seed", pages=numeral(one.limits.pages), bytes=most_bytes, time=most_time, hops=one.limits.hops)}</dd>
  <dt>${_("How often")}</dt><dd>${line.frequency}</dd>
  <dt>${_("Next launch")}</dt><dd>${crawls.next_launch(line)}</dd>
  <dt>${_("Last launch")}</dt><dd>${parts.moment(line.last, _("never"))}</dd>
  <dt>${_("Made")}</dt><dd dir="auto">${parts.moment(one.made)} ${one.agent}</dd>
</dl>
% if may_change:
<div class="actions">
% if one.when.is_paused:
  <form action="${at('/resume')}" method="post"><button class="quiet" type="submit">${_("Resume")}</button></form>
% else:
  <form action="${at('/pause')}" method="post"><button class="quiet" type="submit">${_("Pause")}</button></form>
% endif
  <form action="${at('/remove')}" method="post"><button class="quiet" type="submit">${_("Remove")}</button></form>
</div>
<details>
  <summary>${_("Change")}</summary>
  <article class="question">
  <form class="short" action="${at('/change')}" method="post">
${crawls.fields(values, frequencies, scopes, limits)}
    <p class="act"><button type="submit">${_("Save")}</button></p>
  </form>
  </article>
</details>
% endif
<section aria-labelledby="outcomes">
<h2 id="outcomes">${_("Outcomes")}</h2>
% if outcomes:
<p class="hint">${_("Each link has one outcome, and a record is counted once for each outcome of its links.") if not one.url else _("From the last crawl that has ended.")}</p>
<%parts:table label="${_('Outcomes')}" heads="${(_('Outcome'), *([] if one.url else [_('Records')]), _('What to do next'))}" numbers="${() if one.url else (1,)}">
% for found in outcomes:
    <tr>
      <th scope="row">\
% if found.url:
<a href="${found.url}">${found.meaning}</a>\
% else:
${found.meaning}\
% endif
 <span class="id">${found.outcome}</span></th>
% if not one.url:
      <td class="number" data-label="${_('Records')}">${numeral(found.count)}</td>
% endif
      <td data-label="${_('What to do next')}">${found.next_step}</td>
    </tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("Not known yet. When a crawl has ended, each link has an outcome.")}</p>
% endif
</section>
<section aria-labelledby="launches">
<h2 id="launches">${_("Launches")}</h2>
% if launches:
<%parts:table label="${_('Launches')}" heads="${(_('Due'), _('Answered addresses'), _('Size'), _('Failed and skipped'))}" numbers="${(1, 2)}">
% for past in launches:
    <tr>
      <th scope="row">${parts.moment(past.due)}</th>
      <td class="number" data-label="${_('Answered addresses')}">${numeral(past.spent.pages)}</td>
      <td class="number" data-label="${_('Size')}">${human_size(past.spent.bytes)}</td>
      <td data-label="${_('Failed and skipped')}"><a href="${at('/failures', launch=past.due.strftime('%Y%m%dT%H%M%SZ'))}" aria-label="${_('Failed and skipped, launch of {day}', day=for_people(past.due.strftime('%Y-%m-%dT%H:%M')))}">${_("Show")}</a></td>
    </tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("Nothing was fetched yet.")}</p>
% endif
</section>
