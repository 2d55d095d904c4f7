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
      <span class="fault">${_("cannot be read; the log of the server says why")}</span>
% else:
      <span class="on">${counted("{n} record", "{n} records", line["records"])}</span>
% endif
    </p>
  </li>
% endfor
</ul>
% else:
<section class="empty">
  <h2>${_("No Silo here yet")}</h2>
  <p>${_("A Silo that is harvested into this directory appears on this page.")}</p>
</section>
% endif
