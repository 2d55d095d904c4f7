"""WARC files: written while answers come, read again, and as they lie on the disk.

`writing` appends exchanges to a series of files, `reading` takes them out again, `files`
knows their names and what a killed process left.
"""
