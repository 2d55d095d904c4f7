"""Curation: changing what records say, one or ten thousand, with preview, journal and undo."""

__all__: list[str] = []
"""Nothing for people at a prompt; packages import its modules (docs/extending.md)."""
