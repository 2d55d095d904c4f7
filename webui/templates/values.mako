<%inherit file="base.mako"/>
<%namespace name="panels" file="panels.mako"/>
<%def name="title()">${shown.title}</%def>
<h1 dir="auto">${shown.title}</h1>
${panels.content(shown)}
