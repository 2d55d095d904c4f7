## What differs between two versions, by field and by line.
<%!
from webui.record.field_differences import words
from webui.words.field_labels import field_label
%>

<%def name="fields(found)">
<dl class="compared">
% for field in found:
  <div>
    <dt>${field_label(field.name)}</dt>
% for value in field.values:
    <dd class="${value.kind}">${side(value)}</dd>
% endfor
  </div>
% endfor
</dl>
</%def>

<%def name="side(value)">\
% if value.kind == "changed":
<% old, new = words(value.before.text, value.after.text) %>\
<span class="word">${_("changed")}</span> <del dir="auto">${pieces(old)}</del> <ins dir="auto">${pieces(new)}</ins>${lang(value.after)}\
% elif value.kind == "removed":
<span class="word">${_("removed")}</span> <del dir="auto">${value.before.text}</del>${lang(value.before)}\
% elif value.kind == "added":
<span class="word">${_("added")}</span> <ins dir="auto">${value.after.text}</ins>${lang(value.after)}\
% elif value.kind == "moved":
<span class="word">${_("moved")}</span> <span dir="auto">${value.after.text}</span>${lang(value.after)}\
% else:
<span dir="auto">${value.after.text}</span>${lang(value.after)}\
% endif
</%def>

<%def name="pieces(parts)">\
% for is_other, text in parts:
% if is_other:
<mark>${text}</mark>\
% else:
${text}\
% endif
% endfor
</%def>

<%def name="lang(value)">\
% if value.lang:
 <span class="badge plain">${value.lang}</span>\
% endif
</%def>

<%def name="lines(file)">
<pre class="diff" tabindex="0" dir="ltr" aria-label="${_('Lines of {path}', path=file.difference.path)}"><code>\
% for kind, text in file.lines:
<span class="${kind}">${text}
</span>\
% endfor
</code></pre>
</%def>
