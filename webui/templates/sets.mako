<%inherit file="base.mako"/>
<%def name="title()">${_("Sets")}</%def>
<div class="heading">
  <h1>${_("Sets")}</h1>
  <p class="count">${counted("{n} set with records in this Silo", "{n} sets with records in this Silo", len(set_choices))}</p>
</div>
% if set_choices:
<div class="scroll" tabindex="0" role="region" aria-label="${_('Sets')}">
<table>
  <thead><tr><th scope="col">${_("Set")}</th><th scope="col">${_("setSpec")}</th><th scope="col" class="number">${_("Records")}</th></tr></thead>
  <tbody>
% for spec, name, count in set_choices:
    <tr>
      <th scope="row"><a href="${urls.records_of_set(spec)}" dir="auto">${name}</a></th>
      <td class="id">${spec}</td>
      <td class="number">${f"{count:,}"}</td>
    </tr>
% endfor
  </tbody>
</table>
</div>
% else:
<section class="empty">
  <h2>${_("No sets")}</h2>
  <p>${_("No record of this Silo is in a set.")} <a href="${urls.search()}">${_("Show all records")}</a></p>
</section>
% endif
