"""Reads the tables of ``usage/usage.toml``; each part validates its own table."""

import contextlib
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from usagestats.errors import SettingsInvalid
from usagestats.store.places import settings_path


def read_tables(silo_path: str) -> Mapping[str, Any]:
    """Read the settings of a Silo; nothing if there is no file.

    Raises:
        SettingsInvalid: It is not TOML.
    """
    path = settings_path(silo_path)
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise SettingsInvalid(path, "it is not UTF-8; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsInvalid(path, str(error)) from error


@contextlib.contextmanager
def naming(table: str) -> Iterator[None]:
    """Put the name of a table, such as ``[push]``, before what is said of its values."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{table}: {error}") from error
