<%inherit file="base.mako"/>
<%namespace name="shared" file="usage_parts.mako"/>
<%! from webui.usage import addresses %>\
<%def name="title()">${label} · ${_("Usage")}</%def>
<%def name="head()"><script src="${static_url('usage.js')}" defer></script></%def>
<p class="crumbs"><a href="${addresses.usage(**asked.fields)}">← ${_("Usage")}</a></p>
<div class="heading">
  <h1>${orders[asked.by]}: ${label}</h1>
  <p class="under"><a href="${addresses.usage('top.csv', **own)}">${_("CSV")}</a></p>
</div>
<nav aria-label="${_('Kinds')}"><ul class="entity-kinds">
% for name, words in kinds:
  <li><a class="button"${' aria-current=page' if name == kind else ''} href="${addresses.usage('top', kind=name, **asked.fields)}">${words}</a></li>
% endfor
</ul></nav>
<form class="period" action="${addresses.usage('top')}" method="get" aria-label="${_('Find')}">
  <input type="hidden" name="kind" value="${kind}">
% for name, value in asked.given:
  <input type="hidden" name="${name}" value="${value}">
% endfor
  <p><label for="match">${_("Name begins with")}</label> <input id="match" name="match" type="search" value="${match}" autocomplete="off" dir="auto" list="names" data-suggest="${urls.twin(addresses.usage('top', kind=kind))}"><datalist id="names"></datalist></p>
  <p><button type="submit">${_("Find")}</button></p>
</form>
${shared.period(asked, addresses.usage("top"), hidden=[("kind", kind)], orders=orders)}
${shared.used(lines, label)}
