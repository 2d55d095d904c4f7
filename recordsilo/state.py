"""PersistentState: a dictionary kept as a JSON file (the 2010 class of that name)."""

import json
import os
from collections.abc import Iterator, MutableMapping
from typing import Any

from recordsilo.disk import atomic_file
from recordsilo.disk.full_disk import not_writable
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import StateUnreadable

STATE_FILE = "persisted_state.json"


class PersistentState(MutableMapping[str, Any]):
    """A mapping with JSON values that is read from, and written to, one file.

    Changes are in memory until `sync`; `revert` discards them. ``.state`` is the plain
    dict behind the mapping; ``repr`` shows it.

    Args:
        filepath: The directory; None keeps the state in memory only (until `set_filepath`).
        filename: The file's name in it.
        create: Whether to write an empty state if the file does not exist.

    Raises:
        StateUnreadable: The file exists and is not a JSON object.
    """

    def __init__(
        self,
        filepath: str | None = None,
        filename: str = STATE_FILE,
        create: bool = True,
    ) -> None:
        self.state: dict[str, Any] = {}
        self._path: str | None = None
        if filepath is not None:
            self.set_filepath(filepath, filename, create)

    @property
    def path(self) -> str | None:
        """The file's absolute path; None for a state in memory only."""
        return self._path

    def set_filepath(self, filepath: str, filename: str = STATE_FILE, create: bool = True) -> bool:
        """Keep the state in another file: read it if it exists, else write it if ``create``.

        Args:
            filepath: The directory.
            filename: The file's name in it.
            create: Whether to write the state if the file does not exist.

        Returns:
            Whether the file exists now.

        Raises:
            StateUnreadable: The file exists and is not a JSON object.
        """
        self._path = os.path.join(os.path.abspath(filepath), filename)
        if os.path.exists(self._path):
            self.revert()
            return True
        if create:
            self.sync()
        return create

    def revert(self) -> None:
        """Read the file again and discard what was not synced.

        If there is no file, the state is unchanged.

        Raises:
            StateUnreadable: The file is not a JSON object; it is not changed.
        """
        if self._path is None:
            return
        try:
            with open(self._path, "rb", opener=regular_fd) as file:
                found = json.load(file)
        except FileNotFoundError:
            return
        except (ValueError, RecursionError) as error:
            raise StateUnreadable(self._path, str(error)) from None
        if not isinstance(found, dict):
            raise StateUnreadable(self._path, f"it contains a {type(found).__name__}")
        self.state = found

    def sync(self) -> None:
        """Write the file atomically and durably.

        Raises:
            SiloNotWritable: The disk is read-only or full.
        """
        if self._path is None:
            return
        text = json.dumps(self.state, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        try:
            atomic_file.replace_file(self._path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            if (ours := not_writable(os.path.dirname(self._path), error)) is None:
                raise
            raise ours from error

    def has_key(self, key: str) -> bool:
        """Whether the key exists (the 2010 spelling of ``in``)."""
        return key in self.state

    def __getitem__(self, key: str) -> Any:
        return self.state[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.state[key] = value

    def __delitem__(self, key: str) -> None:
        del self.state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.state)

    def __len__(self) -> int:
        return len(self.state)

    def __repr__(self) -> str:
        return repr(self.state)
