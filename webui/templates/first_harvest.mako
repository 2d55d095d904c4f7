## What an empty Silo offers: its first harvest.
<%def name="harvest(may_harvest, base_url='')">
% if may_harvest:
<section class="question">
  <h2>${_("No records yet")}</h2>
  <p>${_("Harvest a repository to begin. Its records appear here while they arrive.")}</p>
  <form class="short" action="${urls.jobs()}" method="post">
    <input type="hidden" name="kind" value="harvest">
    <p class="wide"><label for="url">${_("Base URL of the repository")}</label>
    <input id="url" name="url" type="url" value="${base_url}" required aria-describedby="url-hint" spellcheck="false">
    <small id="url-hint">${_("For example https://eprints.example.org/cgi/oai2")}</small></p>
    <p><label for="prefixes">${_("Formats")}</label>
    <input id="prefixes" name="prefixes" value="oai_dc" required aria-describedby="prefixes-hint" spellcheck="false">
    <small id="prefixes-hint">${_("Metadata prefixes, separated by spaces.")}</small></p>
    <p class="act"><button type="submit">${_("Harvest")}</button> <button class="quiet" type="submit" formmethod="get" formaction="${urls.new_job("harvest")}" formnovalidate>${_("More options")}</button></p>
  </form>
</section>
% else:
<section class="empty first">
  <h2>${_("No records yet")}</h2>
  <p>${_("Records appear here as soon as a repository is harvested. To start, harvest an OAI-PMH address:")}</p>
  <pre tabindex="0" aria-label="${_('Command')}"><code>silo harvest https://eprints.example.org/cgi/oai2 DIR -p oai_dc</code></pre>
  <p>${_("DIR is the directory of this Silo. Reload this page afterwards.")}</p>
</section>
% endif
</%def>
