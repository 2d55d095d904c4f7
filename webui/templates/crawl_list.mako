<%inherit file="base.mako"/>
<%namespace name="lists" file="lists.mako"/>
<%namespace name="panels" file="panels.mako"/>
<%def name="title()">${shown.title} · ${target}</%def>
<p class="crumbs"><a href="${back_url}" dir="auto">← ${target}</a></p>
<h1>${shown.title}</h1>
${panels.content(shown)}
${lists.steps(_("Pages of the list"), following=next_url)}
