"""Lists of one's own as a service: a CSV file with the columns ``id``, ``name`` and ``aliases``.

Other columns: ``type``, ``description``. Aliases are separated by ``|``. Everything is matched in
this process, so it works without a network.
"""

import os
from collections.abc import Iterator

from recordsilo.disk.regular_file import open_regular
from silocuration.csv_rows import CsvDamaged, CsvRows
from silocuration.errors import CurationError
from silocuration.reconciling.matching import NamedEntity, Names
from silocuration.reconciling.protocol import Candidate, ReconciliationQuery, line_of

MOST_BYTES = 256 << 20
_COLUMNS = ("id", "name", "aliases", "type", "description")


class ListUnusable(CurationError):
    """A list that cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the list {os.path.basename(path)} cannot be used: {reason}")


def read_list(path: str) -> Names:
    """Read a list.

    Args:
        path: CSV in UTF-8, with a header.

    Raises:
        ListUnusable: It cannot be read, is damaged, lacks a column, has no names, or a line has
            no id or no name.
    """
    try:
        with open_regular(path) as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ListUnusable(path, error.strerror or str(error)) from None
    return names_from(path, content)


def names_from(path: str, content: bytes) -> Names:
    """Read the content of a list; see `read_list`."""
    if len(content) > MOST_BYTES:
        raise ListUnusable(path, f"it is larger than {MOST_BYTES >> 20} MiB")
    try:
        names = Names(_named(path, content.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise ListUnusable(path, "it is not UTF-8; save it as UTF-8") from None
    except CsvDamaged as error:
        raise ListUnusable(path, str(error)) from None
    if not len(names):
        raise ListUnusable(path, "it has no names below its first line")
    return names


def _named(path: str, text: str) -> Iterator[NamedEntity]:
    for number, row in CsvRows(text, ("id", "name"), lambda one: one.strip().lower()):
        said = {name: line_of(row.get(name)) for name in _COLUMNS if name != "aliases"}
        if not any(said.values()):
            continue
        if not said["id"] or not said["name"]:
            raise ListUnusable(path, f"line {number} has no id or no name")
        aliases = (line_of(one) for one in row.get("aliases", "").split("|"))
        names = (said["name"], *filter(None, aliases))
        types = (said["type"],) if said["type"] else ()
        yield NamedEntity(said["id"], names, types, said["description"])


def candidates_in(names: Names, query: ReconciliationQuery) -> tuple[Candidate, ...]:
    """Return the candidates of a name, the best first."""
    return tuple(
        Candidate(
            one.named.id,
            one.named.names[0],
            one.score,
            one.matches,
            one.named.types,
            one.named.description,
        )
        for one in names.find(query.text, query.limit, query.types)
    )
