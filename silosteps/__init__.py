"""Read logs and lists of millions of lines and process them in SQL; imports no other package here.

* `inputs`: a file, compressed or not, or standard input, as a stream of bytes.
* `lines`: splits such a stream into blocks of whole lines, without losing a byte.
* `engine`: runs the named steps of a ``.sql`` file in DuckDB, with bounded memory.
* `step_file`: reads that file.
* `runners`: do the same work for many inputs, in this process or in several.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""
