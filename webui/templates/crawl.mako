<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%def name="title()">${_("Crawl {name}", name=report.name)}</%def>
<p class="crumbs"><a href="${urls.crawls()}">← ${_("Crawls")}</a></p>
<div class="heading record">
  <h1 dir="auto">${_("Crawl {name}", name=report.name)}</h1>
  <p class="under"><span>${_("Matched")} ${parts.date(report.matched)}</span> <a href="${urls.crawl_csv(report.name)}">${_("CSV")}</a> <a href="${urls.twin(urls.crawl(report.name))}">${_("JSON")}</a></p>
</div>
<dl class="figures">
  <div><dt>${_("Links")}</dt><dd>${numeral(report.seed_rows)}</dd></div>
  <div><dt>${_("Full texts")}</dt><dd>${numeral(report.full_texts)}</dd></div>
  <div><dt>${_("Fetched by an earlier crawl")}</dt><dd>${numeral(report.held_before)} (${percent(dedupe_share)})</dd></div>
% if report.unseeded:
  <div><dt>${_("Full texts without a link")}</dt><dd>${numeral(report.unseeded)}</dd></div>
% endif
</dl>
<section aria-labelledby="outcomes-of-links">
<h2 id="outcomes-of-links">${_("Outcomes")}</h2>
% if outcomes:
<p class="hint">${_("Each link has one outcome. An outcome, a status or a domain of the links leads to the records that have such a link.")}\
% if not is_newest:
 ${_("For those, the newest crawl of each record counts.")}\
% endif
</p>
${charts.figure(pictures["outcomes"], "outcomes")}
<%parts:table label="${_('Outcomes')}" heads="${(_('Outcome'), _('Links'), _('Share'), _('What to do next'))}" numbers="${(1, 2)}">
% for one in outcomes:
    <tr>
      <th scope="row"><a href="${one.url}">${one.meaning}</a> <span class="id">${one.outcome}</span></th>
      <td class="number" data-label="${_('Links')}">${numeral(one.count)}</td>
      <td class="number" data-label="${_('Share')}">${percent(one.share)}</td>
      <td data-label="${_('What to do next')}">${one.next_step}</td>
    </tr>
% endfor
</%parts:table>
% else:
<p class="empty-line">${_("The list of seeds was empty.")}</p>
% endif
</section>
% if len(pictures) > 1:
<section aria-labelledby="figures-of-links">
<h2 id="figures-of-links">${_("Where the links lead")}</h2>
<p class="hint">${_("The most frequent values of each. Negative statuses are those of Heritrix. In paths, R is a redirect, L a link, E an embedded file, X an address in a script; - is the link itself.")}</p>
<div class="pictures">
% for name, picture in pictures.items():
% if name != "outcomes":
${charts.figure(picture, name)}
% endif
% endfor
</div>
</section>
% endif
