<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%namespace name="shared" file="usage_parts.mako"/>
<%! from webui.usage import addresses %>\
<%def name="title()">${one.label or one.key} · ${_("Usage")}</%def>
<p class="crumbs"><a href="${addresses.usage(**asked.fields)}">← ${_("Usage")}</a></p>
<div class="heading record">
  <h1 dir="auto">${one.label or one.key}</h1>
  <p class="under"><span>${kind_label}</span> <span class="id">${one.key}</span>
% if record_url:
 <a href="${record_url}">${_("Show the record")}</a>
% endif
 <a href="${addresses.usage_of(one.kind, one.key, '/days.csv', **asked.fields)}">${_("Days as CSV")}</a>
% if one.kind != "record":
 <a href="${addresses.usage_of(one.kind, one.key, '/records.csv', **asked.fields)}">${_("Records as CSV")}</a>
% endif
</p>
</div>
% if same:
<p class="note">${_("These are the same:")}\
% for entity in same:
 <bdi>${entity.label}</bdi>${"" if loop.last else ";"}\
% endfor
</p>
% if may_change:
<form action="${addresses.usage_of(one.kind, one.key, '/separate')}" method="post"><p><button type="submit" class="quiet">${_("Count them apart")}</button></p></form>
% endif
% endif
${shared.period(asked, addresses.usage_of(one.kind, one.key))}
${shared.figures(figures)}
% if moments:
<p class="hint">${_("First use")} ${parts.date(moments[0])}; ${_("last use")} ${parts.date(moments[1])}</p>
% endif
<div class="pictures">
% for name, picture in pictures.items():
${charts.figure(picture, name)}
% endfor
</div>
% if one.kind != "record":
<section aria-labelledby="items">
<h2 id="items">${_("Its records")}</h2>
${shared.used(lines, _("Record"))}
</section>
% endif
% if entities:
<section aria-labelledby="entities">
<h2 id="entities">${_("What it shares with other records")}</h2>
<dl class="fields">
% for label, some in entities:
  <div><dt>${label}</dt>
% for entity, url in some:
  <dd><a href="${url}" dir="auto">${entity.label}</a></dd>
% endfor
  </div>
% endfor
</dl>
</section>
% endif
<section aria-labelledby="places">
<h2 id="places">${_("Where the readers are")}</h2>
${shared.world(map)}
</section>
