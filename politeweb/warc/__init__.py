"""Write and read WARC files.

`writing` appends exchanges to a series of files, `reading` reads them, `files` handles their names
and incomplete records that a killed process left, `records` reads records within limits of memory.
"""
