"""Access to the disk: names, paths, atomic files, locks. Does not read manifests.

`atomic_file` is the only writer in a Silo; `identifier` maps identifiers to pairtree paths.
"""
