"""Logs and lists of millions of lines, read safely and worked through in SQL; knows nobody of ours.

* `inputs`: a file, compressed or not, or standard input, as a stream of bytes.
* `lines`: such a stream as blocks of whole lines; no byte is ever dropped.
* `engine`: DuckDB, with bounded memory, running the named steps of a ``.sql`` file.
* `step_file`: that file, read.
* `runners`: the same work over many inputs, in this process or in several.
"""
