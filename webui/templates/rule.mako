<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${name}</%def>
<p class="crumbs"><a href="${urls.rules()}">← ${_("Rules")}</a></p>
% if done:
${parts.done(_("Rule saved."))}
% endif
<div class="heading"><h1 dir="auto">${rule_set.title or name}</h1><p class="count id">curation/rules/${name}.toml</p></div>
<p>${_("Changes:")} <span dir="auto">${does}</span></p>
<p>${_("Records:")} \
% if selects:
<span dir="auto">${selects}</span>\
% else:
${_("all")}\
% endif
</p>
<pre tabindex="0" dir="ltr" aria-label="${_('The rule')}"><code>${toml}</code></pre>
% if may_change:
<form action="${urls.rule(name)}" method="post">
  <p>
    <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
    <input id="message" name="message" type="text" autocomplete="off" dir="auto">
  </p>
  <p class="act"><button name="do" value="test">${_("Preview")}</button>
    <a class="button" href="${urls.with_query(urls.bulk(), {'rule': name})}">${_("Edit rule")}</a></p>
</form>
<form action="${urls.rule(name)}/delete" method="post">
  <p class="act danger"><button type="submit">${_("Delete rule")}</button></p>
</form>
% endif
