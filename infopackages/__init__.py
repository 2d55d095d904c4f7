"""Information packages for archives: METS, PREMIS, the E-ARK layout, BagIt, and tar files.

Writers for what is known already: names, sizes and digests come in as values, and no file is
read again to describe it. Documents are written as streams, so the memory that they need does not
grow with the number of files.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""
