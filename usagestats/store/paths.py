"""Where a Silo stores the usage of its records."""

import os
from collections.abc import Callable

DIRECTORY = "usage"


def place(silo_path: str, *names: str) -> str:
    """A path in the directory ``usage/`` of a Silo."""
    return os.path.join(silo_path, DIRECTORY, *names)


def _at(name: str) -> Callable[[str], str]:
    return lambda silo_path: place(silo_path, name)


settings_path = _at("usage.toml")
"""The path of the patterns and settings, ``usage.toml``."""
counts_path = _at("counts.sqlite")
"""The path of the counts, an SQLite file."""
ledger_path = _at("ledger.sqlite")
"""The path of the ledger of files, days and imports, an SQLite file."""
secret_path = _at("secret")
"""The path of the secret that the keys of days are derived from."""


def key_path(silo_path: str, day: str) -> str:
    """The path of the salt of a day's key."""
    return place(silo_path, "keys", day)


def events_path(silo_path: str, day: str) -> str:
    """The directory of a day's events."""
    return place(silo_path, "events", day)


def unreadable_path(silo_path: str, day: str) -> str:
    """The file of the unreadable lines that were imported on a day."""
    return place(silo_path, "unreadable", f"{day}.log")


bundles_path = _at("bundles.jsonl")
"""The path of the bundles of entities, a file of JSON lines."""


def catalogue_path(silo_path: str) -> str:
    """The path of the metadata of the used records, which is rebuilt when it is lost."""
    return os.path.join(silo_path, ".silo", "usage.sqlite")
