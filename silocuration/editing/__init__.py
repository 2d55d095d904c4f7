"""Changes to one record, decided on values; only rule files and patterns do I/O.

`fields` reads and writes the values of a metadata file. `rules` changes them, `rule_files`
stores rules as TOML, `patterns` bounds regular expressions. `changes` decides what a rule does
to one record, `merge` merges three states of a record's fields.

Read `fields` first, then `rules`.
"""
