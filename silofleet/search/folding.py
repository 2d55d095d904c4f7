"""Which hits are the same work: those with one DOI, else with one title, year and creator. Pure.

A record without a DOI is the same as one with a DOI if title, year and creator are; two
records with different DOIs never are.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import regex

from silofleet.search.values import SearchHit

ACCENTS = regex.compile(r"\P{ccc=0}+")
"""Marks that combine with the character before."""
_BETWEEN = regex.compile(r"[^\p{L}\p{N}]+")
SHORTEST_TITLE = 8
"""Letters and digits of the shortest title that tells works apart."""


class KeyFields(Protocol):
    """What `keys_of` reads of a record."""

    @property
    def title(self) -> str: ...
    @property
    def creators(self) -> Sequence[str]: ...
    @property
    def year(self) -> str: ...
    @property
    def doi(self) -> str: ...


def keys_of(one: KeyFields) -> tuple[str, str]:
    """The DOI, and title, year and first creator, as records of one work have them in common.

    Either is empty if the record has too little. Names are compared by the surname.
    """
    title = plain(one.title)
    creator = one.creators[0] if one.creators else ""
    surname = plain(creator.partition(",")[0] if "," in creator else creator[-200:])
    surname = surname if "," in creator else surname.rpartition(" ")[2]
    enough = len(title) >= SHORTEST_TITLE and (one.year or surname)
    return one.doi.lower(), f"{title}|{one.year}|{surname}" if enough else ""


def plain(text: str) -> str:
    """The words of a text, without case, accents and punctuation."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return _BETWEEN.sub(" ", ACCENTS.sub("", folded)).strip()


@dataclass(slots=True)
class _Work:
    number: int
    first: SearchHit
    doi: str
    others: list[SearchHit] = field(default_factory=list)


def folded(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """Each work once, as its first hit; the others are named in `SearchHit.also`.

    Args:
        hits: In their order; those in `SearchHit.also` are kept.
    """
    works: list[_Work] = []
    by_doi: dict[str, _Work] = {}
    by_title: dict[str, list[_Work]] = {}
    for hit in hits:
        doi, title = keys_of(hit)
        same = by_doi.get(doi) if doi else None
        if same is None:
            known = by_title.get(title, ()) if title else ()
            fitting = (one for one in known if not (doi and one.doi))
            same = min(fitting, key=lambda one: one.number, default=None)
        if same is None:
            same = _Work(len(works), hit, doi)
            works.append(same)
        else:
            same.others.append(hit)
        same.doi = same.doi or doi
        if doi:
            by_doi[doi] = same
        if title and all(one is not same for one in by_title.setdefault(title, [])):
            by_title[title].append(same)
    return [_named(one) for one in works]


def _named(work: _Work) -> SearchHit:
    also = dict.fromkeys((*work.first.also, *(p for h in work.others for p in (h.place, *h.also))))
    also.pop(work.first.place, None)
    return replace(work.first, also=tuple(sorted(also))) if also else work.first
