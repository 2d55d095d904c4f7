"""Saved searches: ``curation/searches/<name>.toml`` in the Silo (docs/curation.md).

The file stores the query, not its results: the search is run again when it is used. A search
made from a list of identifiers always finds those records.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo.disk.toml_files import TomlFiles
from recordsilo.errors import SearchError
from recordsilo.selection import Selection, selection_from, selection_table
from silocuration.errors import CurationError, RuleRefused

SEARCHES = "curation/searches"
_FILE_NAME = re.compile(r"[^\W_][\w-]{0,79}")


class SearchNotFound(CurationError):
    """There is no saved search with that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no saved search {name!r}")


class SearchUnreadable(CurationError):
    """The file of a saved search is invalid."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        super().__init__(f"the saved search {name!r} cannot be read: {reason}")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A saved search.

    Attributes:
        name: The name of its file, also used in URLs.
        title: For people.
        date: When it was saved; UTC, ISO 8601.
        collection: The table ``[collection]`` of its file; see `silocuration.collections`.
    """

    name: str
    title: str
    select: Selection = field(default_factory=Selection)
    agent: str = ""
    date: str = ""
    collection: Mapping[str, Any] | None = None


def name_of(title: str) -> str:
    """Make a name from a title: its letters and digits, in lower case, joined by ``-``.

    Raises:
        RuleRefused: The title has no letters or digits.
    """
    name = re.sub(r"[\W_]+", "-", title.casefold()).strip("-")[:80].rstrip("-")
    if not name:
        raise RuleRefused("a saved search needs a title with letters or digits")
    return name


def save_search(silo_path: str, search: SavedSearch) -> str:
    """Save a search, completely or not at all, under the next free name; return the name.

    Raises:
        RuleRefused: The name is invalid.
    """
    if not _FILE_NAME.fullmatch(search.name):
        raise RuleRefused(f"{search.name!r} is not a valid name; use letters, digits and -")
    name, number = search.name, 1
    while True:
        try:
            _files(silo_path).add(name, _table(search))
        except FileExistsError:
            number += 1
            name = f"{search.name[:72]}-{number}"
        else:
            return name


def load_search(silo_path: str, name: str) -> SavedSearch:
    """Read a saved search.

    Raises:
        SearchNotFound: There is no search of that name.
        SearchUnreadable: Its file is invalid or cannot be read.
    """
    try:
        table = _files(silo_path).load(name)
        select = selection_from(table.get("select", {}))
    except FileNotFoundError:
        raise SearchNotFound(name) from None
    except OSError as error:
        raise SearchUnreadable(name, error.strerror or str(error)) from None
    except (ValueError, SearchError) as error:
        raise SearchUnreadable(name, str(error)) from None
    said = {key: str(table.get(key, "")) for key in ("title", "agent", "date")}
    own = table.get("collection")
    collection = own if isinstance(own, dict) else None
    title = said["title"] or name
    return SavedSearch(name, title, select, said["agent"], said["date"], collection)


def replace_search(silo_path: str, search: SavedSearch) -> None:
    """Write the file of a saved search again, completely or not at all."""
    _files(silo_path).store(search.name, _table(search))


def search_names(silo_path: str) -> list[str]:
    """Return the names of the saved searches, sorted."""
    return _files(silo_path).names()


def search_path(silo_path: str, name: str) -> str:
    """Where the file of a saved search is, or would be."""
    return os.path.join(silo_path, *SEARCHES.split("/"), f"{name}.toml")


def delete_search(silo_path: str, name: str) -> None:
    """Delete a saved search; the picture of a collection stays (`drop_pictures`).

    Raises:
        SearchNotFound: There is no search of that name.
        SearchUnreadable: A directory is in the place of its file, or it may not be deleted.
    """
    try:
        _files(silo_path).remove(name)
    except FileNotFoundError:
        raise SearchNotFound(name) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise SearchUnreadable(name, f"{reason}; remove it from {SEARCHES}") from None


def _table(search: SavedSearch) -> dict[str, Any]:
    said = {"title": search.title, "agent": search.agent, "date": search.date}
    own = {} if search.collection is None else {"collection": dict(search.collection)}
    return {**said, "select": selection_table(search.select), **own}


def _files(silo_path: str) -> TomlFiles:
    return TomlFiles(os.path.join(silo_path, *SEARCHES.split("/")), _FILE_NAME, silo_path)
