"""Pages of records → the Silo.

`storing_rules` decides (pure), `silo_writer` carries it out in one batch for each page.
`quarantine` keeps the bytes of what could not be read, `sweep` looks for deletions that nobody
announced, `pages_only` is for harvests that keep the answers and make no records.

Read `storing_rules` first.
"""
