"""Files in object stores and on other machines, through fsspec; nothing is overwritten by it.

* `object_store`: files sent, read back, compared, listed and deleted at addresses.
* `schemes`: which addresses there are, and the service behind each.
* `errors`: what a store refuses, or that it does not answer, as sentences.
"""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""
