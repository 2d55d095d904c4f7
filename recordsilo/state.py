"""PersistentState: a dictionary kept as a JSON file (the 2010 class of that name)."""

import json
import os
from collections.abc import Iterator, MutableMapping
from typing import Any

from recordsilo.disk import atomic_file
from recordsilo.errors import StateUnreadable


class PersistentState(MutableMapping[str, Any]):
    """A mapping with JSON values that is read from, and written to, one file.

    Changes are in memory until `sync`; `revert` forgets them. A real mapping in
    every respect; ``.state`` is the plain dict behind it, which is also what
    ``repr`` shows.

    Args:
        filepath: The directory; None for a state that is not kept (until `set_filepath`).
        filename: The file's name in it.
        create: Whether to write an empty state where there is no file.

    Raises:
        StateUnreadable: The file exists and is not a JSON object.
    """

    def __init__(
        self,
        filepath: str | None = None,
        filename: str = "persisted_state.json",
        create: bool = True,
    ) -> None:
        self.state: dict[str, Any] = {}
        self._path: str | None = None
        if filepath is not None:
            self.set_filepath(filepath, filename, create)

    @property
    def path(self) -> str | None:
        """The file, absolute; None for a state that is not kept."""
        return self._path

    def set_filepath(
        self, filepath: str, filename: str = "persisted_state.json", create: bool = True
    ) -> bool:
        """Keep the state in another file: reads it if it exists, else writes it if ``create``.

        Returns:
            Whether the file exists now.
        """
        self._path = os.path.join(os.path.abspath(filepath), filename)
        if os.path.exists(self._path):
            self.revert()
            return True
        if create:
            self.sync()
        return create

    def revert(self) -> None:
        """Read the file again; what was not synced is gone.

        Without a file there is nothing to go back to, and the state stays.

        Raises:
            StateUnreadable: The file is not a JSON object; it is left as it is.
        """
        if self._path is None:
            return
        try:
            with open(self._path, "rb") as file:
                found = json.load(file)
        except FileNotFoundError:
            return
        except (ValueError, RecursionError) as error:
            raise StateUnreadable(self._path, str(error)) from None
        if not isinstance(found, dict):
            raise StateUnreadable(self._path, f"it holds a {type(found).__name__}")
        self.state = found

    def sync(self) -> None:
        """Write the file, whole or not at all, durably."""
        if self._path is not None:
            text = json.dumps(self.state, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
            atomic_file.replace_file(self._path, text.encode("utf-8", "backslashreplace"))

    def has_key(self, key: str) -> bool:
        """Whether there is such a key (the 2010 spelling of ``in``)."""
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
