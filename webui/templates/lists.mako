## Lists of records and of values, shared by the pages that find records.
<%namespace name="parts" file="parts.mako"/>

<%def name="rows(lines)">
<ol class="records">
% for line in lines:
  <li${gone(line.row.deleted)}>
    <h2><a href="${line.url}" dir="auto">${line.row.title or line.row.identifier}</a></h2>
    <div class="under">
      <span class="id" dir="ltr">${line.row.identifier}</span>
      <span class="on">${parts.date(line.row.datestamp)}</span>
% if line.row.versions > 1:
      <span class="on">${counted("{n} version", "{n} versions", line.row.versions)}</span>
% endif
% for title, values in line.columns:
      <span class="on" dir="auto">${title}: ${", ".join(values)}</span>
% endfor
${parts.badges(line.row.deleted, line.row.curated, line.row.upstream_newer)}
% if line.sets:
      <ul class="sets" aria-label="${_('Sets')}">
% for set_ in line.sets[:4]:
        <li><a href="${set_.url}" dir="auto">${set_.name}</a></li>
% endfor
% if len(line.sets) > 4:
        <li class="more">${_("and {n} more", n=len(line.sets) - 4)}</li>
% endif
      </ul>
% endif
    </div>
  </li>
% endfor
</ol>
</%def>

<%def name="choices(values)">
    <ul class="choices">
% for one in values:
      <li><a href="${one.url}"${chosen(one.is_chosen)}><span dir="auto">${one.label}</span> <span class="number">${f"{one.count:,}"}</span></a></li>
% endfor
    </ul>
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
