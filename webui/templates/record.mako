<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="compared" file="compared.mako"/>
<%namespace name="contributed" file="panels.mako"/>
<%namespace name="rename" file="rename_parts.mako"/>
<%!
  import json
  from webui.words import dates
  from webui.people.roles import Role
%>
<%def name="title()">${view.title}</%def>
<%def name="head()">${rename.script()}</%def>
<% shown, current = view.shown, view.current %>
${parts.done(done)}
% if results:
<nav class="crumbs results" aria-label="${_('Results of the search')}">
  <a href="${results.url}">← ${_("Results")}</a>
% if results.place:
  <span class="place">${_("{n} of {total}", n=numeral(results.place), total=numeral(results.total))}</span>
% endif
% if results.previous_url:
  <a rel="prev" href="${results.previous_url}">${_("Previous")}</a>
% endif
% if results.next_url:
  <a rel="next" href="${results.next_url}">${_("Next")}</a>
% endif
</nav>
% else:
<p class="crumbs"><a href="${urls.search()}">← ${_("Records")}</a></p>
% endif

<header class="heading record">
% if view.titles:
% for title in view.titles[:1]:
  <h1 dir="auto"${parts.lang(title.lang)}>${title.text}</h1>
${found(title)}
% endfor
% for title in view.titles[1:]:
  <p class="subtitle" dir="auto"${parts.lang(title.lang)}>${title.text}</p>
% endfor
% else:
  <h1 class="id">${view.identifier}</h1>
% endif
  <p class="under">
    <span class="id" dir="ltr">${view.identifier}</span>
    <span class="on">${parts.date(shown.made or shown.date)}</span>
${parts.badges(view.deleted, current.curated, view.upstream_newer)}
  </p>
% if user.may(Role.CURATOR) and view.can_be_edited:
  <p class="act at-once">\
% if shown.curated:
<a class="button filled" href="${urls.version(view.identifier, shown.name, 'edit', **{'from': came_from})}">${_("Edit the description")}</a>\
% elif view.working_copy:
<a class="button filled" href="${view.working_copy.url}">${_("Open {name}", name=view.working_copy.name)}</a>\
% elif shown.is_current:
<button type="submit" form="curate-form">${_("Curate")}</button>\
% endif
</p>
% endif
</header>

% if view.damages:
<div class="note fault">
  <p><strong>${counted("{n} file of this version is damaged.", "{n} files of this version are damaged.", len(view.damages))}</strong></p>
  <ul class="plain">
% for one in view.damages:
    <li><code dir="auto">${one.path}</code> ${one.known}</li>
% endfor
  </ul>
% if view.is_frozen:
  <p>${_("What this page shows of the version may be wrong, so it cannot be edited. Restore its files from a backup. If there is none, delete the record, and harvest it again on the server:")} <code>silo harvest --restore-removed</code></p>
% else:
  <p>${_("A program other than silo changed or lost them. Restore them from a backup, or keep what is there now, on the server:")} <code>silo accept</code></p>
% endif
  <p>${_("An audit finds all damaged files of this Silo.")}\
% if user.may(Role.MANAGER):
 <a href="${urls.new_job('audit')}">${_("Audit")}</a>\
% endif
</p>
</div>
% endif

% if view.deleted:
<p class="note">\
% if view.deleted_at:
${_("The repository deleted this record on {date}.", date=dates.for_people(view.deleted_at))}
% else:
${_("The repository deleted this record.")}
% endif
% if view.is_held:
${_("This Silo keeps its earlier versions.")}
% else:
${_("It was deleted before the first harvest, so this Silo has no earlier version.")}
% endif
</p>
% endif
% if view.upstream_newer:
<p class="note">${_("The source has changed since this version was edited. The newest harvested version is below; your edits are unchanged.")}
<a href="${urls.upstream(view.identifier)}">${_("Decide")}</a></p>
% endif
% if not shown.is_current:
<p class="note">${_("This is version {name}.", name=shown.name)} <a href="${current.url}">${_("Go to the current version, {name}", name=current.name)}</a></p>
% endif

<div class="columns">
<div class="content">

% if changes is not None:
<section class="changes" aria-labelledby="changes">
  <h2 id="changes">${_("Changed since version {name}", name=changes.before)}</h2>
% if not changes:
  <p class="empty-line">${_("No changes: this version is as it was harvested.")}</p>
% endif
% for file in changes.files:
% if file.fields:
${compared.fields(file.fields)}
% else:
  <p><span class="id">${file.difference.path}</span> <span class="badge plain">${_(file.difference.change)}</span></p>
% endif
% endfor
  <p class="more"><a href="${urls.differences(view.identifier, changes.before, changes.after)}">${_("All differences")}</a></p>
</section>
% endif

<section aria-labelledby="description">
  <h2 id="description" class="unseen">${_("Description")}</h2>
% if view.missing:
  <p class="findings">\
% for one in view.missing:
${finding(one)} \
% endfor
</p>
% endif
% if view.fields:
  <dl class="fields">
% for field in view.fields:
    <div class="${field.name}">
      <dt>${field.label}</dt>
% for v in field.values:
% if field.name == "descriptions":
      ${parts.paragraph(v)}
% if v.findings:
      <dd>${found(v)}</dd>
% endif
% else:
      <dd>${told(v)}${found(v)}\
% if shown.is_current:
${rename.link(v.rename_url, v.text)}\
% endif
</dd>
% endif
% endfor
    </div>
% endfor
  </dl>
${rename.inline()}
% elif view.deleted and not view.files:
  <p class="empty-line">${_("This version has no fields to show.")}</p>
% else:
  <p class="empty-line">${_("No description can be read from the files of this version.")}</p>
% endif
</section>

% if view.previews or view.documents:
<section class="previews" aria-labelledby="images">
  <h2 id="images">${_("Images")}</h2>
% for file in view.previews:
  <a href="${urls.look(view.identifier, shown.name, file.path)}"><img src="${file.url}" alt="${file.path}" loading="lazy"></a>
% endfor
% for file in view.documents:
  <a href="${urls.look(view.identifier, shown.name, file.path)}"><img src="${urls.picture(view.identifier, shown.name, file.path, width=240)}" alt="${file.path}" loading="lazy"></a>
% endfor
</section>
% endif

<section id="files" aria-labelledby="files-heading">
  <h2 id="files-heading">${_("Files in version {name}", name=shown.name)}</h2>
% if view.files:
  <ul class="files">
% for file in view.files:
    <li>
      <div class="file">
        <a class="name" href="${file.url}" dir="auto">${file.path}</a>
% if file.metadata:
        <span class="badge plain">${_("metadata")}</span>
% endif
% if file.size is not None:
        <span class="size">${human_size(file.size)}</span>
        <span class="size">${file.kind}</span>
% endif
% if file.is_seen:
        <a class="look" href="${urls.look(view.identifier, shown.name, file.path)}">${_("Look")}<span class="unseen"> ${file.path}</span></a>
% endif
      </div>
% if file.fault:
      <p class="fault">${_("Cannot be read: {reason}.", reason=file.fault)}</p>
% endif
% if file.sha256:
      <p class="digest"><span>SHA-256</span> <code>${file.sha256}</code></p>
% endif
% if shown.curated and user.may(Role.CURATOR):
      <p class="acts">
% if file.metadata:
        <a href="${urls.version(view.identifier, shown.name, 'edit-xml', path=file.path)}">${_("Edit as XML")}<span class="unseen"> ${file.path}</span></a>
% endif
        <a href="${urls.version(view.identifier, shown.name, 'rename-file', path=file.path)}">${_("Rename")}<span class="unseen"> ${file.path}</span></a>
        <a class="danger" href="${urls.version(view.identifier, shown.name, 'delete-file', path=file.path)}">${_("Delete")}<span class="unseen"> ${file.path}</span></a>
      </p>
% endif
    </li>
% endfor
  </ul>
% else:
  <p class="empty-line">${_("This version has no files.")}</p>
% endif
% if shown.curated and user.may(Role.CURATOR):
  <p><a class="button" href="${urls.files(view.identifier, shown.name)}">${_("Add a file")}</a></p>
% elif not shown.curated:
  <p class="hint">${_("Harvested versions cannot be changed. Create a copy to edit.")}</p>
% endif
</section>

% for panel in panels:
${contributed.panel(panel)}
% endfor

<section aria-labelledby="raw">
  <h2 id="raw">${_("As stored")}</h2>
% for xml in view.xml:
  <details>
    <summary>${xml.path}</summary>
${parts.xml(xml.pieces, xml.path)}
  </details>
% endfor
  <details>
    <summary>${_("Metadata of the record (JSON)")}</summary>
    <pre tabindex="0" dir="ltr" aria-label="${_('Metadata of the record')}"><code>${json.dumps(view.metadata, ensure_ascii=False, indent=2)}</code></pre>
  </details>
</section>
</div>

<aside aria-label="${_('About this record')}">
% if user.may(Role.CURATOR):
<section class="card curate" aria-labelledby="curate">
  <h2 id="curate">${_("Curate")}</h2>
% if shown.curated:
% if all(version.curated for version in view.versions):
  <p>${_("This record was made here, so no harvested version exists.")}</p>
% else:
  <p>${_("You are editing a copy. The harvested version stays as it is.")}</p>
% endif
% if view.can_be_edited:
  <p class="act beside"><a class="button filled" href="${urls.version(view.identifier, shown.name, 'edit', **{'from': came_from})}">${_("Edit the description")}</a></p>
% endif
${copy_form(view, shown, clone_name)}
% elif view.working_copy:
  <p>${_("This record has a working copy.")}</p>
  <p class="act${' beside' if view.can_be_edited else ''}"><a class="button filled" href="${view.working_copy.url}">${_("Open {name}", name=view.working_copy.name)}</a></p>
${copy_form(view, shown, clone_name)}
% else:
% if not view.damages:
  <p>${_("Create a copy to edit. The harvested version does not change.")}</p>
% endif
% if view.can_be_edited and shown.is_current:
  <form id="curate-form" action="${urls.record(view.identifier)}/curate" method="post">
    <input type="hidden" name="if_match" value="${view.revision}">
    <input type="hidden" name="from" value="${came_from}">
    <p class="act beside"><button type="submit">${_("Curate")}</button></p>
  </form>
${copy_form(view, shown, clone_name)}
% elif not view.damages:
${clone_form(view, shown, clone_name)}
% endif
% endif
  <ul class="acts">
    <li><a href="${urls.versions(view.identifier)}">${_("New empty version")}</a></li>
% if shown.curated:
    <li><a href="${urls.version(view.identifier, shown.name, 'rename')}">${_("Rename version {name}", name=shown.name)}</a></li>
    <li><a class="danger" href="${urls.version(view.identifier, shown.name, 'delete')}">${_("Delete version {name}", name=shown.name)}</a></li>
% endif
% if user.may(Role.MANAGER):
    <li><a class="danger" href="${urls.delete_record(view.identifier)}">${_("Delete record")}</a></li>
% endif
  </ul>
</section>
% endif

<section class="card" aria-labelledby="versions">
  <h2 id="versions">${_("Versions")}</h2>
  <ol class="timeline" reversed>
% for version in reversed(view.versions):
    <li class="${'curated' if version.curated else 'harvested'}">
      <p class="name"><a href="${version.url}"${here(version is shown)}>${version.name}</a>
% if version.is_current:
        <span class="badge plain">${_("current")}</span>
% endif
% if version.state:
        <span class="badge curated">${_(version.state)}</span>
% endif
      </p>
      <p class="what">${version.origin}\
% if version.kind == "harvest" and version.prefixes:
 ${_("as {formats}", formats=", ".join(version.prefixes))}\
% endif
% if version.agent:
 ${_("by {name}", name=version.agent)}\
% endif
</p>
      <p class="when">${parts.date(version.made or version.date)}</p>
% if version.datestamp:
      <p class="when">${_("datestamp of the source:")} ${parts.date(version.datestamp)}</p>
% endif
% if version.message and version.curated:
      <p class="why" dir="auto">“${version.message}”</p>
% elif version.message:
      <p class="when" dir="auto">${version.message}</p>
% endif
% if version.kind == "harvest" and version.made:
      <p class="when"><a href="${urls.version(view.identifier, version.name, 'source')}">${_("Harvest and response")}<span class="unseen"> ${_("of version {name}", name=version.name)}</span></a></p>
% endif
% if version.log:
      <details>
        <summary>${_("Log")} (${len(version.log)})</summary>
        <ul class="log">
% for line in version.log:
          <li dir="auto">${line}</li>
% endfor
        </ul>
      </details>
% endif
    </li>
% endfor
  </ol>
% if len(view.versions) > 1:
  <p class="act"><a href="${urls.differences(view.identifier, '', shown.name)}">${_("Compare versions")}</a></p>
% endif
</section>

% if citation:
<section class="card" aria-labelledby="cite">
  <h2 id="cite">${_("Cite")}</h2>
  <p id="citation" dir="auto">${citation}</p>
  <ul class="acts">
    <li><button type="button" class="quiet" data-copy="citation" data-copied="${_('Copied')}" hidden>${_("Copy")}</button></li>
    <li><a href="${urls.citation(view.identifier)}.bib" download>${_("BibTeX")}</a></li>
    <li><a href="${urls.twin(urls.citation(view.identifier))}" download>${_("CSL JSON")}</a></li>
  </ul>
</section>
% endif

% if links:
<section class="card" aria-labelledby="links">
  <h2 id="links">${_("Links")}</h2>
  <ul class="links">
% for link in links:
    <li><a class="${'whole' if link.href == link.text else 'named'}" href="${link.href}" rel="noopener noreferrer" dir="auto">${link.text}</a></li>
% endfor
  </ul>
</section>
% endif

% if view.sets:
<section class="card" aria-labelledby="sets">
  <h2 id="sets">${_("Sets")}</h2>
  <ul class="sets">
% for set_ in view.sets:
    <li><a href="${set_.url}" dir="auto">${set_.name}</a></li>
% endfor
  </ul>
</section>
% endif

% if siblings:
<section class="card" aria-labelledby="siblings">
  <h2 id="siblings">${_("Neighbouring records in {set}", set=siblings.name)}</h2>
  <ul class="links">
% for line in siblings.rows:
    <li><a href="${line.url}" dir="auto">${line.row.title or line.row.identifier}</a></li>
% endfor
  </ul>
</section>
% endif
</aside>
</div>
<%def name="told(v)">\
% if v.search_url:
<a href="${v.search_url}" dir="auto"${parts.lang(v.lang)}>${v.text}</a>\
% if v.href:
 <a class="out" href="${v.href}" rel="noopener noreferrer" title="${v.href}"><span aria-hidden="true">↗</span><span class="unseen">${_("Open {address}", address=v.href)}</span></a>\
% endif
% else:
${parts.value(v)}\
% endif
</%def>
<%def name="found(v)">\
% for one in v.findings:
 ${finding(one)}\
% endfor
</%def>
<%def name="finding(one)">\
<span class="badge finding">${one.said}</span>\
% if user.may(Role.CURATOR) and view.shown.is_current and view.can_be_edited:
% if view.shown.curated:
 <a href="${urls.version(view.identifier, view.shown.name, 'edit', **{'at': one.code, 'from': came_from})}">${_("Correct")}<span class="unseen"> (${one.said})</span></a>\
% elif not view.working_copy:
 <button form="curate-form" class="plain" name="at" value="${one.code}">${_("Correct")}<span class="unseen"> (${one.said})</span></button>\
% endif
% endif
</%def>
<%def name="here(yes)">\
% if yes:
 aria-current="true"\
% endif
</%def>
<%def name="copy_form(view, shown, clone_name)">
% if not view.damages:
  <details>
    <summary>${_("Copy version {name}", name=shown.name)}</summary>
${clone_form(view, shown, clone_name)}
  </details>
% endif
</%def>
<%def name="clone_form(view, shown, clone_name)">
  <form action="${urls.versions(view.identifier)}" method="post">
    <input type="hidden" name="if_match" value="${view.revision}">
    <input type="hidden" name="clone_of" value="${shown.name}">
    <p>
      <label for="name">${_("Name of the copy of version {name}", name=shown.name)}</label>
      <input id="name" name="name" type="text" value="${clone_name}" required autocomplete="off" spellcheck="false">
    </p>
    <p>
      <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
      <input id="message" name="message" type="text" autocomplete="off">
    </p>
    <p class="act"><button type="submit">${_("Create copy")}</button></p>
  </form>
</%def>
