<%def name="title()"></%def>\
<%def name="head()"></%def>\
<%def name="skips()"></%def>\
<!doctype html>
<html lang="${language()}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${self.title()} · ${site_name}</title>
  <link rel="icon" href="${static_url('icon.svg')}" type="image/svg+xml">
  <link rel="preload" href="${urls.static(typeface)}" as="font" type="font/woff2" crossorigin>
  <link rel="stylesheet" href="${static_url(style_sheet)}">
  <script src="${static_url('silo.js')}" defer></script>
  <script src="${static_url('suggest.js')}" defer></script>
% if twin_url:
  <link rel="alternate" type="application/json" href="${twin_url}">
% endif
% if social:
${social_card()}\
% endif
${self.head()}\
</head>
<body>
<% place = place_of(page_url, navigation) %>
<a class="skip" href="#content">${_("Skip to the content")}</a>
${self.skips()}
<header class="top">
  <div class="bar">
% if shelf_url:
    <a class="shelf" href="${shelf_url}">${_("Silos")}</a>
% endif
    <a class="brand" href="${urls.home()}" title="${site_name}" dir="auto">${site_name}</a>
% if user.name and navigation:
<% groups = [(group, group.offered(user)) for group in navigation if group.offered(user)] %>
    <nav class="wide" aria-label="${_('Main menu')}">
% for group, entries in groups:
% if len(entries) == 1 and entries[0].label == group.label:
      <a class="flat${' current' if place in entries else ''}" href="${entries[0].url}"${here(entries[0])}>${_(group.label)}</a>
<% continue %>\
% endif
      <details class="menu" name="menu">
        <summary class="${'current' if place in entries else ''}">${_(group.label)}</summary>
        <div class="sheet">${links(entries)}</div>
      </details>
% endfor
    </nav>
% if page_url.partition("?")[0] != urls.search():
    <form class="find" aria-label="${_('Search')}" action="${urls.search()}" method="get">
      <label class="unseen" for="find">${_("Search titles, people, subjects, or paste an identifier")}</label>
      <input id="find" name="q" type="search" placeholder="${_('Search')}" autocomplete="off" spellcheck="false" dir="auto"\
% if suggests:
 data-suggest="${urls.search(action='suggestions')}" data-label="${_('Suggestions')}"\
% endif
>
      <button type="submit" class="quiet">${_("Find")}</button>
    </form>
% endif
% if user.session:
    <details class="menu wide me" name="menu">
      <summary dir="auto" class="${'current' if page_url == urls.account() else ''}">${user.name}</summary>
      <div class="sheet">${account()}</div>
    </details>
% endif
    <nav class="narrow" aria-label="${_('Main menu')}">
      <details class="menu">
        <summary>${_("Menu")}</summary>
        <div class="sheet">
% for group, entries in groups:
% if len(entries) > 1 or entries[0].label != group.label:
          <p class="group">${_(group.label)}</p>
% endif
${links(entries)}
% endfor
% if user.session:
          <p class="group" dir="auto">${user.name}</p>
${account()}
% endif
        </div>
      </details>
    </nav>
% elif user.session:
    <details class="menu me" name="menu">
      <summary dir="auto">${user.name}</summary>
      <div class="sheet">${account()}</div>
    </details>
% endif
  </div>
</header>
<main id="content" tabindex="-1">
${next.body()}
</main>
<footer class="foot">
  <p class="bar">
% if user.name:
    <a href="${urls.manual()}">${_("Help")}</a>
% endif
% if twin_url:
    <a href="${twin_url}">${_("This page as JSON")}</a>
% endif
% if user.name:
    <a href="${urls.at('/openapi.json')}">${_("Interface for programs")}</a>
    <button type="button" class="as-link" data-keys popovertarget="keys" hidden>${_("Keyboard shortcuts")}</button>
    <span>${_("Version {number}", number=program_version)}</span>
% endif
  </p>
  <form class="languages bar" action="${urls.language()}" method="post" aria-label="${_('Language')}">
% for tag, locale in languages.items():
    <button type="submit" class="quiet" name="language" value="${tag}" lang="${tag}"${' aria-current=true' if tag == language() else ''}>${locale.name}</button>
% endfor
  </form>
</footer>
<div id="keys" class="keys" popover role="dialog" aria-labelledby="keys-title">
  <h2 id="keys-title">${_("Keyboard shortcuts")}</h2>
  <dl>
% for key, does in (("/", _("Go to the search field")), ("j k", _("Next and previous record of a list")), ("Enter", _("Open the record")), ("p", _("Preview the record beside the list")), ("x", _("Select the record")), ("e", _("Edit the record")), ("s", _("Save or accept, and go to the next one")), ("Esc", _("Close what is open")), ("?", _("Show these shortcuts"))):
    <div><dt>\
% for one in key.split():
<kbd>${one}</kbd> \
% endfor
</dt><dd>${does}</dd></div>
% endfor
  </dl>
  <p><label><input type="checkbox" id="keys-off" role="switch"> ${_("Switch off the shortcuts in this browser")}</label></p>
  <p><button type="button" class="quiet" popovertarget="keys" popovertargetaction="hide">${_("Close")}</button></p>
</div>
</body>
</html>
<%def name="social_card()">\
  <meta property="og:type" content="website">
  <meta property="og:site_name" content="${site_name}">
% if social.tells and page_url != urls.home():
  <meta property="og:title" content="${self.title()}">
% else:
  <meta property="og:title" content="${site_name}">
% endif
% if social.summary:
  <meta property="og:description" content="${social.summary}">
% endif
% if social.origin:
% if social.tells and page_url:
  <meta property="og:url" content="${social.origin}${page_url}">
% endif
  <meta property="og:image" content="${social.origin}${static_url(social_picture)}">
  <meta property="og:image:width" content="1200">
  <meta property="og:image:height" content="630">
  <meta name="twitter:card" content="summary_large_image">
% endif
</%def>
<%def name="links(entries)">
          <ul>
% for entry in entries:
            <li><a href="${entry.url}"${here(entry)}>${_(entry.label)}</a></li>
% endfor
          </ul>
</%def>
<%def name="here(entry)">\
% if twin_url and entry is place:
 aria-current="page"\
% endif
</%def>
<%def name="account()">
          <ul><li><a href="${urls.account()}">${_("Account")}</a></li></ul>
          <form action="${urls.sign_out()}" method="post"><button type="submit" class="quiet">${_("Sign out")}</button></form>
</%def>
