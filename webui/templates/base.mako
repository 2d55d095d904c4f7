<%def name="title()"></%def>\
<%def name="head()"></%def>\
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
% if twin_url:
  <link rel="alternate" type="application/json" href="${twin_url}">
% endif
${self.head()}\
</head>
<body>
<% place = place_of(page_url) %>
<a class="skip" href="#content">${_("Skip to the content")}</a>
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
      <details class="menu" name="menu">
        <summary class="${'current' if place in entries else ''}">${_(group.label)}</summary>
        <div class="sheet">${links(entries)}</div>
      </details>
% endfor
    </nav>
% if page_url.partition("?")[0] != urls.search():
    <form class="find" aria-label="${_('Search')}" action="${urls.search()}" method="get">
      <label class="unseen" for="find">${_("Search titles, people, subjects, or paste an identifier")}</label>
      <input id="find" name="q" type="search" placeholder="${_('Search')}" autocomplete="off" spellcheck="false" dir="auto">
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
          <p class="group">${_(group.label)}</p>
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
  <p class="bar">${_("A Silo: plain, versioned files.")}\
% if twin_url:
 <a href="${twin_url}">${_("This page as JSON")}</a>\
% endif
</p>
</footer>
</body>
</html>
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
