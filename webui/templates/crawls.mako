<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%def name="title()">${_("Crawls")}</%def>
<div class="heading">
  <h1>${_("Crawls")}</h1>
% if may_match:
  <p><a class="button filled" href="${urls.new_job('crawl-match')}">${_("Match a crawl")}</a></p>
% endif
</div>
<p class="hint">${_("What became of the links in the records, from the logs of a crawler.")}</p>
% for fault in faults:
<p class="note fault">${fault}</p>
% endfor
% if history:
${charts.figure(history, "history")}
% endif
% if lines:
<%parts:table label="${_('Crawls')}" heads="${(_('Crawl'), _('Matched'), _('Links'), _('With full text'))}" numbers="${(2, 3)}">
% for one in lines:
    <tr>
      <th scope="row"><a href="${urls.crawl(one.crawl.name)}" dir="auto">${one.crawl.name}</a></th>
      <td data-label="${_('Matched')}">${parts.date(one.crawl.matched)}</td>
      <td class="number" data-label="${_('Links')}">${numeral(one.crawl.receipt.seed_rows)}</td>
      <td class="number" data-label="${_('With full text')}">${numeral(one.full_texts)} (${percent(one.share)})</td>
    </tr>
% endfor
</%parts:table>
% elif not faults:
<section class="empty">
  <h2>${_("No crawls")}</h2>
  <p>${_("Match the log of a crawler with the links in the records:")}</p>
  <pre tabindex="0" aria-label="${_('Command')}"><code>silo crawl match DIR crawl.log.gz</code></pre>
</section>
% endif
