"""A search that found nothing: what was probably meant, and which condition to remove."""

from dataclasses import dataclass, replace
from typing import Any

from recordsilo.index.search_values import DATES, NOT, facet_of
from recordsilo.remarks import Meant, meant, remarks_on, wider
from webui.http.errors import as_sentence
from webui.search.facets import value_label
from webui.search.request import SearchRequest, facet_label
from webui.site import Site
from webui.words.texts import text as _


@dataclass(frozen=True, slots=True)
class WayOut:
    """A search that finds something.

    Attributes:
        label: The words, or the condition that is removed.
        url: Of its results.
        total: The number of records.
    """

    label: str
    url: str
    total: int


@dataclass(frozen=True, slots=True)
class NothingFound:
    """What a page without results says.

    Attributes:
        meant: The words as the index spells them; None if they are known.
        wider: Without one of the conditions each; most records first.
        remarks: Sentences on what may be a mistake.
    """

    meant: WayOut | None
    wider: tuple[WayOut, ...]
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, site: Site, request: SearchRequest) -> "NothingFound":
        """Ask the Silo; see `recordsilo.remarks` for the cost."""
        silo, filters = site.silo, request.filters
        others = replace(request, after="", back=())
        said = meant(silo, request.q, filters)
        return cls(
            WayOut(said.query, _asking(others, said).url(), said.total) if said else None,
            tuple(
                WayOut(_label(site, others, one.name), _without(others, one.name).url(), one.total)
                for one in wider(silo, request.q, filters)
            ),
            tuple(map(as_sentence, remarks_on(silo, request.q, filters, offers=False))),
        )

    @property
    def as_json(self) -> dict[str, Any]:
        """As members of an object."""
        return {
            "words": self.meant.label if self.meant else None,
            "records": self.meant.total if self.meant else 0,
            "without": [{"condition": one.label, "records": one.total} for one in self.wider],
        }


def _asking(request: SearchRequest, said: Meant) -> SearchRequest:
    if said.filters == request.filters:
        return replace(request, q=said.query)
    return SearchRequest(q=said.query, limit=request.limit)


def _without(request: SearchRequest, name: str) -> SearchRequest:
    if not name:
        return replace(request, q="")
    if name in DATES:
        return request.without((name, ""))
    return replace(request, chosen=tuple(one for one in request.chosen if one[0] != name))


def _label(site: Site, request: SearchRequest, name: str) -> str:
    """A condition as the filters in use above the results show it."""
    if not name:
        return f"“{request.q}”"
    if name in DATES:
        labels = {"since": _("Changed since"), "until": _("Changed until")}
        return f"{labels.get(name, _('Changed here'))}: {getattr(request, name)}"
    values = [value for key, value in request.chosen if key == name]
    said = ", ".join(value_label(site, facet_of(name), one) for one in values)
    return f"{_(facet_label(facet_of(name)))}: {_('not') + ' ' if name.endswith(NOT) else ''}{said}"
