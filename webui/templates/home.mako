<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%namespace name="live" file="live.mako"/>
<%namespace name="charts" file="charts.mako"/>
<%namespace name="own" file="collection_parts.mako"/>
<%namespace name="first" file="first_harvest.mako"/>
<%def name="title()">${_("Home")}</%def>
<div class="heading record">
  <h1 dir="auto">${site_name}</h1>
% if base_url:
  <p class="under"><span>${_("Harvested from")} <span class="id">${base_url}</span></span></p>
% endif
</div>
% if not counts.records:
${first.harvest(may_harvest, base_url)}
% else:
<dl class="figures">
  <div><dt>${_("Records")}</dt><dd><a href="${urls.search()}">${numeral(counts.records)}</a></dd></div>
% if counts.with_file:
  <div><dt>${_("With a file")}</dt><dd><a href="${urls.search([('has_file', 'true')])}">${numeral(counts.with_file)}</a></dd></div>
% endif
  <div><dt>${_("Curated")}</dt><dd><a href="${urls.search([('curated', 'true')])}">${numeral(counts.curated)}</a></dd></div>
</dl>
<p class="under facts-line">
% for name, number in counts.formats:
  <span><a class="id" href="${urls.search([('format', name)])}">${name}</a> ${numeral(number)}</span>
% endfor
% if counts.deleted:
  <span><a href="${urls.search([('deleted', 'true')])}">${_("Deleted at the source")}</a> ${numeral(counts.deleted)}</span>
% endif
</p>
<p class="act next">
% if next_step:
  <a class="button filled" href="${next_step.url}">${next_step.next_step}</a>
  <a href="${urls.search()}">${_("Search the records")}</a>
% else:
  <a class="button filled" href="${urls.search()}">${_("Search the records")}</a>
% endif
</p>
% endif
% if counts.records:
% if years or charts_of:
<section class="collection" aria-labelledby="collection">
  <h2 id="collection">${_("The collection")}</h2>
% if years:
${charts.figure(years, "years")}
% endif
  <div class="pictures">
% for one in charts_of:
  <div>
${charts.figure(one.picture, f"chart-{one.name}")}
% if one.more_url:
    <p class="more"><a href="${one.more_url}">${_("All values")}<span class="unseen">: ${one.picture.title}</span></a></p>
% endif
  </div>
% endfor
  </div>
</section>
% endif
% if collections:
<section aria-labelledby="collections">
  <h2 id="collections">${_("Collections")}</h2>
${own.cards(collections, 3)}
  <p class="more"><a href="${urls.collections()}">${_("All collections")}</a></p>
</section>
% endif
<div class="pictures short-lists">
<section aria-labelledby="newest">
  <h2 id="newest">${_("Latest")}</h2>
${parts.records(counts.newest)}
  <p class="more"><a href="${urls.search()}">${_("All records")}</a></p>
</section>
% for name, part in parts_of_packages:
<%include file="${part.template}" args="part=part.data"/>
% endfor
</div>
% endif
<div class="home">
% if waiting:
<section class="card" aria-labelledby="waiting">
  <h2 id="waiting">${_("To decide")}</h2>
  <ul class="entries">
% for one in waiting:
    <li>${live.outcome(one.outcome, one.url)}</li>
% endfor
  </ul>
</section>
% endif
% if harvests or fault:
<section class="card" aria-labelledby="harvests">
  <h2 id="harvests">${_("Last harvests")}</h2>
% if fault:
  <p>${live.outcome(fault)}</p>
% endif
  <ul class="entries">
% for one in harvests:
    <li>${parts.harvest(one)}</li>
% endfor
  </ul>
% if history:
${charts.figure(history, "history")}
% endif
  <p class="more"><a href="${urls.harvests()}">${_("All harvests")}</a></p>
</section>
% endif
% if counts.there:
<section class="card" aria-labelledby="quality">
  <h2 id="quality">${_("Quality")}</h2>
  <p>${_("{share}% of the records have no findings.", share=share)}</p>
  <meter class="share" min="0" max="${counts.there}" value="${counts.there - counts.with_findings}" aria-labelledby="quality">${share}%</meter>
% if findings:
  <ul class="entries counted">
% for one in findings:
    <li><a href="${one["url"]}">${capital(one["means"])}</a> <span class="number">${numeral(one["count"])}</span></li>
% endfor
  </ul>
% endif
  <p class="more"><a href="${urls.quality()}">${_("All findings")}</a></p>
</section>
% endif
% if may_look_back and recent:
<section class="card" aria-labelledby="recent">
  <h2 id="recent">${_("Recent activity")}</h2>
  <ul class="entries">
% for one in recent:
    <li>
      <span class="did">\
% for piece in one.sentence:
% if piece == "{who}":
<bdi>${one.agent}</bdi>\
% elif piece == "{what}" and one.url:
<a href="${one.url}" dir="auto"${' class=id' if one.identifier and not one.title else ""}>${one.what}</a>\
% elif piece == "{what}":
<bdi>${one.what}</bdi>\
% else:
${piece}\
% endif
% endfor
</span>
      <span class="under">${parts.date(one.date)}\
% if one.records > 1:
 <span>${counted("{n} record", "{n} records", one.records)}${_(" or more") if one.is_cut else ""}</span>\
% elif one.identifier and one.said:
 <bdi>${", ".join(map(field_label, one.said.split(", ")))}</bdi>\
% endif
</span>
    </li>
% endfor
  </ul>
  <p class="more"><a href="${urls.activity()}">${_("All activity")}</a></p>
</section>
% endif
</div>
