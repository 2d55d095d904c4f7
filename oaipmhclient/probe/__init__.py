"""Check a repository with a few dozen polite requests: `silo probe`.

`asking` sends the requests and stores each exchange, `reading` reads it strictly and then like the
harvester, the `*_checks` judge the results (pure), and `report` writes them as text or JSON.
`docs/probe-checks.md` lists every check.

Read `checks` first: a table of all checks, in the order of the report.
"""
