"""The commands of the harvester: `silo harvest`, `update`, `harvests`, `probe`, `fetch-files` …

Each module has the commands in its name; `harvest` has those that send requests to a repository.
`harvest_options` and `http_options` are shared options, `reports` prints the results.
"""
