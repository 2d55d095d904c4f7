<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%def name="title()">${_("Clusters")}</%def>
${parts.done(done)}
<div class="heading">
  <h1>${_("Clusters")}</h1>
  <p class="count" role="status">${counted("{n} cluster", "{n} clusters", total)}</p>
</div>
<p class="hint">${_("Probable variants of one value. Make a rule that merges them, and preview it before you apply it.")}
% if may_change:
${_("Ticked: values that differ only in case, spaces or punctuation.")} ${_("Tick others if you are sure. Be careful with initials, numbers and short values.")}\
% endif
</p>
<form class="search" action="${urls.clusters()}" method="get" aria-label="${_('Find clusters')}">
  <p>
    <label for="field">${_("Field")}</label>
    <select id="field" name="field">
      <option value="">${_("All fields")}</option>
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
  <p class="distance">
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
<p class="act"><a class="button filled" href="${begin}">${_("Decide one by one")}</a></p>
<form class="edit" action="${urls.clusters()}" method="post">
  ${asked()}
% else:
<div class="edit">
% endif
<div class="clusters">
% for number, one in clusters:
<% values = one.cluster.values %>
  <fieldset class="card">
    <legend>${start + number + 1}. <span dir="auto">${values[0][0]}</span> <small>${field_label(one.field)}</small></legend>
% if may_change:
    <input type="hidden" name="field-${number}" value="${one.field}">
    <p class="merge">
      <button type="submit" class="quiet" name="do" value="merge-${number}">${_("Merge")}<span class="unseen"> ${values[0][0]}</span></button>
      <button type="submit" class="quiet" name="do" value="ignore-${one.key}">${_("Ignore")}<span class="unseen"> ${values[0][0]}</span></button>
    </p>
% endif
    <ul class="plain">
${listed(number, one, 0, shown)}
    </ul>
% if len(values) > shown:
    <details>
      <summary>${counted("and {n} more", "and {n} more", len(values) - shown)}</summary>
      <ul class="plain">
${listed(number, one, shown, len(values))}
      </ul>
    </details>
% endif
% if may_change:
    <p class="into">
      <label for="to-${number}">${_("Merge into")}</label>
      <input id="to-${number}" name="to-${number}" type="text" value="${values[0][0]}" dir="auto" autocomplete="off">
    </p>
% endif
  </fieldset>
% endfor
</div>
% if may_change:
  <div class="savebar"><p class="act"><button type="submit" name="do" value="merge">${_("Merge all ticked on this page")}</button>
% if has_usage:
  <button type="submit" class="quiet" name="do" value="same">${_("Count as one in the usage")}</button>
% endif
  </p></div>
</form>
% else:
</div>
% endif
${lists.steps(_("Pages of the list"), first_url, "", next_url)}
% else:
<section class="empty"><h2>${_("No clusters")}</h2><p>${_("This method finds no variants.")}</p></section>
% endif
% if ruled_out:
<details class="card">
  <summary>${counted("{n} ignored cluster", "{n} ignored clusters", len(ruled_out))}</summary>
% if may_change:
  <form action="${urls.clusters()}" method="post">
  ${asked()}
% endif
  <ul class="plain">
% for one in ruled_out:
    <li><span dir="auto">${" · ".join(one.values)}</span> <small>${field_label(one.field)}, ${one.agent}</small>
% if may_change:
      <button type="submit" class="quiet" name="do" value="restore-${one.key}">${_("Show again")}<span class="unseen"> ${one.values[0]}</span></button>
% endif
    </li>
% endfor
  </ul>
% if may_change:
  </form>
% endif
</details>
% endif

<%def name="asked()">
  <input type="hidden" name="field" value="${field}">
  <input type="hidden" name="method" value="${method}">
  <input type="hidden" name="distance" value="${distance}">
</%def>
<%def name="listed(number, one, start, end)">
<% certain = one.cluster.certain %>
% for place, (value, count) in enumerate(one.cluster.values[start:end], start):
% if may_change:
      <li class="tick">
        <input id="value-${number}-${place}" name="value-${number}-${place}" type="checkbox" value="${value}"${" checked" if value in certain else ""}>
        <label for="value-${number}-${place}" dir="auto">${value}</label>
        <small>${records(one.field, value, count)}</small>
      </li>
% else:
      <li><span dir="auto">${value}</span> <small>${records(one.field, value, count)}</small></li>
% endif
% endfor
</%def>
<%def name="records(name, value, count)">\
<a href="${urls.search([(name, value)])}">${counted("{n} record", "{n} records", count)}<span class="unseen"> ${value}</span></a>\
</%def>
