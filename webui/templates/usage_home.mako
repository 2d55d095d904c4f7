<%! from webui.words.dates import for_people %>
## Usage on the home page.
<%namespace name="parts" file="parts.mako"/>
<%namespace name="shared" file="usage_parts.mako"/>
<%page args="part"/>
% if part["read"]:
<section aria-labelledby="most-read">
  <h2 id="most-read">${_("Most read")}</h2>
${parts.records(part["read"])}
  <p class="more"><a href="${part["usage_url"]}">${_("Usage")}</a></p>
</section>
% endif
% if part["map"]:
<section aria-labelledby="readers">
  <h2 id="readers">${_("Where the readers are")}</h2>
${shared.map_only(part["map"], _("Uses by country, {first} to {last}", first=for_people(part["first"]), last=for_people(part["last"])))}
</section>
% endif
