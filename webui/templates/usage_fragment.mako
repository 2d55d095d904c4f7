<%namespace name="charts" file="charts.mako"/>
<section class="silo-usage">
<h2>${label if picture is None else picture.title}</h2>
% if picture is not None:
${charts.key_of(picture)}
${charts.drawing(picture)}
% endif
% if lines:
<ol>
% for line in lines:
  <li><a href="${base}${line.url}" target="_top"><bdi>${line.label}</bdi></a> <span>${numeral(line.used.figures.total_investigations)}</span></li>
% endfor
</ol>
% endif
</section>
