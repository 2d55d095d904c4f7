"""The index of all Silos of a directory, by tantivy; a copy of the Silos' own indexes.

It is in ``fleet/search/`` of the directory. A document is a record under the Silo's name and
the number that its index gave it, or the mark up to which a Silo was fed: both come with one
commit, so whatever is killed, the next feeding continues at a mark that fits the records.
"""

import contextlib
import importlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recordsilo.errors import RecordSiloError
from recordsilo.index import Entry, FacetValue
from recordsilo.index.projection import first_doi
from recordsilo.index.rows import flags_of
from recordsilo.index.search_values import FLAGS
from silofleet.search.errors import IndexUnusable, PackageMissing
from silofleet.search.folding import folded, keys_of
from silofleet.search.queries import (
    FLAG,
    KIND,
    MARK,
    RECORD,
    SAME,
    TEXTS,
    YEAR_NUMBER,
    Queries,
    field_of,
    without_accents,
    words_field,
)
from silofleet.search.values import (
    OWN_FIELDS,
    AllSearch,
    Answer,
    Hit,
    Place,
    most_frequent,
)

SCHEMA = 1
"""Increase this number when the fields, or what is written into them, change."""
PLACE = f"fleet/search/{SCHEMA}"
_WORDS = "folded"
_VALUED = tuple(name for name in OWN_FIELDS if name not in FLAGS)
_MOST_SILOS = 1_000_000
_DEEPEST = 16_000
"""Records that are read at most to fill a page with works."""


def place_of(directory: str) -> str:
    """Where the index of a directory of Silos is."""
    return os.path.join(directory, PLACE)


def loaded() -> Any:
    """The module ``tantivy``.

    Raises:
        PackageMissing: It is not installed.
    """
    try:
        return importlib.import_module("tantivy")
    except ImportError:
        raise PackageMissing from None


class Opened:
    """An open index.

    Args:
        path: Of its directory, which exists.
        create: Whether to create the index.

    Raises:
        IndexUnusable: It is damaged, or of another release.
        PackageMissing: See `loaded`.
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        self.tantivy = loaded()
        self.path = path
        with told(path):
            schema = _schema(self.tantivy)
            if not create and not self.tantivy.Index.exists(path):
                raise IndexUnusable(path, "there is none")
            self.index = self.tantivy.Index(schema, path=path)
            builder = self.tantivy.TextAnalyzerBuilder(self.tantivy.Tokenizer.simple())
            analyzer = builder.filter(self.tantivy.Filter.lowercase()).build()
            self.index.register_tokenizer(_WORDS, analyzer)
            self.queries = Queries(self.tantivy, schema, analyzer)
            self.reload()

    def reload(self) -> None:
        """See the last commit from now on."""
        self.index.reload()
        self.searcher = self.index.searcher()
        self.marks = dict(self._marks())

    def _marks(self) -> Iterator[tuple[str, str]]:
        """Silo → the mark up to which it was fed."""
        found = self.searcher.search(self.queries.term(KIND, MARK), _MOST_SILOS)
        for _score, address in found.hits:
            silo, mark = json.loads(bytes(self.searcher.doc(address)["hit"][0]))
            yield str(silo), str(mark)

    # -- searches -----------------------------------------------------------------------------

    def search(self, search: AllSearch, without: Sequence[str] = ()) -> Answer:
        """Find records.

        Args:
            search: What is searched for.
            without: Silos that are left out: not fed completely, or not there any more.

        Raises:
            SearchError: The search is wrong.
            IndexUnusable: The index is damaged.
        """
        query = self.queries.of(search, without=without)
        with told(self.path):
            works, total, more = self._works(query, search)
            facets = self._facets(query, search, without)
        return Answer(
            hits=tuple(works[search.offset : search.end]),
            total=total,
            has_more=more,
            sort=search.order,
            facets=facets,
            asked=len(self.marks),
            by_index=True,
        )

    def _works(self, query: Any, search: AllSearch) -> tuple[list[Hit], int, bool]:
        depth = search.end + 50
        while True:
            hits, total = self._hits(query, search.order, depth)
            works = folded(hits)
            if len(works) > search.end or len(hits) >= total or depth >= _DEEPEST:
                break
            depth *= 4
        shown = works[: search.end]
        keys = {key for hit in shown[search.offset :] for key in same_keys(hit)}
        if keys and len(hits) < total:
            same = self.queries.both(query, self.queries.any_of(SAME, keys))
            known = {hit.place for hit in hits}
            others, _total = self._hits(same, search.order, _DEEPEST)
            if more := [one for one in others if one.place not in known]:
                shown = folded([*hits, *more])[: len(shown)]
        return shown, total, len(works) > search.end or depth >= _DEEPEST

    def _hits(self, query: Any, sort: str, limit: int) -> tuple[list[Hit], int]:
        settings: dict[str, Any] = {}
        if sort != "relevance":
            orders = self.tantivy.Order
            order = orders.Desc if sort == "newest" else orders.Asc
            settings = {"order_by_field": "seconds", "order": order}
        found = self.searcher.search(query, limit, **settings)
        sign = -1.0 if sort == "oldest" else 1.0
        read = self.searcher.doc
        hits = [_hit(bytes(read(address)["hit"][0]), sign * score) for score, address in found.hits]
        return hits, int(found.count)

    def _facets(
        self, query: Any, search: AllSearch, without: Sequence[str]
    ) -> Mapping[str, tuple[FacetValue, ...]]:
        named = {*search.filters.fields, *search.filters.flags}
        common = [name for name in search.facets if name not in named]
        counts = self._counted(query, common, search.facet_limit)
        for name in search.facets:
            if name in named:
                others = self.queries.of(search, but=name, without=without)
                counts |= self._counted(others, [name], search.facet_limit)
        return {name: counts[name] for name in search.facets}

    def _counted(
        self, query: Any, names: Sequence[str], limit: int
    ) -> dict[str, tuple[FacetValue, ...]]:
        wanted = {
            name: {"terms": {"field": field_of(name), "size": max(limit, 2 * len(FLAGS))}}
            for name in names
        }
        if not wanted:
            return {}
        found = self.searcher.aggregate(query, wanted)
        counts = {
            name: {str(one["key"]): int(one["doc_count"]) for one in found[name]["buckets"]}
            for name in names
        }
        total = self.searcher.search(query, 1).count if {*names} & {*FLAGS} else 0
        for name in {*names} & {*FLAGS}:
            true = counts[name].get(name, 0)
            counts[name] = {"true": true, "false": total - true}
        return {name: most_frequent(values, limit) for name, values in counts.items()}

    # -- feeding ------------------------------------------------------------------------------

    def document(self, silo: str, number: int, entry: Entry) -> Any:
        """A record as a document.

        Args:
            silo: The name of its Silo.
            number: As `Silo.changed_entries` gives it.
            entry: What the Silo's index has of it.
        """
        hit = _hit_of(silo, entry)
        found = self.tantivy.Document()
        add = found.add_text
        add(KIND, RECORD)
        add("key", key_of(silo, number))
        add("silo", silo)
        text = entry.text
        for name, words in zip(TEXTS, text.columns, strict=False):
            if words:
                add(words_field(name), without_accents(words))
        if text.harvested_title:
            add(words_field("title"), without_accents(text.harvested_title))
        for key in same_keys(hit):
            add(SAME, key)
        for name in _VALUED:
            for value in entry.facets.get(name, ()):
                add(name, value)
        bits = flags_of(entry)
        for place, name in enumerate(FLAGS):
            if bits >> place & 1:
                add(FLAG, name)
        if hit.year.isdecimal():
            found.add_integer(YEAR_NUMBER, int(hit.year))
        found.add_integer("seconds", entry.seconds)
        found.add_bytes("hit", _packed(hit))
        return found

    def mark(self, silo: str, mark: str) -> Any:
        """The mark up to which a Silo was fed, as a document."""
        found = self.tantivy.Document()
        found.add_text(KIND, MARK)
        found.add_text("key", key_of(silo))
        found.add_bytes("hit", json.dumps([silo, mark]).encode())
        return found


@contextlib.contextmanager
def told(path: str) -> Iterator[None]:
    """Raise what tantivy raises, which has no errors of its own, as `IndexUnusable`.

    Args:
        path: Of the index.
    """
    try:
        yield
    except RecordSiloError:
        raise
    except (ValueError, OSError, LookupError, TypeError) as error:
        raise IndexUnusable(path, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a panic in Rust is; no Exception
            raise
        raise IndexUnusable(path, error) from error


def key_of(silo: str, number: int | str = "") -> str:
    """The key of a record's document, or of a Silo's mark."""
    return f"{silo}\0{number}"


def same_keys(hit: Hit) -> Iterator[str]:
    """The values by which records of one work are found."""
    doi, title = keys_of(hit)
    if doi:
        yield f"doi {doi}"
    if title:
        yield f"title {title}"[:1000]


def _schema(tantivy: Any) -> Any:
    builder = tantivy.SchemaBuilder()
    for name in TEXTS:
        builder.add_text_field(words_field(name), tokenizer_name=_WORDS)
    for name in (KIND, "key", SAME):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("silo", FLAG, *_VALUED):
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in ("seconds", YEAR_NUMBER):
        builder.add_integer_field(name, indexed=True, fast=True)
    builder.add_bytes_field("hit", stored=True)
    return builder.build()


def _hit_of(silo: str, entry: Entry) -> Hit:
    row, facets = entry.row, entry.facets
    return Hit(
        Place(silo, row.identifier),
        row.title,
        facets.get("creator", ()),
        next(iter(facets.get("year", ())), ""),
        facets.get("type", ()),
        first_doi(entry.text.identifiers),
        row.datestamp,
        row.deleted,
    )


def _packed(hit: Hit) -> bytes:
    place = hit.place
    values = (
        place.silo, place.identifier, hit.title, hit.creators, hit.year, hit.types, hit.doi,
        hit.datestamp, hit.deleted,
    )  # fmt: skip
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def _hit(packed: bytes, score: float) -> Hit:
    silo, identifier, title, creators, year, types, doi, datestamp, deleted = json.loads(packed)
    return Hit(
        Place(silo, identifier), title, tuple(creators), year, tuple(types), doi, datestamp,
        deleted, score,
    )  # fmt: skip
