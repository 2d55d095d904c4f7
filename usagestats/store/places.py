"""Where a Silo stores the usage of its records."""

import os

DIRECTORY = "usage"


def place(silo_path: str, *names: str) -> str:
    """Return a path in the directory ``usage/`` of a Silo."""
    return os.path.join(silo_path, DIRECTORY, *names)


def settings_path(silo_path: str) -> str:
    """Return the path of the patterns and settings, ``usage.toml``."""
    return place(silo_path, "usage.toml")


def counts_path(silo_path: str) -> str:
    """Return the path of the counts, an SQLite file."""
    return place(silo_path, "counts.sqlite")


def ledger_path(silo_path: str) -> str:
    """Return the path of the ledger of segments, days and imports, an SQLite file."""
    return place(silo_path, "ledger.sqlite")


def keys_path(silo_path: str) -> str:
    """Return the path of the days' keys, an SQLite file."""
    return place(silo_path, "keys.sqlite")


def events_path(silo_path: str, day: str) -> str:
    """Return the directory of a day's events."""
    return place(silo_path, "events", day)
