"""One request over HTTP, and one whole answer back: retries, deadlines, sizes, politeness.

Everything that asks a server uses it. `http_rules` decides what an answer means (pure),
`http_transport` sends and waits, `http_settings` is what the user may choose and `options`
the same on the command line, `pace` keeps requests to one host apart.

Read `http_rules` first, then `http_transport`.
"""
