<%inherit file="base.mako"/>
<%namespace name="previews" file="preview.mako"/>
<%def name="title()">${heading}</%def>
<p class="crumbs"><a href="${back}">← ${_("Back")}</a></p>
<div class="heading"><h1 dir="auto">${heading}</h1></div>
${previews.preview(found)}
% if found.changed or not found.whole:
<form action="${url}" method="post">
  <p>
    <label for="message">${_("Reason")} <span class="optional">${_("(optional)")}</span></label>
    <input id="message" name="message" type="text" autocomplete="off" dir="auto">
  </p>
  <p class="act"><button type="submit">${previews.button(found)}</button>
  ${previews.all(found)}</p>
</form>
% endif
