"""Fetch the files that records link to, and store them in versions: `silo fetch-files`.

No other part of the harvester uses it. `link_rules` chooses the links that are files,
`politeweb.files` fetches a file, `file_types` determines its real type, `file_notes` stores in the
record what was fetched. Read `fetch_files` first, which uses all of them.
"""
