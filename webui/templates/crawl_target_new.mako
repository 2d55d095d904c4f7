<%inherit file="base.mako"/>
<%namespace name="crawls" file="crawl_parts.mako"/>
<%def name="title()">${_("Add a target")}</%def>
<p class="crumbs"><a href="${action}">← ${_("Crawl targets")}</a></p>
<h1>${_("Add a target")}</h1>
<article class="question">
  <form class="short" action="${action}" method="post">
% if records:
    <p role="status">${_("The links of these records, also of those that the search finds later:")} <strong>${records["said"]}</strong>\
% if records["shown_at"]:
 · <a href="${records["shown_at"]}">${_("Show")}</a>\
% endif
</p>
    <input type="hidden" name="search" value="${records["search"]}">
% else:
    <p>${_("To crawl the links of records, search for them and choose “Crawl their links”.")} <a href="${urls.search()}">${_("Search")}</a></p>
    <p class="wide"><label for="url">${_("Address")}</label>
    <input id="url" name="url" type="url" required maxlength="2083" autocomplete="off" spellcheck="false"></p>
% endif
${crawls.fields(values, frequencies, scopes, limits)}
    <p class="act"><button type="submit">${_("Add target")}</button></p>
  </form>
</article>
