"""The list of records as a table: its columns, and each user's choice of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from recordsilo.index.facets import contributed_orders
from recordsilo.index.search_values import LARGE_FIELDS, SMALL_FIELDS
from webui import urls
from webui.http.messages import cookie
from webui.record.rows import RowView, contributed_columns
from webui.search.facets import value_label
from webui.search.request import facet_label
from webui.search.selections import Selections
from webui.site import Call, Site
from webui.words.dates import for_people
from webui.words.texts import text as _

COOKIE = "list"
"""The cookie has the look, then the names of the columns, each after a dot, with their widths
behind a tilde where the user has changed them: ``table.title~320.creator``."""
LOOKS = ("list", "compact", "table")
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
_ORDERS: Mapping[str, tuple[str, ...]] = {
    "title": ("title",),
    "identifier": ("identifier",),
    "datestamp": ("newest", "oldest"),
    "year": ("-year", "year"),
    "type": ("type",),
}
"""Column → the orders that its head leads to, one after the other."""
NARROWEST = 48
"""Pixels."""
_WIDTH = re.compile(r"\d{1,4}", re.ASCII)
_AT_FIRST = ("title", "creator", "year", "type", "publisher")
_FACETS = tuple(name for name in (*SMALL_FIELDS, *LARGE_FIELDS) if name not in _AT_FIRST)


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One value in a cell, and its link; ``""``: none."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ListChoice:
    """How a user lists records.

    Attributes:
        look: One of `LOOKS`.
        columns: Names of columns of the table, in the user's order.
        widths: Column → its width in pixels, where the user has changed it.
    """

    look: str = LOOKS[0]
    columns: tuple[str, ...] = _AT_FIRST
    widths: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, look: str, wanted: Iterable[str], widths: Mapping[str, str] | None = None
    ) -> "ListChoice":
        """Make a choice of the existing columns among some; of the first ones if none exists."""
        known = column_names()
        columns = tuple(dict.fromkeys(name for name in wanted if name in known)) or _AT_FIRST
        given = (widths or {}).items()
        sizes = {name: int(text) for name, text in given if _WIDTH.fullmatch(text)}
        return cls(
            look if look in LOOKS else LOOKS[0],
            columns,
            {name: max(NARROWEST, sizes[name]) for name in columns if name in sizes},
        )

    @classmethod
    def read(cls, text: str) -> "ListChoice":
        """Read a stored choice; invalid parts are ignored."""
        look, *parts = text.split(".")
        named = [part.partition("~") for part in parts]
        return cls.of(look, (name for name, _, _ in named), {name: w for name, _, w in named})

    def __str__(self) -> str:
        """As it is stored."""
        sized = (
            f"{name}~{self.widths[name]}" if name in self.widths else name for name in self.columns
        )
        return ".".join((self.look, *sized))

    @property
    def is_table(self) -> bool:
        """Whether records are rows of a table."""
        return self.look == "table"

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of all columns: those of the table in its order, then the others."""
        return tuple(dict.fromkeys((*self.columns, *column_names())))

    def moved(self, move: str) -> "ListChoice":
        """The choice with a column one place further left or right.

        Args:
            move: Such as ``year.left``; any other text moves nothing.
        """
        name, _dot, where = move.rpartition(".")
        if name not in self.columns or where not in ("left", "right"):
            return self
        others = [one for one in self.columns if one != name]
        place = max(0, self.columns.index(name) + (1 if where == "right" else -1))
        return ListChoice(self.look, (*others[:place], name, *others[place:]), self.widths)


def choice_of(call: Call) -> ListChoice:
    """Return how the current user lists records: kept with the account, or else in the cookie."""
    kept = Selections(call.site.silo.path).look(call.user.name) if call.user.session else ""
    return ListChoice.read(kept or cookie(call.request, COOKIE))


def keep_choice(call: Call, choice: ListChoice) -> dict[str, str]:
    """Store how the current user lists records.

    Returns:
        The header that stores it in the browser, for this Silo; with an account, none.
    """
    if call.user.session:
        Selections(call.site.silo.path).keep_look(call.user.name, str(choice))
        return {}
    at = f"Path={urls.at('/')}; Max-Age={KEPT}; HttpOnly; SameSite=Lax"
    return {"Set-Cookie": f"{COOKIE}={choice}; {at}"}


@dataclass(frozen=True, slots=True)
class TableHead:
    """The head of a column.

    Attributes:
        sort: ``ascending`` or ``descending``, if the rows are in its order.
        next_sort: The order that its link leads to; empty if there is none.
        width: In pixels; 0: that of the style.
    """

    name: str
    label: str
    sort: str
    next_sort: str
    width: int


def heads(choice: ListChoice, sort: str) -> Iterator[TableHead]:
    """Yield the heads of a table.

    Args:
        choice: With its columns.
        sort: The order of the rows.
    """
    orders = contributed_orders()
    for name in choice.columns:
        own = _ORDERS.get(name) or tuple(one for one in (f"-{name}", name) if one in orders)
        at = own.index(sort) + 1 if sort in own else 0
        descends = sort in ("newest", f"-{name}")
        yield TableHead(
            name,
            column_label(name),
            ("descending" if descends else "ascending") if at else "",
            own[at % len(own)] if own else "",
            choice.widths.get(name, 0),
        )


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
