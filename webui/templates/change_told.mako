## A change of a value, told: what it was, and what it becomes.
<%def name="old(text)">\
% if text is None:
<span class="nothing">${_("nothing")}</span>\
% else:
<del dir="auto">${text}</del>\
% endif
</%def>
<%def name="new(text)">\
% if text is None:
<span class="nothing">${_("nothing")}</span>\
% else:
<ins dir="auto">${text}</ins>\
% endif
</%def>
<%def name="change(one)">\
${one.what}: ${old(one.old)} → ${new(one.new)}\
</%def>
