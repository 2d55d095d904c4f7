<%inherit file="base.mako"/>
<%def name="title()">${_("Compared pages")}</%def>
<p class="crumbs"><a href="${back_url}">← ${_("Crawl targets")}</a></p>
<h1>${_("Compared pages")}</h1>
<section class="empty">
  <h2>${_("No compared pages yet")}</h2>
  <p>${_("A page that a browser showed when it was crawled is shown once more, out of the archive. Both pictures stand side by side here, with what the archive lacks.")}</p>
  <p>${_("First let a browser show the seeds of a crawl target. When it has been crawled, compare its pages on the server:")}</p>
  <pre tabindex="0" aria-label="${_('Command')}"><code>silo crawl compare DIR</code></pre>
  <p class="hint">${_("DIR is the directory of this Silo. Reload this page afterwards.")}</p>
  <p><a class="button filled" href="${back_url}">${_("Crawl targets")}</a></p>
</section>
