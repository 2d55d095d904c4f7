"""Which record a UUID means: an item of DSpace 7, or a file of one."""

import csv
import io
import os
import re
from collections.abc import Mapping

from politeweb.addresses import parts_of
from recordsilo.disk.regular_file import open_regular
from recordsilo.formats import Link

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ADDRESS = re.compile(rf"/(items|entities/[a-z]+|bitstreams)/({_UUID})(?:/|$)", re.IGNORECASE)
_OF_OTHERS = re.compile(
    r"[:.](?:relation|source|references|rights|license|replaces|requires|related|is[A-Z]|has[A-Z])"
)
"""Fields whose links lead to other items."""
_BUNDLE, _ORIGINAL = "xoai:bundle:", "xoai:bundle:ORIGINAL"
MAX_TABLE = 256 << 20
"""Most bytes of a table; four million rows."""


def uuid_of(link: Link) -> str:
    """Return the UUID by which a link of a record leads to the record or a document of it (pure).

    Links to other items, and to thumbnails and licences of this one, give ``""``.
    """
    found = _ADDRESS.search(parts_of(link.url).path)
    if found is None or _OF_OTHERS.search(link.field):
        return ""
    if link.field.startswith(_BUNDLE) and link.field != _ORIGINAL:
        return ""
    return found[2].lower()


def read_table(path: str) -> Mapping[str, str]:
    """Read a table of UUIDs: lines ``UUID,record``, with or without a line of names.

    Raises:
        ValueError: It is too large, not UTF-8, or a line is not of this form.
        OSError: It cannot be read, or is no regular file.
    """
    known: dict[str, str] = {}
    is_uuid = re.compile(_UUID, re.IGNORECASE).fullmatch
    with (
        open_regular(path) as content,
        io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as file,
    ):
        if os.fstat(content.fileno()).st_size > MAX_TABLE:
            raise ValueError(f"it has more than {MAX_TABLE >> 20} MiB")
        try:
            for number, row in enumerate(csv.reader(file), 1):
                cells = [cell.strip() for cell in row]
                if any(cells) and (len(cells) != 2 or not all(cells) or not is_uuid(cells[0])):
                    if number == 1 and len(cells) == 2:
                        continue
                    raise ValueError(f"line {number:,} is not UUID,record")
                if any(cells):
                    known[cells[0].lower()] = cells[1]
        except csv.Error as error:
            raise ValueError(str(error)) from error
        except UnicodeDecodeError as error:
            raise ValueError("it is not UTF-8; save it as UTF-8") from error
    return known
