## Small pieces of the pages of a fleet.

<%def name="badge(state)">\
<span class="badge ${'ok' if state.value == 'whole' else 'plain' if state.value in ('new', 'due', 'running', 'paused') else 'warn'}">${state_label(state)}</span>\
</%def>

<%def name="outcomes(line)">\
% if line.facts.outcomes:
<svg class="drawing outcomes" width="90" height="14" role="img"><title>${_("Last runs: {said}", said=outcomes_said(line))}</title>\
% for letter in line.facts.outcomes:
<rect class="${tones.get(letter, 'soft')}" x="${loop.index * 3}" y="${0 if tones.get(letter) == 'ok' else 4}" width="2" height="${14 if tones.get(letter) == 'ok' else 10}"/>\
% endfor
</svg>\
% endif
</%def>
