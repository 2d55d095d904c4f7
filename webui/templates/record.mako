<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="compared" file="compared.mako"/>
<%! import json %>
<%def name="title()">${view.title}</%def>
<% shown, current = view.shown, view.current %>
${parts.done(done)}
<p class="crumbs"><a href="${urls.records(**{'from': view.identifier})}">← Records</a></p>

<header class="heading record">
% if view.titles:
% for title in view.titles[:1]:
  <h1 dir="auto"${parts.lang(title.lang)}>${title.text}</h1>
% endfor
% for title in view.titles[1:]:
  <p class="subtitle" dir="auto"${parts.lang(title.lang)}>${title.text}</p>
% endfor
% else:
  <h1 class="id">${view.identifier}</h1>
% endif
  <p class="under">
    <span class="id" dir="ltr">${view.identifier}</span>
    <span class="on">${parts.date(shown.date)}</span>
${parts.badges(view.deleted, current.curated, view.upstream_newer)}
  </p>
</header>

% if view.deleted:
<p class="note">The repository deleted this record\
% if view.deleted_at:
 on ${parts.date(view.deleted_at)}\
% endif
; its earlier versions are kept here.</p>
% endif
% if view.upstream_newer:
<p class="note">The source has something newer than what this curated version was made from; the newest harvested version is below, and nothing of yours was changed.
<a href="${urls.upstream(view.identifier)}">Decide what becomes of it</a></p>
% endif
% if not shown.is_current:
<p class="note">You are looking at version <strong>${shown.name}</strong>; the current one is <a href="${current.url}">${current.name}</a>.</p>
% endif

<div class="columns">
<div class="content">

% if changes is not None:
<section class="changes" aria-labelledby="changes">
  <h2 id="changes">${_("Changed against version {name}", name=changes.before)}</h2>
% if not changes:
  <p class="empty-line">${_("Nothing yet: this version is as it was harvested.")}</p>
% endif
% for file in changes.files:
% if file.fields:
${compared.fields(file)}
% else:
  <p><span class="id">${file.difference.path}</span> <span class="badge plain">${_(file.difference.change)}</span></p>
% endif
% endfor
  <p><a href="${urls.differences(view.identifier, changes.before, changes.after)}">${_("All differences")}</a></p>
</section>
% endif

<section aria-labelledby="description">
  <h2 id="description" class="unseen">Description</h2>
% if view.fields:
  <dl class="fields">
% for field in view.fields:
    <div class="${field.name}">
      <dt>${field.label}</dt>
% for v in field.values:
% if field.name == "descriptions":
      ${parts.paragraph(v)}
% else:
      <dd>${parts.value(v)}</dd>
% endif
% endfor
    </div>
% endfor
  </dl>
% elif view.deleted and not view.files:
  <p class="empty-line">Nothing is left to describe in this version.</p>
% else:
  <p class="empty-line">No description can be read from the files of this version.</p>
% endif
</section>

<section id="files" aria-labelledby="files-heading">
  <h2 id="files-heading">Files in version ${shown.name}</h2>
% if view.files:
  <ul class="files">
% for file in view.files:
    <li>
      <div class="file">
        <a class="name" href="${file.url}" dir="auto">${file.path}</a>
% if file.metadata:
        <span class="badge plain">metadata</span>
% endif
% if file.size is not None:
        <span class="size">${human_size(file.size)}</span>
        <span class="size">${file.kind}</span>
% endif
      </div>
% if file.fault:
      <p class="fault">Cannot be read: ${file.fault}.</p>
% endif
% if file.sha256:
      <p class="digest"><span>SHA-256</span> <code>${file.sha256}</code></p>
% endif
% if shown.curated:
      <p class="acts">
% if file.metadata:
        <a href="${urls.version(view.identifier, shown.name, 'edit-xml', path=file.path)}">Edit as XML<span class="unseen"> ${file.path}</span></a>
% endif
        <a href="${urls.version(view.identifier, shown.name, 'rename-file', path=file.path)}">Rename<span class="unseen"> ${file.path}</span></a>
        <a class="danger" href="${urls.version(view.identifier, shown.name, 'delete-file', path=file.path)}">Delete<span class="unseen"> ${file.path}</span></a>
      </p>
% endif
    </li>
% endfor
  </ul>
% else:
  <p class="empty-line">This version has no files.</p>
% endif
% if shown.curated:
  <p><a class="button" href="${urls.files(view.identifier, shown.name)}">Add a file</a></p>
% else:
  <p class="hint">This version is as harvested and stays so; make a copy to change anything.</p>
% endif
</section>

<section aria-labelledby="raw">
  <h2 id="raw">As stored</h2>
% for xml in view.xml:
  <details>
    <summary>${xml.path}</summary>
${parts.xml(xml.pieces, xml.path)}
  </details>
% endfor
  <details>
    <summary>Metadata of the record (JSON)</summary>
    <pre tabindex="0" dir="ltr" aria-label="Metadata of the record"><code>${json.dumps(view.metadata, ensure_ascii=False, indent=2)}</code></pre>
  </details>
</section>
</div>

<aside aria-label="About this record">
<section class="card curate" aria-labelledby="curate">
  <h2 id="curate">Curate</h2>
% if shown.curated:
  <p>Version <strong>${shown.name}</strong> is yours to change. What was harvested stays as it is.</p>
% if view.xml:
  <p class="act"><a class="button filled" href="${urls.version(view.identifier, shown.name, 'edit')}">Edit the description</a></p>
% endif
  <details>
    <summary>Copy version ${shown.name}</summary>
${clone_form(view, shown, clone_name)}
  </details>
% elif view.working_copy:
  <p>There is a working copy of this record.</p>
  <p class="act"><a class="button filled" href="${view.working_copy.url}">Open ${view.working_copy.name}</a></p>
  <details>
    <summary>Copy version ${shown.name}</summary>
${clone_form(view, shown, clone_name)}
  </details>
% else:
  <p>Work in a copy; what was harvested stays as it is.</p>
% if view.xml and shown.is_current:
  <form action="${urls.record(view.identifier)}/curate" method="post">
    <input type="hidden" name="if_match" value="${view.revision}">
    <p class="act"><button type="submit">Curate</button></p>
  </form>
  <details>
    <summary>Copy version ${shown.name}</summary>
${clone_form(view, shown, clone_name)}
  </details>
% else:
${clone_form(view, shown, clone_name)}
% endif
% endif
  <ul class="acts">
    <li><a href="${urls.versions(view.identifier)}">New empty version</a></li>
% if shown.curated:
    <li><a href="${urls.version(view.identifier, shown.name, 'rename')}">Rename version ${shown.name}</a></li>
    <li><a class="danger" href="${urls.version(view.identifier, shown.name, 'delete')}">Delete version ${shown.name}</a></li>
% endif
    <li><a class="danger" href="${urls.delete_record(view.identifier)}">Delete the record</a></li>
  </ul>
</section>

<section class="card" aria-labelledby="versions">
  <h2 id="versions">Versions</h2>
  <ol class="timeline" reversed>
% for version in reversed(view.versions):
    <li class="${'curated' if version.curated else 'harvested'}">
      <p class="name"><a href="${version.url}"${here(version is shown)}>${version.name}</a>
% if version.is_current:
        <span class="badge plain">current</span>
% endif
% if version.state:
        <span class="badge curated">${version.state}</span>
% endif
      </p>
      <p class="what">${version.origin}\
% if version.kind == "harvest" and version.prefixes:
 as ${", ".join(version.prefixes)}\
% endif
% if version.agent:
 by ${version.agent}\
% endif
</p>
      <p class="when">${parts.date(version.date)}</p>
% if version.made and version.curated:
      <p class="when">made ${parts.date(version.made)}</p>
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
        <summary>Log (${len(version.log)})</summary>
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

% if links:
<section class="card" aria-labelledby="links">
  <h2 id="links">${_("Elsewhere")}</h2>
  <ul class="links">
% for link in links:
    <li><a href="${link.href}" rel="noopener noreferrer" dir="auto">${link.text}</a></li>
% endfor
  </ul>
</section>
% endif

% if view.sets:
<section class="card" aria-labelledby="sets">
  <h2 id="sets">Sets</h2>
  <ul class="sets">
% for set_ in view.sets:
    <li><a href="${set_.url}" dir="auto">${set_.name}</a></li>
% endfor
  </ul>
</section>
% endif

% if siblings:
<section class="card" aria-labelledby="siblings">
  <h2 id="siblings">${_("Beside it in {set}", set=siblings.name)}</h2>
  <ul class="links">
% for line in siblings.rows:
    <li><a href="${line.url}" dir="auto">${line.row.title or line.row.identifier}</a></li>
% endfor
  </ul>
</section>
% endif
</aside>
</div>
<%def name="here(yes)">\
% if yes:
 aria-current="true"\
% endif
</%def>
<%def name="clone_form(view, shown, clone_name)">
  <form action="${urls.versions(view.identifier)}" method="post">
    <input type="hidden" name="if_match" value="${view.revision}">
    <input type="hidden" name="clone_of" value="${shown.name}">
    <p>
      <label for="name">Copy version ${shown.name} to</label>
      <input id="name" name="name" type="text" value="${clone_name}" required autocomplete="off" spellcheck="false">
    </p>
    <p>
      <label for="message">Why <span class="optional">(may stay empty)</span></label>
      <input id="message" name="message" type="text" autocomplete="off">
    </p>
    <p class="act"><button type="submit">Make the copy</button></p>
  </form>
</%def>
