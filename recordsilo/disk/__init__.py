"""What touches the disk: names, paths, atomic files, locks. Knows no manifest.

`atomic_file` is the only writer in a Silo; `identifier` maps identifiers to pairtree paths.
"""
