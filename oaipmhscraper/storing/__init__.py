"""Store pages of records in the Silo.

`storing_rules` decides (pure), `silo_writer` writes each page in one batch. `quarantine` stores the
bytes of unreadable records, `sweep` finds deletions that are not announced, `pages_only` is for
harvests that store only responses. Read `storing_rules` first.
"""
