"""Curation: changing what records say, one or ten thousand, with preview, journal and undo."""
