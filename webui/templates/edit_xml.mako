<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Edit “{title}” as XML", title=heading)}</%def>
<p class="crumbs"><a href="${urls.version(identifier, version)}">← ${_("Back to")} <bdi class="id">${identifier}</bdi></a></p>
<div class="heading">
  <h1 dir="auto">${_("Edit “{title}” as XML", title=heading)}</h1>
  <p class="count"><bdi class="id">${path}</bdi> · <a href="${urls.version(identifier, version, 'edit', path=path)}">${_("Edit by fields")}</a></p>
</div>

% if is_conflict:
<section class="card conflict" role="alert" aria-labelledby="conflict">
  <h2 id="conflict">${_("This file was changed in the meantime")}</h2>
  <p>${_("Your change is not saved yet. Add what you want to keep of the other change to your text below, then save it.")}</p>
  <h3>${_("The other change")}</h3>
${difference(theirs, _("The other change"))}
  <h3>${_("Your change")}</h3>
${difference(ours, _("Your change"))}
  <details>
    <summary>${_("The current file")}</summary>
    <pre tabindex="0" dir="ltr" aria-label="${_('The current file')}"><code>${edited.now}</code></pre>
  </details>
</section>
% endif

% if edited.messages:
<section class="card conflict" role="alert" aria-labelledby="wrong">
  <h2 id="wrong">${_("Not saved, because the XML is not well-formed") if edited.is_refused else _("Schema errors")}</h2>
  <ul class="plain">
% for one in edited.messages:
    <li><a href="#line-${one.line}">${_("Line {n}", n=one.line)}</a>: ${one.text}</li>
% endfor
  </ul>
  <div class="lines" tabindex="0" role="region" aria-label="${_('The lines with errors')}">
  <ol>
% for number, line in numbered:
% if any(abs(number - one.line) <= 1 for one in edited.messages):
    <li id="line-${number}" value="${number}" class="${'wrong' if any(number == one.line for one in edited.messages) else 'near'}"><code>${line[:300]}</code></li>
% endif
% endfor
  </ol>
  </div>
</section>
% endif

<form class="edit" action="${url}" method="post" data-unsaved="${"yes" if is_unsaved else "no"}">
  <input type="hidden" name="path" value="${path}">
  <textarea hidden name="base" aria-hidden="true" tabindex="-1">
${edited.now}</textarea>
  <p>
    <label for="text">${_("The file")}</label>
    <textarea id="text" class="source" name="text" rows="${min(40, max(12, len(numbered) + 2))}" dir="ltr" spellcheck="false" autocapitalize="off" wrap="off">
${edited.text}</textarea>
  </p>
    <p>
      <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
      <input id="message" name="message" type="text" value="${message}" autocomplete="off" dir="auto">
    </p>
  <div class="savebar">
% if edited.messages and not edited.is_refused:
    <p class="tick">
      <input id="anyway" name="anyway" type="checkbox" value="yes">
      <label for="anyway">${_("Save despite schema errors")}</label>
    </p>
% endif
    ${parts.unsaved([_("The file")] if is_unsaved else [])}
    <p class="act"><button name="do" value="save">${_("Save")}</button>
      <button class="quiet" name="do" value="check">${_("Check")}</button>
      <a class="clear" href="${urls.version(identifier, version)}">${_("Cancel")}</a></p>
  </div>
</form>
${parts.scripts()}
<%def name="difference(lines, label)">
% if lines:
<pre tabindex="0" dir="ltr" aria-label="${label}"><code>${"\n".join(lines)}</code></pre>
% else:
<p class="empty-line">${_("nothing")}</p>
% endif
</%def>
