## Collections as cards.
<%def name="cards(some, level=2)">
<ul class="collections">
% for one in some:
  <li class="card">
% if one.picture_url:
    <img src="${one.picture_url}" alt="" loading="lazy">
% endif
    <h${level}><a href="${one.url}" dir="auto">${one.title}</a></h${level}>
% if one.text:
    <p dir="auto">${one.text}</p>
% endif
  </li>
% endfor
</ul>
</%def>
