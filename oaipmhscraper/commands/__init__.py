"""The commands of the harvester: `silo harvest`, `update`, `harvests`, `probe`, `fetch-files` …

Each module holds the commands it is named for; `harvest` has those that ask a repository.
`harvest_options` and `http_options` are options that several share, `reports` what they print.
"""
