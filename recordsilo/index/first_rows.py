"""The index rows of new records that were harvested in one format, from the texts of their file.

`projection.project` and `rows.prepare` make the row of any record; this makes the same for these,
without a manifest, a description or an entry in between. Pure.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from recordsilo.formats.quality import codes_of_texts
from recordsilo.index.projection import (
    MAX_FACET,
    first_doi,
    identifiers_of,
    searchable,
    seconds_of_text,
)
from recordsilo.index.rows import (
    Prepared,
    described_digest,
    digest_of_text,
    pairs_of,
    sets_text,
    title_key,
)
from recordsilo.index.search_values import FLAGS, LARGE_FIELDS, SMALL_FIELDS
from recordsilo.records.description import storable, year_of

_HAS_DOI = 1 << FLAGS.index("has_doi")
_NO_STAMP = (0, 0, 0)
_seconds = lru_cache(maxsize=4096)(seconds_of_text)  # records of one day have equal datestamps
_NOTHING: Sequence[str] = ()


def first_row(
    identifier: str,
    datestamp: str,
    sets: tuple[str, ...],
    texts: Mapping[str, Sequence[str]],
    *,
    path: str,
    changed: int,
) -> Prepared:
    """The row of a new record with one harvested version, which has one metadata file.

    Args:
        identifier: The record's.
        datestamp: In the 2010 form.
        sets: The setSpecs, as sent.
        texts: As of `recordsilo.formats.flat.flat_texts`.
        path: The file's path.
        changed: When the manifest is written, as seconds since 0001-01-01; not 0.

    Returns:
        The row without the stamp of the manifest's file, which `rows.stamped` adds.
    """
    get = texts.get
    titles, subjects = get("titles", _NOTHING), get("subjects", _NOTHING)
    creators = get("creators", _NOTHING)
    title = storable(titles[0]) if titles else ""
    text = (
        searchable(" ".join(titles)),
        searchable("; ".join([*creators, *get("contributors", _NOTHING)])),
        searchable("; ".join(subjects)),
        searchable(" ".join(get("descriptions", _NOTHING))),
        searchable(identifiers_of(identifier, get("identifiers", _NOTHING))),
        "",
    )
    specs = _specs(sets)
    facets = {
        "set": specs,
        "year": year_of(get("dates", _NOTHING)),
        "type": _each(get("types", _NOTHING)),
        "language": _each(get("languages", _NOTHING)),
        "publisher": _each(get("publishers", _NOTHING)),
        "format": (path,),
        "finding": codes_of_texts(texts),
        "subject": _each(subjects),
        "creator": _each(creators),
    }
    small, large = pairs_of(facets, SMALL_FIELDS), pairs_of(facets, LARGE_FIELDS)
    digest, key, seconds = digest_of_text(text), title_key(title), _seconds(datestamp)
    flags = _HAS_DOI if "doi:10." in text[4] and first_doi(text[4]) else 0
    described = described_digest((title, key, seconds, flags), (*small, *large), digest)
    fixed = (
        identifier, datestamp, title, sets_text(specs), False, False, False, "1", 1, 1,
        key, seconds, flags, digest, described, *_NO_STAMP, changed,
    )  # fmt: skip
    return Prepared(
        identifier, fixed, specs, sets_text(specs), small, large, text, digest, _NO_STAMP
    )


@lru_cache(maxsize=4096)  # many records are in the same sets
def _specs(sets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(storable, sets)))


def _each(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([storable(text[:MAX_FACET]) for text in texts]))
