<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${question.title}</%def>
<p class="crumbs"><a href="${question.back}">← ${_("Back to")} <bdi class="id">${question.identifier}</bdi></a></p>
<article class="question${' danger' if question.is_danger else ''}">
  <h1 dir="auto">${question.title}</h1>
  <p>${question.text}</p>
  <form action="${question.action}" method="post"${upload()}>
    <input type="hidden" name="if_match" value="${question.revision}">
% for field in question.fields:
% if field.kind == "hidden":
    <input type="hidden" name="${field.name}" value="${field.value}">
% elif field.kind == "checkbox":
    <p class="tick">
      <input id="${field.name}" name="${field.name}" type="checkbox" value="${field.value}"${described(field)}>
      <label for="${field.name}">${field.label}</label>
${hint(field)}
    </p>
% else:
    <p>
      <label for="${field.name}">${field.label}</label>
      <input id="${field.name}" name="${field.name}" type="${field.kind}"${initial(field)}${required(field)}${described(field)}${limited(field)} autocomplete="off" spellcheck="false" dir="auto">
${hint(field)}
    </p>
% endif
% endfor
% if question.is_upload:
${parts.sending()}
% endif
    <p class="act">
      <button type="submit">${question.submit}</button>
      <a class="clear" href="${question.back}">${_("Cancel")}</a>
    </p>
  </form>
</article>

% if question.is_upload:
${parts.scripts()}
% endif

<%def name="limited(field)">\
% if field.limit:
 data-limit="${field.limit}"\
% endif
</%def>
<%def name="upload()">\
% if question.is_upload:
 enctype="multipart/form-data"\
% endif
</%def>
<%def name="initial(field)">\
% if field.value:
 value="${field.value}"\
% endif
</%def>
<%def name="required(field)">${" required" if field.required else ""}</%def>
<%def name="described(field)">\
% if field.hint:
 aria-describedby="${field.name}-hint"\
% endif
</%def>
<%def name="hint(field)">\
% if field.hint:
      <small id="${field.name}-hint">${field.hint}</small>\
% endif
</%def>
