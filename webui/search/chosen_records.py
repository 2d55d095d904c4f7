"""The records of a batch edit or a download: a search by its address, a saved search, a user's
selection, or a list.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recordsilo.errors import RecordNotFound
from recordsilo.selection import Selection
from silocuration.searches import load_search
from webui import urls
from webui.http.errors import BadRequest
from webui.search.request import Pair, SearchRequest, pairs_of_query
from webui.search.selections import Selections
from webui.site import Call, Site
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

_SELECTION = "selection="
_OWN = ("saved", "selection", "rule", "state-to", "job", "done", "path", "token", "place")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A selection and its description on the page.

    Attributes:
        search: The query of its search's address.
        count: How many records it finds now.
        url: The address of their list; empty for a list of identifiers.
    """

    select: Selection
    search: str
    count: int
    url: str

    @property
    def said(self) -> str:
        """The selection in words."""
        if self.select.is_everything:
            return _("All {n} records of this Silo", n=numeral(self.count))
        if self.search.startswith(_SELECTION):
            return counted("{n} selected record", "{n} selected records", self.count)
        if self.select.identifiers and not self.url:
            return counted("{n} listed record", "{n} listed records", self.count)
        return counted("{n} record found", "{n} records found", self.count)


def search_of(pairs: Iterable[Pair]) -> str:
    """Return the fields of an address that select records, as a query."""
    own = {"rule", "done", "state-to", "job", "place"}
    kept = [(name, value) for name, value in pairs if value and name not in own]
    return urls.search(kept).partition("?")[2]


def selected(call: Call, search: str, identifiers: tuple[str, ...] = ()) -> Chosen:
    """Return the selection of a search's query, restricted to some identifiers.

    Raises:
        BadRequest: The query is invalid.
        SearchNotFound, SearchUnreadable: The saved search that it names is missing or unreadable.
        Conflict: The selection that it names has changed.
    """
    site = call.site
    pairs = pairs_of_query(search)
    request = SearchRequest.of(pairs, also=_OWN)
    select = request.selection
    saved, token = (dict(pairs).get(name) for name in ("saved", "selection"))
    if saved and select.is_everything:
        select = load_search(site.silo.path, saved).select
    if token is not None:
        kept = Selections(site.silo.path).named(call.user.name, token)
        there = tuple(one for one in kept if one in site.silo)
        if not there:
            raise BadRequest("No record is selected. Tick records in a list first.")
        identifiers = identifiers or there
    if identifiers:
        select = replace(select, identifiers=identifiers)
    url = urls.selection() if token is not None else _url(select)
    return Chosen(select, search, _count(site, select), url)


def _count(site: Site, select: Selection) -> int:
    """How many records a selection finds; all that are listed if one of them does not exist."""
    try:
        return select.total(site.silo)
    except RecordNotFound:
        return len(select.identifiers)


def _url(select: Selection) -> str:
    return "" if select.identifiers else SearchRequest.of_selection(select).url()


def from_address(call: Call) -> Chosen:
    """Return the selection of the request's address."""
    return selected(call, search_of(call.request.pairs))
