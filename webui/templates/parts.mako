## Small pieces that several pages share.
<%! from webui.words import dates %>
<%namespace name="live" file="live.mako"/>

<%def name="date(text)">\
% if dates.for_machines(text):
<time datetime="${dates.for_machines(text)}">${dates.for_people(text)}</time>\
% elif text:
${text}\
% endif
</%def>

<%def name="moment(value, otherwise='')">\
% if value:
${date(value.strftime("%Y-%m-%dT%H:%M:%S"))}\
% else:
${otherwise}\
% endif
</%def>

## numbers: the positions of the columns with numbers. The body has the lines.
<%def name="table(label, heads, numbers=(), kind='cards')">
<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table class="${kind}">
  <thead><tr>\
% for head in heads:
% if loop.index in numbers:
<th scope="col" class="number">${head}</th>\
% else:
<th scope="col">${head}</th>\
% endif
% endfor
</tr></thead>
  <tbody>
${caller.body()}
  </tbody>
</table>
</div>
</%def>

<%def name="value(v)">\
% if v.href:
<a href="${v.href}" rel="noopener noreferrer" dir="auto"${lang(v.lang)}>${v.text}</a>\
% else:
<span dir="auto"${lang(v.lang)}>${v.text}</span>\
% endif
</%def>

## The direction is the block's: a dir=auto passes over children with a dir of their own.
<%def name="paragraph(v)">\
<dd dir="auto"${lang(v.lang)}>\
% if v.href:
<a href="${v.href}" rel="noopener noreferrer">${v.text}</a>\
% else:
${v.text}\
% endif
</dd>
</%def>

<%def name="lang(tag)">\
% if tag:
 lang="${tag}"\
% endif
</%def>

<%def name="sending()">
    <p class="sending" role="status" hidden data-too-large="${_('This file is too large; nothing was sent.')}" data-failed="${_('The upload failed; nothing was saved.')}">
      <progress max="1" value="0" aria-label="${_('Sent')}"></progress> <span></span>
    </p>
</%def>

<%def name="scripts()">
<script src="${static_url('curate.js')}" defer></script>
</%def>

## What a form holds that is not saved; JavaScript keeps it true while one types.
<%def name="unsaved(labels)">
<p class="unsaved" role="status" data-none="${_('No unsaved changes')}" data-some="${_('Unsaved:')}" data-fields="${'; '.join(labels)}">\
% if labels:
${_("Unsaved:")} ${"; ".join(labels)}\
% endif
</p>
</%def>

<%def name="done(text)">
% if text:
<p class="done" role="status">${text}</p>
% endif
</%def>

<%def name="badges(deleted, curated, newer)">
% if deleted:
<span class="badge deleted">${_("deleted")}</span>
% endif
% if curated:
<span class="badge curated">${_("curated")}</span>
% endif
% if newer:
<span class="badge newer">${_("newer at the source")}</span>
% endif
</%def>

<%def name="xml(pieces, label)">
<pre tabindex="0" dir="ltr" aria-label="${label}"><code>\
% for kind, text in pieces:
% if kind == "text":
${text}\
% else:
<span class="x-${kind}">${text}</span>\
% endif
% endfor
</code></pre>
</%def>

## A line of `webui.harvest_lines`.
<%def name="harvest(one, is_named=True)">
% if is_named:
${live.outcome(one.outcome, one.job_url)}
% endif
<span class="under"><span>${date(one.started) if one.started else one.id}</span> <span class="id">${one.what}</span>
% for name, number in ((_("new"), one.records.get("new")), (_("updated"), one.records.get("updated")), (_("deleted"), one.records.get("deleted"))):
% if number:
<span>${numeral(number)} ${name}</span>
% endif
% endfor
</span>
% if one.missing:
<span class="missing" dir="auto">${" · ".join(one.missing)}</span>
% endif
</%def>

## The identifiers of a list that no record has.
<%def name="lacking(missing)">
% if missing:
<div class="note" role="status">
  <p>${counted("{n} identifier has no record in this Silo:", "{n} identifiers have no record in this Silo:", len(missing))}</p>
  <ul class="plain">
% for identifier in missing:
    <li class="id">${identifier}</li>
% endfor
  </ul>
</div>
% endif
</%def>

## A short list of records: `webui.overview.RecordLink`.
<%def name="records(links)">
  <ol class="entries">
% for one in links:
    <li><a href="${one.url}" dir="auto">${one.title}</a>
    <span class="under">${one.number or date(one.date)}</span></li>
% endfor
  </ol>
</%def>
