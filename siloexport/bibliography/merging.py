"""Several bibliographies of one version → one, in which nothing is said twice (pure).

The richest format comes first (`RICHEST_FIRST`): its title is the title, its order is the order.
Others add what it lacks: a missing ORCID of the same person, a further subject.
"""

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import reduce
from typing import Any, TypeVar

from recordsilo.formats import Value
from recordsilo.value_identifiers import IdentifiersOfValues
from siloexport.bibliography.values import (
    Bibliography,
    Dated,
    Degree,
    HostItem,
    Identifier,
    Name,
    Relation,
    Rights,
    language_tag,
)

RICHEST_FIRST = ("JATS", "DataCite", "MODS", "MARC 21", "ETD-MS", "UKETD_DC")
"""Formats by how much they say apart; then any other, and Dublin Core last."""
_LAST = "Dublin Core"
_T = TypeVar("_T")
_Parts = TypeVar("_Parts", HostItem, Degree)


def merged(found: Iterable[Bibliography]) -> Bibliography:
    """Return what several documents of one version say together."""
    return reduce(_both, sorted(found, key=_place), Bibliography())


def _place(one: Bibliography) -> int:
    name = one.source_formats[0] if one.source_formats else ""
    if name in RICHEST_FIRST:
        return RICHEST_FIRST.index(name)
    return len(RICHEST_FIRST) + (name == _LAST)


def _both(rich: Bibliography, poor: Bibliography) -> Bibliography:
    creators, contributors = _names(rich, poor)
    title = rich.title if rich.title.text else poor.title
    others = [*rich.alternatives, *_other_title(title, poor.title), *poor.alternatives]
    others = [one for one in others if key_of(one.text) != key_of(title.text)]
    return Bibliography(
        title=title,
        alternatives=_distinct(others, lambda one: key_of(one.text)),
        creators=creators,
        contributors=contributors,
        publishers=_values(rich.publishers, poor.publishers),
        dates=_dates(rich.dates, poor.dates),
        types=_values(rich.types, poor.types),
        subjects=_values(rich.subjects, poor.subjects),
        languages=_distinct(
            (*rich.languages, *poor.languages), lambda one: language_tag(one) or key_of(one)
        ),
        identifiers=_distinct((*rich.identifiers, *poor.identifiers), _identifier_key),
        rights=_rights(rich.rights, poor.rights),
        abstracts=_values(rich.abstracts, poor.abstracts, known=rich.notes),
        notes=_values(rich.notes, poor.notes, known=rich.abstracts),
        relations=_relations(rich, poor),
        sources=_values(rich.sources, poor.sources),
        formats=_values(rich.formats, poor.formats),
        coverages=_values(rich.coverages, poor.coverages),
        container=_filled(rich.container, poor.container),
        degree=_filled(rich.degree, poor.degree),
        edition=rich.edition or poor.edition,
        source_formats=tuple(dict.fromkeys((*rich.source_formats, *poor.source_formats))),
        means=_means(rich.means, poor.means),
    )


def _means(rich: IdentifiersOfValues, poor: IdentifiersOfValues) -> IdentifiersOfValues:
    if not rich or not poor:
        return rich or poor
    named = dict.fromkeys((*rich, *poor))
    return {field: {**poor.get(field, {}), **rich.get(field, {})} for field in named}


def key_of(text: str) -> str:
    """Return a text without case, spaces, punctuation and compatibility forms; never ``""``."""
    whole = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(one for one in whole if unicodedata.category(one)[0] not in "ZPC")
    return bare or whole


def _distinct(values: Iterable[_T], key: Callable[[_T], object]) -> tuple[_T, ...]:
    found: dict[object, _T] = {}
    for one in values:
        found.setdefault(key(one), one)
    return tuple(found.values())


def _values(
    rich: tuple[Value, ...], poor: tuple[Value, ...], known: tuple[Value, ...] = ()
) -> tuple[Value, ...]:
    keys = {key_of(one.text) for one in known}
    new = (one for one in poor if key_of(one.text) not in keys)
    return _distinct((*rich, *new), lambda one: key_of(one.text))


def _other_title(title: Value, other: Value) -> list[Value]:
    """Return the main title of another document, unless it is the title, with a subtitle or not."""
    main, key = key_of(title.text), key_of(other.text)
    is_same_title = key.startswith(main) or main.startswith(key)
    return [] if is_same_title else [other]


# -- names ---------------------------------------------------------------------------------


def _names(rich: Bibliography, poor: Bibliography) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
    """Return creators and contributors; a name of the richer one is the same as one other."""
    creators, contributors = list(rich.creators), list(rich.contributors)
    unmatched = [(creators, n) for n in range(len(creators))]
    unmatched += [(contributors, n) for n in range(len(contributors))]
    for names, own in ((poor.creators, creators), (poor.contributors, contributors)):
        for one in names:
            same = [place for place in unmatched if is_same(place[0][place[1]], one)]
            same = [place for place in same if place[0] is own] or same
            if not same:
                own.append(one)
                continue
            unmatched.remove(same[0])
            where, n = same[0]
            where[n] = _completed(where[n], one)
    return tuple(creators), tuple(contributors)


def is_same(one: Name, other: Name) -> bool:
    """Whether two names of one record are the same person: by ORCID, or by their words.

    A given name may be shortened in one of them.
    """
    if one.orcid and other.orcid:
        return one.orcid == other.orcid
    if one.family and other.family:
        is_one = key_of(one.family) == key_of(other.family)
        return is_one and _may_be_same(one.given, other.given)
    return _words(one) == _words(other)


def _words(name: Name) -> list[str]:
    text = f"{name.given} {name.family}" if name.family else name.text
    return sorted(map(key_of, text.replace(",", " ").replace(".", " ").split()))


def _may_be_same(one: str, other: str) -> bool:
    pairs = zip(_given(one), _given(other), strict=False)
    return all(a.startswith(b) or b.startswith(a) for a, b in pairs)


def _given(text: str) -> list[str]:
    return [key_of(word) for word in text.replace(".", " ").replace("-", " ").split()]


def _completed(name: Name, other: Name) -> Name:
    missing: dict[str, Any] = {
        one.name: getattr(other, one.name)
        for one in fields(Name)
        if one.name != "text" and not getattr(name, one.name)
    }
    for parts in (("family", "given"), ("role", "role_text")):  # never from two sources
        if any(getattr(name, part) for part in parts):
            missing = {key: value for key, value in missing.items() if key not in parts}
    return replace(name, **missing)


# -- other structured values -----------------------------------------------------------------


def _dates(rich: tuple[Dated, ...], poor: tuple[Dated, ...]) -> tuple[Dated, ...]:
    found = list(rich)
    for one in poor:
        date = one.w3c or one.text
        similar = (other for other in found if not one.kind or other.kind == one.kind)
        if not any((other.w3c or other.text).startswith(date) for other in similar):
            found.append(one)
    return _distinct(found, lambda one: (one.kind, one.text))


def _identifier_key(one: Identifier) -> object:
    if one.kind == "url":
        return "url", one.text.removeprefix("https://").removeprefix("http://")
    if one.kind in {"other", "citation"}:
        return "other", key_of(one.text)
    return one.kind, one.text.casefold()


def _rights(rich: tuple[Rights, ...], poor: tuple[Rights, ...]) -> tuple[Rights, ...]:
    found = list(rich)
    for one in poor:
        uris = {other.uri.rstrip("/") for other in found if other.uri}
        texts = {key_of(other.text) for other in found if other.text}
        if one.uri.rstrip("/") not in uris and (not one.text or key_of(one.text) not in texts):
            found.append(one)
    return tuple(found)


def _relations(rich: Bibliography, poor: Bibliography) -> tuple[Relation, ...]:
    """Return the relations; an identifier of the work itself is no relation of unknown kind."""
    own = {_identifier_key(one) for one in (*rich.identifiers, *poor.identifiers)}
    known = {_relation_key(one) for one in rich.relations}
    new = (
        one
        for one in poor.relations
        if (key := _relation_key(one)) not in known and (one.kind or key not in own)
    )
    return _distinct((*rich.relations, *new), lambda one: (one.kind, _relation_key(one)))


def _relation_key(one: Relation) -> object:
    return _identifier_key(one.identifier) if one.identifier else key_of(one.text)


def _filled(rich: _Parts, poor: _Parts) -> _Parts:
    """Return one value, with the other's parts where it has none."""
    missing: dict[str, Any] = {
        one.name: getattr(poor, one.name) for one in fields(rich) if not getattr(rich, one.name)
    }
    return replace(rich, **missing)
