"""Reads the tables of ``usage/usage.toml``; each part validates its own table."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from recordsilo.disk.toml_files import TomlInvalid, load_toml
from usagestats.errors import SettingsInvalid
from usagestats.store.paths import settings_path


def read_tables(silo_path: str) -> Mapping[str, Any]:
    """Read the settings of a Silo; nothing if there is no file.

    Raises:
        SettingsInvalid: It is not TOML.
    """
    path = settings_path(silo_path)
    try:
        return load_toml(path)
    except FileNotFoundError:
        return {}
    except TomlInvalid as error:
        raise SettingsInvalid(path, str(error)) from error


@contextlib.contextmanager
def naming(table: str) -> Iterator[None]:
    """Put the name of a table, such as ``[push]``, before what is said of its values."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{table}: {error}") from error
