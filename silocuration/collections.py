"""Collections: saved searches with a text, a picture and an order of their own (docs/format.md).

A collection is the table ``[collection]`` in the file of a saved search. Its picture is a file
beside that, ``<name>.png`` for example, or a file of a record.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from recordsilo.disk.atomic_file import make_parents, remove_file, replace_file
from recordsilo.disk.identifier import check_identifier
from recordsilo.errors import IdentifierError
from recordsilo.silo import Silo
from silocuration.errors import RuleRefused
from silocuration.searches import SEARCHES, SavedSearch, load_search, replace_search
from silocuration.whole_pictures import is_whole

PICTURES: Mapping[str, str] = {
    "png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
}  # fmt: skip
"""Suffix → media type of the pictures: those that browsers show and that contain no scripts."""
MOST_PICTURE, MOST_TEXT, MOST_FIRST = 4 << 20, 20_000, 30
"""Maximum bytes of a picture, characters of a text, and records that are put first."""
_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"),
               (b"GIF87a", "gif"), (b"GIF89a", "gif"))  # fmt: skip


def suffix_of(beginning: bytes) -> str:
    """The suffix of a picture by its first 12 bytes; empty for all that is none of `PICTURES`."""
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "webp"
    return next((suffix for sign, suffix in _BEGINNINGS if beginning.startswith(sign)), "")


@dataclass(frozen=True, slots=True)
class Collection:
    """What makes a saved search a collection.

    Attributes:
        text: In Markdown.
        sort: An order of searches; empty for the default.
        first: Identifiers of records that come first, in this order.
        picture: The suffix of the picture beside the file; empty if there is none.
        picture_of: (identifier, path) of a record's file that is the picture instead.
    """

    text: str = ""
    sort: str = ""
    first: tuple[str, ...] = ()
    picture: str = ""
    picture_of: tuple[str, str] | None = None


def collection_of(search: SavedSearch) -> Collection | None:
    """The collection of a saved search; None if it is none.

    What people wrote into the file and is of the wrong kind is left out.
    """
    table = search.collection
    if table is None:
        return None
    first = table.get("first")
    named = filter(_is_identifier, first if isinstance(first, list) else [])
    picture, of = str(table.get("picture", "")), table.get("picture_of")
    pair = (str(of[0]), str(of[1])) if isinstance(of, list) and len(of) == 2 else None
    return Collection(
        str(table.get("text", ""))[:MOST_TEXT],
        str(table.get("sort", "")),
        tuple(dict.fromkeys(named))[:MOST_FIRST],
        picture if picture in PICTURES else "",
        pair,
    )


def _is_identifier(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(check_identifier(value))
    except IdentifierError:
        return False


def picture_path(silo_path: str, name: str, suffix: str) -> str:
    """Where the picture of a collection is."""
    return os.path.join(silo_path, *SEARCHES.split("/"), f"{name}.{suffix}")


def save_collection(silo_path: str, search: SavedSearch, found: Collection) -> None:
    """Store the collection in the file of its search, completely or not at all.

    Raises:
        RuleRefused: The text is too long.
        SearchNotFound, SearchUnreadable: The search is no longer there.
    """
    if len(found.text) > MOST_TEXT:
        raise RuleRefused(f"the text has more than {MOST_TEXT:,} characters")
    load_search(silo_path, search.name)
    replace_search(silo_path, replace(search, collection=_table(found)))


def keep_picture(silo_path: str, name: str, content: bytes) -> str:
    """Store a picture beside the file of its search; return its suffix.

    Raises:
        RuleRefused: It is too large, or not a whole picture of a type in `PICTURES`.
    """
    if len(content) > MOST_PICTURE:
        raise RuleRefused(f"the picture is larger than {MOST_PICTURE >> 20} MB")
    suffix = suffix_of(content[:12])
    if not suffix or not is_whole(content):
        raise RuleRefused("the picture is not a PNG, JPEG, GIF or WebP file")
    path = picture_path(silo_path, name, suffix)
    make_parents(path, silo_path)
    replace_file(path, content)
    return suffix


def drop_pictures(silo_path: str, name: str, but: str = "") -> None:
    """Delete the pictures of a collection, except the one with the suffix ``but``."""
    for suffix in PICTURES:
        path = picture_path(silo_path, name, suffix)
        if suffix != but and os.path.lexists(path):
            remove_file(path)


def end_collection(silo_path: str, name: str) -> None:
    """Make a saved search of a collection again; its text, order and picture are gone."""
    replace_search(silo_path, replace(load_search(silo_path, name), collection=None))
    drop_pictures(silo_path, name)


def first_of(silo: Silo, search: SavedSearch, found: Collection) -> tuple[str, ...]:
    """The records that come first, of those that the search finds.

    Cost: with conditions, memory for all that are found.
    """
    if not found.first:
        return ()
    if search.select.identifiers:
        listed = set(search.select.identifiers)
        return tuple(one for one in found.first if one in listed)
    held = tuple(silo.rows(found.first))
    if not held:
        return ()
    kept = set(replace(search.select, identifiers=held).find(silo))
    return tuple(one for one in found.first if one in kept)


def _table(found: Collection) -> dict[str, Any]:
    table: dict[str, Any] = {
        "text": found.text,
        "sort": found.sort,
        "first": list(found.first),
        "picture": found.picture,
        "picture_of": list(found.picture_of or ()),
    }
    return {name: value for name, value in table.items() if value}
