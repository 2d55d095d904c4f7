<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="compared" file="compared.mako"/>
<%def name="title()">${_("Differences")} · ${view.title}</%def>
<p class="crumbs"><a href="${urls.record(view.identifier)}">← <bdi class="id">${view.identifier}</bdi></a></p>
<header class="heading record">
  <h1>${_("Differences")}</h1>
  <p class="subtitle" dir="auto">${view.title}</p>
</header>
<form class="search" action="${urls.record(view.identifier)}/differences" method="get" aria-label="${_('Versions to compare')}">
${choice("before", _("Before"), found.before)}
${choice("after", _("After"), found.after)}
  <p class="act"><button type="submit">${_("Compare")}</button></p>
</form>
% if not found:
<section class="empty"><h2>${_("No differences")}</h2><p>${_("Both versions have the same files with the same content.")}</p></section>
% endif
% for file in found.files:
<section class="compared-file" aria-labelledby="file-${loop.index}">
  <h2 id="file-${loop.index}"><span class="id">${file.difference.path}</span> <span class="badge plain">${_(file.difference.change)}</span></h2>
% if file.fields:
${compared.fields(file.fields)}
% elif file.difference.form == "xml":
  <p class="empty-line">${_("The fields are identical.")}</p>
% endif
% if file.lines:
  <details${lists.opened(not file.fields)}>
    <summary>${_("Line by line")}</summary>
${compared.lines(file)}
  </details>
% elif file.difference.form == "xml":
  <p class="empty-line">${_("The content is identical; only the XML formatting differs.")}</p>
% elif file.difference.form in ("binary", "large"):
  <p class="empty-line">${_("Compared only by size and checksum.")}</p>
% endif
% if file.difference.change == "changed":
  <p class="hint">${human_size(file.difference.before.size)} → ${human_size(file.difference.after.size)}</p>
% endif
</section>
% endfor
<%def name="choice(name, label, chosen)">
  <p>
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
% for version in view.versions:
      <option value="${version.name}"${lists.selected(version.name == chosen)}>${version.name} · ${version.origin}</option>
% endfor
    </select>
  </p>
</%def>
