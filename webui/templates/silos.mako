<%inherit file="base.mako"/>
<%def name="title()">${_("Silos")}</%def>
<div class="heading">
  <h1>${_("Silos")}</h1>
  <p class="count">${counted("{n} Silo in this directory", "{n} Silos in this directory", len(lines))}</p>
</div>
% if lines:
<ul class="kept">
% for line in lines:
  <li>
    <h2><a href="${line['url']}" dir="auto">${line["title"] or line["name"]}</a></h2>
    <p class="under">
% if line["title"] not in ("", line["name"]):
      <span class="id">${line["name"]}</span>
% endif
% if line["records"] is None:
      <span class="fault">${_("cannot be read; see the log of the server")}</span>
% else:
      <span class="on">${counted("{n} record", "{n} records", line["records"])}</span>
% endif
    </p>
  </li>
% endfor
</ul>
% else:
<section class="empty">
  <h2>${_("No Silos yet")}</h2>
  <p>${_("Silos appear here as soon as they are harvested into this directory.")}</p>
</section>
% endif
