<!doctype html>
<html lang="${language()}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${site_name}</title>
  <link rel="stylesheet" href="${static_url(style_sheet)}">
</head>
<body class="widget">
<main>
<%include file="usage_fragment.mako"/>
</main>
</body>
</html>
