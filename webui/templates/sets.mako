<%inherit file="base.mako"/>
<%def name="title()">Sets</%def>
<div class="heading">
  <h1>Sets</h1>
  <p class="count"><strong>${f"{len(set_choices):,}"}</strong> with records in this Silo</p>
</div>
% if set_choices:
<div class="scroll" tabindex="0" role="region" aria-label="Sets">
<table>
  <thead><tr><th scope="col">Set</th><th scope="col">Spec</th><th scope="col" class="number">Records</th></tr></thead>
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
  <h2>No sets</h2>
  <p>No record of this Silo says that it is in a set. <a href="${urls.RECORDS}">Show all records</a></p>
</section>
% endif
