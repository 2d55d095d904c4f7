<!doctype html>
<html lang="${language()}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${site_name}</title>
  <link rel="stylesheet" href="${static_url('vendor/pico-2.1.1.min.css')}">
% for style in styles:
  <link rel="stylesheet" href="${static_url(style)}">
% endfor
</head>
<body class="widget">
<main>
<%include file="usage_fragment.mako"/>
</main>
</body>
</html>
