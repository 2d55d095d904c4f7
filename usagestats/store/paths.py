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
    """Return the path of the ledger of files, days and imports, an SQLite file."""
    return place(silo_path, "ledger.sqlite")


def secret_path(silo_path: str) -> str:
    """Return the path of the secret that the keys of days are derived from."""
    return place(silo_path, "secret")


def key_path(silo_path: str, day: str) -> str:
    """Return the path of the salt of a day's key."""
    return place(silo_path, "keys", day)


def events_path(silo_path: str, day: str) -> str:
    """Return the directory of a day's events."""
    return place(silo_path, "events", day)


def unreadable_path(silo_path: str, day: str) -> str:
    """Return the file of the unreadable lines that were imported on a day."""
    return place(silo_path, "unreadable", f"{day}.log")


def bundles_path(silo_path: str) -> str:
    """Return the path of the bundles of entities, a file of JSON lines."""
    return place(silo_path, "bundles.jsonl")


def catalogue_path(silo_path: str) -> str:
    """Return the path of the metadata of the used records, which is rebuilt when it is lost."""
    return os.path.join(silo_path, ".silo", "usage.sqlite")
