<%inherit file="base.mako"/>
<%namespace name="parts" file="parts.mako"/>
<%def name="title()">${_("Saved searches")}</%def>
<div class="heading">
  <h1>${_("Saved searches")}</h1>
  <p class="count">${counted("{n} search", "{n} searches", len(lines))}</p>
</div>
% if lines:
<ul class="kept">
% for line in lines:
  <li>
% if line.search is None:
    <h2><span class="id">${line.name}</span></h2>
    <p class="fault">${line.fault}</p>
% else:
    <h2><a href="${line.url}" dir="auto">${line.search.title}</a></h2>
    <p class="under">
% if line.records:
      <span>${counted("{n} identifier", "{n} identifiers", line.records)}</span>
% endif
      <span class="on">${parts.date(line.search.date)}</span>
      <span dir="auto">${line.search.agent}</span>
    </p>
% endif
% if line.search is not None and line.search.collection is not None:
    <p><a href="${urls.collection(line.name)}">${_("Collection")}</a></p>
% elif line.search is not None and may_change:
    <p><a href="${urls.collection(line.name, 'edit')}">${_("Make a collection")}</a></p>
% endif
% if may_change:
    <form class="inline" action="${urls.saved_search(line.name, 'delete')}" method="post">
      <button type="submit" class="quiet">${_("Delete")}<span class="unseen"> ${line.name}</span></button>
    </form>
% endif
  </li>
% endfor
</ul>
% else:
<section class="empty">
  <h2>${_("No saved searches yet")}</h2>
  <p>${_("Save a search to run it again later.")} <a href="${urls.search()}">${_("Search")}</a></p>
</section>
% endif
<article class="question">
  <h2 id="paste">${_("A list of identifiers")}</h2>
  <form action="${urls.pasted()}" method="post" aria-labelledby="paste">
    <p>
      <label for="identifiers">${_("Identifiers")}</label>
      <textarea id="identifiers" name="identifiers" rows="6" required spellcheck="false" aria-describedby="identifiers-hint"></textarea>
      <small id="identifiers-hint">${_("One identifier per line, full or short. Unknown ones are listed.")}</small>
    </p>
    <p class="act"><button type="submit">${_("Show these records")}</button></p>
  </form>
</article>
