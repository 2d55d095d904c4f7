<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="facets" file="facets.mako"/>
<%namespace name="rename" file="rename_parts.mako"/>
<%namespace name="bars" file="selection_bar.mako"/>
<%namespace name="first" file="first_harvest.mako"/>
<%namespace name="queues" file="queue.mako"/>
<%def name="title()">${_("Records")}</%def>
<%def name="head()"><link rel="alternate" type="application/atom+xml" title="${_('Feed (Atom)')}" href="${feed_url}">
<script src="${static_url('selection.js')}" defer></script>
  <script src="${static_url('found.js')}" defer></script>
${rename.script()}</%def>
<%def name="skips()"><a class="skip" href="#filters">${_("Skip to the filters")}</a></%def>
<% request = page.request %>
${parts.done(done)}
<div class="heading narrow">
  <h1>${_("Records")}</h1>
  <p class="count" role="status">${counted("{n} record", "{n} records", page.total)}</p>
${actions()}
</div>

<form class="search list" action="${urls.search()}" method="get" aria-label="${_('Search the records')}">
  <p class="words">
    <label for="q" class="unseen">${_("Search titles, people, subjects, or paste an identifier")}</label>
    <input id="q" name="q" type="search" value="${request.q}" placeholder="${_('Search titles, people, subjects, or paste an identifier')}" autocomplete="off" spellcheck="false" dir="auto" aria-describedby="q-hint" data-suggest="${urls.search(action='suggestions')}" data-label="${_('Suggestions')}">
  </p>
  <p>
    <label for="sort" class="unseen">${_("Order")}</label>
    <select id="sort" name="sort">
% for value, label in sorts:
      <option value="${"" if loop.first else value}"${lists.selected(value == request.sort)}>${label}</option>
% endfor
    </select>
  </p>
  <p class="act"><button type="submit">${_("Search")}</button></p>
  <details class="options"${lists.opened(request.since or request.until)}>
    <summary>${_("More options")}</summary>
    <div>
    <p>
      <label for="since">${_("Changed since")}</label>
      <input id="since" name="since" type="date" value="${request.since[:10]}">
    </p>
    <p>
      <label for="until">${_("Changed until")}</label>
      <input id="until" name="until" type="date" value="${request.until[:10]}">
    </p>
    <p>
      <label for="limit">${_("Per page")}</label>
      <select id="limit" name="limit">
% for size in sorted({*page_sizes, request.limit}):
        <option value="${size}"${lists.selected(size == request.limit)}>${size}</option>
% endfor
      </select>
    </p>
    </div>
    <p id="q-hint">${_("Words: “a phrase”, begin*, title:word, -without, one OR other. An identifier or a DOI leads to its record; in quotation marks, it is searched for.")}</p>
  </details>
${lists.hidden(request.chosen)}
${lists.hidden([pair for pair in request.pairs if pair[0] == "by"])}
</form>

${facets.chips(page.chosen)}
% if may_change and page.total and any(name == "finding" for name, _value in request.chosen):
<div class="act"><a class="button filled" href="${urls.queue(request.asked)}">${_("Correct one by one")}</a>
% if repairable:
${queues.repair(repairable, request_query)}
% endif
</div>
% endif
% if not page.rows:
${facets.opener(len(request.chosen))}
% endif

<div class="columns results${' wide' if look.is_table else ''}">
<div class="content">
% if page.rows:
<div class="tools">
${bars.bar(selection, request.own_url, page.next_url, request_query, page.total, page.rows)}
${facets.opener(len(request.chosen))}
${view_menu()}
</div>
<div class="with-preview">
<div class="found" id="found">
% if look.is_table:
${found_table()}
% else:
${lists.rows(page.rows, selection, look.look == "compact", words)}
% endif
</div>
<aside class="preview" id="preview" hidden aria-label="${_('Preview')}" data-failed="${_('The record cannot be shown; open it.')}">
  <p class="close"><button type="button" class="quiet">${_("Close")}</button></p>
  <div aria-live="polite"></div>
</aside>
</div>
% elif request.is_everything:
${first.harvest(may_harvest, base_url)}
% else:
<section class="empty">
  <h2>${_("No records found")}</h2>
% if page.nothing.meant:
  <p class="meant">${_("Did you mean")} <a href="${page.nothing.meant.url}" dir="auto">${page.nothing.meant.label}</a> (${counted("{n} record", "{n} records", page.nothing.meant.total)})</p>
% endif
% for remark in page.nothing.remarks:
  <p class="note" dir="auto">${remark}</p>
% endfor
% if page.nothing.wider:
  <p id="wider">${_("Remove one of these, to find:")}</p>
  <ul class="wider" aria-labelledby="wider">
% for one in page.nothing.wider:
    <li><a href="${one.url}" dir="auto">${one.label} <span aria-hidden="true">×</span></a> <span class="number">${counted("{n} record", "{n} records", one.total)}</span></li>
% endfor
  </ul>
% endif
  <p>${_("To find more, search for the beginning of a word: photo* finds photography.")} <a href="${urls.search()}">${_("Show all records")}</a></p>
</section>
% endif
${lists.steps(_("Pages of the result"), request.url() if request.after else "", page.previous_url, page.next_url)}
</div>

<div class="side" id="filters" tabindex="-1">
${facets.column(page.facets, request)}
</div>
</div>

<%def name="actions()">
<div class="offered">
% if may_change and page.total:
  <a class="batch" href="${urls.bulk(request_query)}">${_("Batch edit")}</a>
% endif
  <details class="menu" id="keep">
    <summary>${_("Actions")}</summary>
    <div class="sheet">
% if may_change and not request.is_everything:
    <form action="${urls.searches()}" method="post">
      <input type="hidden" name="search" value="${request_query}">
      <label for="keep-title">${_("Name of the search")}</label>
      <input id="keep-title" name="title" type="text" required autocomplete="off" dir="auto">
      <button type="submit" class="quiet">${_("Save search")}</button>
    </form>
% endif
    <ul class="acts">
% if may_change and page.total:
      <li><a href="${urls.bulk(request_query)}">${_("Batch edit")}</a></li>
      <li><a href="${urls.with_search(urls.sheet(), request_query)}">${_("Edit in a spreadsheet")}</a></li>
      <li><a href="${urls.queue(request.asked)}">${_("Edit one by one")}</a></li>
% endif
% for one in offered if page.total else ():
      <li><a href="${urls.with_search(one.url, request_query)}">${_(one.label)}</a></li>
% endfor
% for label, url in downloads.items() if page.total else ():
      <li><a href="${url}" download>${_("Download: {form}", form=label)}</a></li>
% endfor
      <li><a href="${feed_url}">${_("Feed (Atom)")}</a></li>
% if page.total:
      <li><a href="${urls.with_search(urls.search(action='fields'), request_query)}">${_("Facet any field")}</a></li>
% endif
      <li><a href="${urls.searches()}">${_("Saved searches")}</a></li>
% if saved and may_change:
      <li><a href="${urls.collection(saved, 'edit')}">${_("Make a collection")}</a></li>
% endif
    </ul>
% if may_change:
    <details>
      <summary>${_("New record")}</summary>
      <form action="${urls.records()}" method="post">
        <label for="new-id">${_("Identifier")}</label>
        <input id="new-id" name="id" type="text" required autocomplete="off" spellcheck="false" dir="auto">
        <button type="submit" class="quiet">${_("Create record")}</button>
      </form>
    </details>
% endif
% if page.total and selection.exports:
    <details>
      <summary>${_("Export as a job")}</summary>
      <ul class="acts">
% for one in selection.exports:
        <li><a href="${urls.export(one.form, request_query, one.place)}">${one.label}</a></li>
% endfor
      </ul>
    </details>
% endif
    </div>
  </details>
</div>
</%def>

<%def name="view_menu()">
<details class="menu look"${lists.opened(view_is_open)}>
  <summary>${_("View")}</summary>
  <div class="sheet">
  <form id="look" action="${urls.search(action='look')}" method="post">
    <button class="unseen" tabindex="-1" aria-hidden="true">${_("Change view")}</button>
    <input type="hidden" name="search" value="${request.way_back}">
    <fieldset>
      <legend class="unseen">${_("View")}</legend>
% for value, label in (("list", _("List")), ("compact", _("Compact list")), ("table", _("Table with these columns:"))):
      <label><input type="radio" name="look" value="${value}"${" checked" if value == look.look else ""}> ${label}</label>
% endfor
    </fieldset>
    <fieldset class="columns-chosen">
      <legend class="unseen">${_("Columns")}</legend>
      <ol data-sortable>
% for name in look.offered:
        <li>
          <label><input type="checkbox" name="column-${name}" value="yes"${" checked" if name in look.columns else ""}> ${column_label(name)}</label>
% if name in look.widths:
          <input type="hidden" name="width-${name}" value="${look.widths[name]}">
% endif
% if name in look.columns:
          <span class="moves">
            <button class="quiet" name="move" value="${name}.left" title="${_('Move to the left')}"><span aria-hidden="true">←</span><span class="unseen">${_("Move to the left")}: ${column_label(name)}</span></button>
            <button class="quiet" name="move" value="${name}.right" title="${_('Move to the right')}"><span aria-hidden="true">→</span><span class="unseen">${_("Move to the right")}: ${column_label(name)}</span></button>
          </span>
% endif
        </li>
% endfor
      </ol>
    </fieldset>
    <p class="act"><button type="submit" class="quiet">${_("Change view")}</button></p>
  </form>
  </div>
</details>
</%def>

<%def name="found_table()">
<p class="sideways" hidden>${_("The table is wider than the window; scroll it sideways.")}</p>
<div class="scroll" tabindex="0" role="region" aria-label="${_('Records')}">
<table class="found-table">
  <colgroup>
    <col class="c-pick">
% for head in heads:
    <col class="c-${head.name}" data-column="${head.name}"${wide(head.width)}>
% endfor
  </colgroup>
  <thead><tr>
    <th scope="col"><span class="unseen">${_("Selected")}</span></th>
% for head in heads:
    <th scope="col" data-column="${head.name}" data-grip="${_('Width of {column}', column=head.label)}"${sorted_as(head.sort)}>\
% if head.next_sort:
<a href="${sort_url(head.next_sort)}">${head.label}</a>\
% else:
${head.label}\
% endif
</th>
% endfor
  </tr></thead>
  <tbody>
% for line in page.rows:
    <tr${lists.row_data(line)}${lists.gone(line.row.deleted)}>
      <td class="tick">${bars.tick(loop.index, line.row, selection)}</td>
% for head in heads:
${cell(cells(line, head.name), line.row if loop.first else None)}
% endfor
    </tr>
% endfor
  </tbody>
</table>
</div>
</%def>

<%def name="cell(some, row)">\
      <td title="${'; '.join(one.text for one in some)}">\
% if row:
<div class="first"><span>${texts(some)}</span>${parts.badges(row.deleted, row.curated, row.upstream_newer)}</div>\
% else:
${texts(some)}\
% endif
</td>\
</%def>

<%def name="texts(some)">\
% for one in some:
% if one.url:
<a href="${one.url}" dir="auto">${one.text}</a>\
% else:
<span dir="auto">${one.text}</span>\
% endif
${"" if loop.last else "; "}\
% endfor
</%def>

<%def name="wide(pixels)">\
% if pixels:
 data-width="${pixels}"\
% endif
</%def>

<%def name="sorted_as(order)">\
% if order:
 aria-sort="${order}"\
% endif
</%def>
