"""Values that people write and read: the TOML files of a directory, each of which has a name."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

import tomli_w

from recordsilo.disk.atomic_file import make_file, make_parents, remove_file, replace_file
from recordsilo.disk.names import names_in
from recordsilo.disk.regular_file import open_regular

SUFFIX = ".toml"
MOST_BYTES = 16 << 20
"""Of a file; a list of 200,000 identifiers fits."""


class TomlInvalid(ValueError):
    """A file that is not valid TOML, or is too large; the message says why."""


class TomlFiles:
    """The files of a directory, which need not exist.

    Args:
        name: The form of the names; other files are somebody else's.
        below: The Silo that it is in; see `recordsilo.disk.atomic_file.make_parents`.
    """

    def __init__(self, directory: str, name: re.Pattern[str], below: str = "") -> None:
        self.directory, self._name, self._below = directory, name, below

    def names(self) -> list[str]:
        """The names, sorted."""
        return names_in(self.directory, SUFFIX, self._name)

    def path(self, name: str) -> str:
        """The path of a file.

        Raises:
            FileNotFoundError: It is no name, so there is no file.
        """
        if not self._name.fullmatch(name):
            raise FileNotFoundError(name)
        return os.path.join(self.directory, name + SUFFIX)

    def load(self, name: str) -> dict[str, Any]:
        """Read a file.

        Raises:
            FileNotFoundError: There is none.
            TomlInvalid, OSError: It is invalid, or cannot be read.
        """
        return load_toml(self.path(name), follow=False)

    def store(self, name: str, table: Mapping[str, Any]) -> None:
        """Write a file, completely or not at all; one of that name is replaced."""
        path = self.path(name)
        make_parents(path, self._below)
        replace_file(path, tomli_w.dumps(table).encode())

    def add(self, name: str, table: Mapping[str, Any]) -> None:
        """Write a new file, completely or not at all.

        Raises:
            FileExistsError: There is one of that name; it is not changed.
        """
        path = self.path(name)
        make_parents(path, self._below)
        make_file(path, tomli_w.dumps(table).encode())

    def remove(self, name: str) -> None:
        """Delete a file.

        Raises:
            FileNotFoundError: There is none.
        """
        remove_file(self.path(name))


def load_toml(path: str, *, follow: bool = True) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        follow: Whether it may be a symbolic link.

    Raises:
        FileNotFoundError: There is none.
        TomlInvalid, OSError: It is invalid, or cannot be read; also a device or a pipe.
        ValueError: The path has a null character.
    """
    with open_regular(path, follow=follow) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise TomlInvalid(f"it is larger than {MOST_BYTES >> 20} MiB")
    return toml_of(content)


def settings_toml(
    path: str, refused: Callable[[str], Exception], *, shown: str = "", follow: bool = True
) -> dict[str, Any]:
    """Read a TOML file of settings; nothing if there is none.

    Args:
        refused: Makes the error of a file that is invalid or cannot be read, of the reason.
        shown: What the reason names, in place of the path.
        follow: See `load_toml`.

    Raises:
        Exception: What `refused` makes.
    """
    try:
        return load_toml(path, follow=follow)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise refused(f"{shown or path} cannot be read: {error}") from None


def toml_of(content: bytes) -> dict[str, Any]:
    """Read the content of a TOML file.

    Raises:
        TomlInvalid: It is invalid.
    """
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise TomlInvalid("its values are nested too deeply") from None
    except UnicodeDecodeError:
        raise TomlInvalid("it is not UTF-8; save it as UTF-8") from None
    except ValueError as error:  # invalid TOML, or a number with thousands of digits
        raise TomlInvalid(f"it is not valid TOML: {error}") from None
