"""Usage statistics of a Silo's records, from the log lines of a web server.

Who uses it: the commands `silo usage …`, jobs, and the page. Read `values` first, then
`store/places` for what a Silo stores.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""
