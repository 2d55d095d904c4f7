## A change of a value, told: what it was, and what it becomes; of long values, the words that differ.
<%!
from webui.record.field_differences import excerpts
from webui.words.field_labels import field_label
%>
<%def name="old(text, new=None)">\
% if text is None:
<span class="nothing">${_("nothing")}</span>\
% elif new is None:
<del dir="auto">${text}</del>\
% else:
${pieces(excerpts(text, new)[0], "del")}\
% endif
</%def>
<%def name="new(text, old=None)">\
% if text is None:
<span class="nothing">${_("nothing")}</span>\
% elif old is None:
<ins dir="auto">${text}</ins>\
% else:
${pieces(excerpts(old, text)[1], "ins")}\
% endif
</%def>
<%def name="pieces(some, mark)">\
<span dir="auto">\
% for is_other, text in some:
% if not is_other:
${text}\
% elif mark == "del":
<del>${text}</del>\
% else:
<ins>${text}</ins>\
% endif
% endfor
</span>\
</%def>
<%def name="change(one)">\
${field_label(one.what)}: ${old(one.old, one.new)} → ${new(one.new, one.old)}\
</%def>
