"""What is wrong with a repository, found out in a few dozen polite requests: `silo probe`.

`asking` sends the requests and keeps each exchange, `reading` reads it strictly and then as
the harvester would, the `*_checks` judge what came (pure, one function for each finding),
`report` writes it down for a person or as JSON. `docs/probe.md` names every check.

Read `checks` first: it lists them all in the order of the report.
"""
