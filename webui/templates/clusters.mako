<%inherit file="base.mako"/>
<%def name="title()">${_("Clusters")}</%def>
<div class="heading">
  <h1>${_("Clusters")}</h1>
  <p class="count" role="status">${counted("{n} cluster", "{n} clusters", total)}</p>
</div>
<p class="hint">${_("Probable variants of one value. Merge them into a rule, and preview it before you apply it.")}</p>
<form class="search" action="${urls.clusters()}" method="get" aria-label="${_('Find clusters')}">
  <p>
    <label for="field">${_("Field")}</label>
    <select id="field" name="field">
% for name in fields:
      <option value="${name}"${" selected" if name == field else ""}>${field_label(name)}</option>
% endfor
    </select>
  </p>
  <p>
    <label for="method">${_("Method")}</label>
    <select id="method" name="method">
% for name, label in methods:
      <option value="${name}"${" selected" if name == method else ""}>${label}</option>
% endfor
    </select>
  </p>
  <p>
    <label for="distance">${_("Maximum difference")}</label>
    <select id="distance" name="distance">
% for number in (1, 2, 3):
      <option value="${number}"${" selected" if number == distance else ""}>${number}</option>
% endfor
    </select>
  </p>
  <p class="act"><button type="submit">${_("Find")}</button></p>
</form>
% if clusters:
% if may_change:
<form class="edit" action="${urls.clusters()}" method="post">
  <input type="hidden" name="field" value="${field}">
% else:
<div class="edit">
% endif
% for number, one in clusters:
  <fieldset class="card">
    <legend>${start + number + 1}. <span dir="auto">${one.values[0][0]}</span></legend>
% if may_change:
    <p class="tick">
      <input id="use-${number}" name="use-${number}" type="checkbox" value="yes">
      <label for="use-${number}">${_("Merge")}<span class="unseen"> ${one.values[0][0]}</span></label>
    </p>
% endif
    <ul class="plain">
% for place, (value, count) in enumerate(one.values[:shown]):
% if may_change:
      <li class="tick">
        <input id="value-${number}-${place}" name="value-${number}-${place}" type="checkbox" value="${value}" checked>
        <label for="value-${number}-${place}" dir="auto">${value} <small>${counted("{n} record", "{n} records", count)}</small></label>
      </li>
% else:
      <li dir="auto">${value} <small>${counted("{n} record", "{n} records", count)}</small></li>
% endif
% endfor
% if len(one.values) > shown:
      <li>${_("and {n} more", n=len(one.values) - shown)}
% for place, (value, count) in enumerate(one.values[shown:] if may_change else (), shown):
        <input type="hidden" name="value-${number}-${place}" value="${value}">
% endfor
      </li>
% endif
    </ul>
% if may_change:
    <p>
      <label for="to-${number}">${_("Merge into")}</label>
      <input id="to-${number}" name="to-${number}" type="text" value="${one.values[0][0]}" dir="auto" autocomplete="off">
    </p>
% endif
  </fieldset>
% endfor
% if may_change:
  <p class="act"><button type="submit">${_("Create rule")}</button></p>
</form>
% else:
</div>
% endif
% if next_url:
<nav class="pages" aria-label="${_('Pages of the list')}"><a class="step next" rel="next" href="${next_url}">${_("Next")} →</a></nav>
% endif
% else:
<section class="empty"><h2>${_("No clusters")}</h2><p>${_("This method finds no variants in this field.")}</p></section>
% endif
