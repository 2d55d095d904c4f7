<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${one.id}</%def>
<p class="crumbs"><a href="${list_url}">← ${_("Packages")}</a></p>
<h1><span class="id">${one.id}</span></h1>
${parts.done(done)}
<dl class="facts">
  <dt>${_("State")}</dt><dd>${crawls.package_state(one, state)}</dd>
  <dt>${_("ARK")}</dt><dd dir="ltr">${one.ark}</dd>
  <dt>${_("Crawled")}</dt><dd>${parts.moment(one.started)} – ${parts.moment(one.ended)}</dd>
  <dt>${_("Crawl")}</dt><dd dir="auto">${one.crawl_id} ${one.software}</dd>
  <dt>${_("Size")}</dt><dd>${human_size(one.size)} · ${counted("{n} archive file", "{n} archive files", len(one.warcs))}</dd>
% if one.scan:
  <dt>${_("Checked for viruses")}</dt><dd dir="auto">${parts.moment(one.scan.at)} ${one.scan.agent}</dd>
% endif
</dl>
<section aria-labelledby="steps">
<h2 id="steps">${_("Steps")}</h2>
<%parts:table label="${_('Steps')}" heads="${(_('Step'), _('Done'), _('Details'))}">
% for step in steps:
    <tr>
      <th scope="row">${step.said}</th>
      <td data-label="${_('Done')}">\
% if step.at:
${parts.moment(step.at)}\
% elif step.error:
${crawls.badge("alert", _("failed"))}\
% elif step.is_next:
${_("not asked for") if step.is_unasked else crawls.badge("warning", _("next"))}\
% else:
${_("not yet")}\
% endif
</td>
      <td data-label="${_('Details')}" dir="auto">${step.error} ${step.advice}</td>
    </tr>
% endfor
</%parts:table>
% if action:
<div class="actions"><form action="${action}" method="post"><button type="submit">${_("Try again")}</button></form></div>
% endif
</section>
<section aria-labelledby="warcs">
<h2 id="warcs">${_("Archive files")}</h2>
<%parts:table label="${_('Archive files')}" heads="${(_('Name'), _('ARK'), _('Size'))}" numbers="${(2,)}">
% for warc in one.warcs:
    <tr>
      <th scope="row"><span class="id" dir="ltr">${warc.name}</span>\
% if warc.is_viral:
 ${crawls.badge("alert", _("viral"))} <span dir="auto">${warc.signature}</span>\
% endif
</th>
      <td data-label="${_('ARK')}"><span class="id" dir="ltr">${warc.ark}</span></td>
      <td class="number" data-label="${_('Size')}">${human_size(max(0, warc.size))}</td>
    </tr>
% endfor
</%parts:table>
</section>
<section aria-labelledby="receipt">
<h2 id="receipt">${_("Receipt of the store")}</h2>
% if receipt:
<dl class="facts">
  <dt>${_("Place")}</dt><dd dir="ltr">${place}</dd>
  <dt>${_("Written")}</dt><dd>${parts.date(receipt.written)}</dd>
  <dt>${_("Shown from")}</dt><dd>${parts.date(receipt.shown_from)}</dd>
  <dt>${_("Files")}</dt><dd>${counted("{n} file", "{n} files", len(receipt.files))} · ${human_size(receipt.size)}</dd>
</dl>
% elif fault:
<p>${crawls.badge("alert", _("alert"))} <span dir="auto">${fault}</span></p>
% else:
<p class="empty-line">${_("None yet.")}</p>
% endif
</section>
<section aria-labelledby="nodes">
<h2 id="nodes">${_("Access nodes")}</h2>
% if nodes:
<dl class="facts">
% for node, at in nodes:
  <dt>${node}</dt><dd>${parts.moment(at, _("not yet"))}</dd>
% endfor
</dl>
% elif lost:
<p>${crawls.badge("alert", _("alert"))} <span dir="auto">${lost}</span></p>
% else:
<p class="empty-line">${_("None yet.")}</p>
% endif
</section>
