## Lists of records and of values, shared by the pages that find records.
<%namespace name="parts" file="parts.mako"/>
<%namespace name="bars" file="selection_bar.mako"/>

<%def name="rows(lines, selection=None, compact=False, words=None)">
<ol class="records${" picked" if selection else ""}${" compact" if compact else ""}">
% for line in lines:
  <li${row_data(line)}${gone(line.row.deleted)}>
% if selection:
    ${bars.tick(loop.index, line.row, selection)}
% endif
    <h2><a href="${line.url}" dir="auto">\
% if words and line.row.title:
${marked(words.title(line.row.title))}\
% else:
${line.row.title or line.row.identifier}\
% endif
</a></h2>
${creators(line.described.creators)}\
    <p class="what">
% if line.described.year:
      <span>${line.described.year}</span>
% endif
% for value in (*line.described.values.get("type", ())[:1], *line.described.values.get("publisher", ())[:1]):
      <span dir="auto">${value}</span>
% endfor
% if line.row.versions > 1:
      <span>${counted("{n} version", "{n} versions", line.row.versions)}</span>
% endif
${parts.badges(line.row.deleted, line.row.curated, line.row.upstream_newer)}
% if line.unreadable:
      <span class="badge deleted">${_("Cannot be read")}</span>
% endif
    </p>
<% snippet = words.snippet(line.row.identifier, line.row.title) if words else () %>\
% if snippet:
    <p class="snippet" dir="auto">${marked(snippet)}</p>
% endif
    <details class="under">
      <summary><span class="id" dir="ltr">${line.row.identifier}</span></summary>
      <p>${_("Datestamp")} ${parts.date(line.row.datestamp)}</p>
% for title, values in line.columns:
      <p dir="auto">${title}: ${", ".join(values)}</p>
% endfor
% if line.sets:
      <ul class="sets" aria-label="${_('Sets')}">
% for set_ in line.sets:
        <li><a href="${set_.url}" dir="auto">${set_.name}</a></li>
% endfor
      </ul>
% endif
    </details>
  </li>
% endfor
</ol>
</%def>

<%def name="marked(pieces)">\
% for text, is_found in pieces:
% if is_found:
<mark>${text}</mark>\
% else:
${text}\
% endif
% endfor
</%def>

## What the keys of a list need to know of a row.
<%def name="row_data(line)">\
 data-url="${line.url}"\
% if may_change and line.row.curated:
 data-edit="${urls.version(line.row.identifier, line.row.current_version, 'edit')}"\
% elif may_change and not line.row.deleted:
 data-queue="${urls.queue_record(line.row.identifier)}"\
% endif
</%def>

<%def name="creators(names)">
% if names:
    <p class="by" dir="auto">\
% for name in names[:3]:
<span dir="auto">${name}</span>${"" if loop.last else "; "}\
% endfor
% if len(names) > 3:
 ${counted("and {n} more", "and {n} more", len(names) - 3)}\
% endif
</p>
% endif
</%def>

<%def name="hidden(pairs)">
% for name, value in pairs:
  <input type="hidden" name="${name}" value="${value}">
% endfor
</%def>

<%def name="selected(yes)">${" selected" if yes else ""}</%def>
<%def name="opened(yes)">${" open" if yes else ""}</%def>
<%def name="chosen(yes)">\
% if yes:
 aria-current="true"\
% endif
</%def>
<%def name="gone(yes)">\
% if yes:
 class="gone"\
% endif
</%def>

<%def name="steps(label, first='', previous='', following='')">
% if first or previous or following:
<nav class="pages" aria-label="${label}">
% if first:
  <a class="step" href="${first}">${_("First page")}</a>
% endif
% if previous:
  <a class="step" rel="prev" href="${previous}">← ${_("Previous")}</a>
% endif
% if following:
  <a class="step next" rel="next" href="${following}">${_("Next")} →</a>
% endif
</nav>
% endif
</%def>
