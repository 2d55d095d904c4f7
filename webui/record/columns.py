"""The list of records as a table: its columns, and the user's choice of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recordsilo.index.search_values import LARGE_FIELDS, SMALL_FIELDS
from webui import urls
from webui.http.messages import Request, cookie
from webui.record.rows import RowView, contributed_columns
from webui.search.facets import value_label
from webui.search.request import facet_label
from webui.site import Site
from webui.words.dates import for_people
from webui.words.texts import text as _

COOKIE = "list"
"""The cookie has ``list`` or ``table``, then the names of the columns, each after a dot."""
KEPT = 365 * 24 * 3600
"""Seconds."""
LABELS: Mapping[str, str] = {
    "title": "Title",
    "identifier": "Identifier",
    "doi": "DOI",
    "datestamp": "Datestamp",
    "versions": "Versions",
}
"""The columns that are not facets; English texts of the catalogue."""
_AT_FIRST = ("title", "creator", "year", "type", "publisher")
_FACETS = tuple(name for name in (*SMALL_FIELDS, *LARGE_FIELDS) if name not in _AT_FIRST)


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One value in a cell, and its link; ``""``: none."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ListChoice:
    """The user's choice of how records are listed.

    Attributes:
        columns: Names of columns, in the order of `column_names`; of the table.
    """

    is_table: bool = False
    columns: tuple[str, ...] = _AT_FIRST

    @classmethod
    def of(cls, wanted: Iterable[str], *, is_table: bool) -> "ListChoice":
        """Make a choice of the existing columns among these; of the first ones if none exists."""
        some = set(wanted)
        found = tuple(name for name in column_names() if name in some)
        return cls(is_table, found or _AT_FIRST)

    @classmethod
    def read(cls, request: Request) -> "ListChoice":
        """Read the cookie; invalid parts are ignored."""
        view, *names = cookie(request, COOKIE).split(".")
        return cls.of(names, is_table=view == "table")

    @property
    def header(self) -> str:
        """The header that stores the choice in the browser, for this Silo."""
        value = ".".join(("table" if self.is_table else "list", *self.columns))
        return f"{COOKIE}={value}; Path={urls.at('/')}; Max-Age={KEPT}; HttpOnly; SameSite=Lax"


def column_names() -> tuple[str, ...]:
    """The names of all columns, those that packages contribute last."""
    own = (*_AT_FIRST, *_FACETS, *(name for name in LABELS if name not in _AT_FIRST))
    return tuple(dict.fromkeys((*own, *(facet.name for facet in contributed_columns()))))


def column_label(name: str) -> str:
    """The name of a column."""
    return _(LABELS.get(name) or facet_label(name))


def cells(site: Site, line: RowView, name: str) -> tuple[ShownCell, ...]:
    """The cells of a row in a column."""
    row = line.row
    if name == "title":
        return (ShownCell(row.title or row.identifier, line.url),)
    if name in LABELS:
        texts = {
            "identifier": row.identifier,
            "doi": line.described.doi,
            "datestamp": for_people(row.datestamp),
            "versions": str(row.versions),
        }
        return (ShownCell(texts[name]),)
    if name in line.contributed:
        return tuple(map(ShownCell, line.contributed[name]))
    values = line.described.values.get(name, ())
    return tuple(ShownCell(value_label(site, name, v), urls.search([(name, v)])) for v in values)
