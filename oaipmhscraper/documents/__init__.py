"""The documents behind the records: links → files → versions of the Silo: `silo fetch-files`.

No other part of the harvester uses it. `link_rules` says which links of a record are files,
`politeweb.files` brings one file from one of many hosts, `file_types` says what it really is,
`file_notes` what a record remembers of it.

Read `fetch_files` first: it is the way of one record through all of them.
"""
