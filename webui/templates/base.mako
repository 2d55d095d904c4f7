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
  <link rel="stylesheet" href="${static_url('vendor/pico-2.1.1.min.css')}">
% for style in styles:
  <link rel="stylesheet" href="${static_url(style)}">
% endfor
  <script src="${static_url('silo.js')}" defer></script>
% if twin_url:
  <link rel="alternate" type="application/json" href="${twin_url}">
% endif
${self.head()}\
</head>
<body>
<a class="skip" href="#content">${_("Skip to the content")}</a>
<header class="top">
  <div class="bar">
% if shelf_url:
    <a class="shelf" href="${shelf_url}">${_("Silos")}</a>
% endif
    <a class="brand" href="${urls.records()}" dir="auto">${site_name}</a>
% if user.name:
    <nav aria-label="${_('Main menu')}">
      <ul>
% for entry in navigation:
% if user.may(entry.role):
        <li><a href="${entry.url}"${here(entry)}>${_(entry.label)}</a></li>
% endif
% endfor
      </ul>
    </nav>
    <form class="find" aria-label="${_('Search')}" action="${urls.search()}" method="get">
      <label class="unseen" for="find">${_("Search, or an identifier")}</label>
      <input id="find" name="q" type="search" placeholder="${_('Search, or an identifier')}" autocomplete="off" spellcheck="false" dir="auto">
      <button type="submit" class="quiet">${_("Find")}</button>
    </form>
% if user.session:
    <form class="me" action="${urls.sign_out()}" method="post">
      <a href="${urls.account()}">${user.name}</a>
      <button type="submit" class="quiet">${_("Sign out")}</button>
    </form>
% endif
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
<%def name="here(entry)">\
% if twin_url and entry.holds(page_url):
 aria-current="page"\
% endif
</%def>
