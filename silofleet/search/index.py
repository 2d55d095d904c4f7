"""The index of all Silos of a directory, by tantivy; a copy of the Silos' own indexes.

It is in ``fleet/search/`` of the directory. A document is a record under the Silo's name and
the number that its index gave it, or the mark up to which a Silo was fed: both come with one
commit, so whatever is killed, the next feeding continues at a mark that fits the records.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recordsilo.contributions import warn_once
from recordsilo.errors import RecordSiloError, SearchError
from recordsilo.extras import needed
from recordsilo.index import Entry, FacetValue
from recordsilo.index.facets import facet_named
from recordsilo.index.projection import first_doi
from recordsilo.index.rows import flags_of
from recordsilo.index.search_values import ASKED, FACETS, FLAGS
from silofleet.search.errors import IndexUnusable
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
    number_fields,
    without_accents,
    words_field,
)
from silofleet.search.values import (
    NO_NUMBER,
    REPOSITORY,
    SORTS,
    AllSearch,
    HitPlace,
    SearchAnswer,
    SearchHit,
    fields,
    most_frequent,
    numbers_in,
)

SCHEMA = 3
"""Increase this number when the fields, or what is written into them, change."""
PLACE = f"fleet/search/{SCHEMA}"
_WORDS = "folded"
_VALUED = tuple(name for name in FACETS if name not in FLAGS)
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
    return needed("tantivy", "the index of all Silos", "fleet")


class Opened:
    """An open index.

    Args:
        path: Of its directory, which exists.

    Attributes:
        fields: The names of its fields.

    Raises:
        IndexUnusable: It is damaged, or of another release.
        PackageMissing: See `loaded`.
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        self.tantivy = loaded()
        self.path = path
        with translated_errors(path):
            if self.tantivy.Index.exists(path):
                self.index = self.tantivy.Index.open(path)
            elif create:
                self.index = self.tantivy.Index(_schema(self.tantivy), path=path)
            else:
                raise IndexUnusable(path, "there is none")
            with open(f"{path}/meta.json", "rb") as file:
                self.fields = {str(one["name"]) for one in json.load(file)["schema"]}
            schema = self.index.schema
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

    def search(self, search: AllSearch, without: Sequence[str] = ()) -> SearchAnswer:
        """Find records.

        Args:
            without: Silos that are left out: not fed completely, or not there any more.

        Raises:
            SearchError: The search is wrong.
            IndexUnusable: The index is damaged, or older than a field that filters or sorts.
        """
        needed = *search.filters.fields, *({search.order.removeprefix("-")} - {*SORTS})
        dates = () if search.filters.changed_since is None else ("changed",)
        if lacking := sorted({*map(field_of, needed), *dates} - self.fields):
            raise IndexUnusable(self.path, f"it has no field {lacking[0]!r} yet")
        query = self.queries.of(search, without=without)
        with translated_errors(self.path):
            works, total, more = self._works(query, search)
            facets = self._facets(query, search, without)
        return SearchAnswer(
            hits=tuple(works[search.offset : search.end]),
            total=total,
            has_more=more,
            sort=search.order,
            facets=facets,
            asked=len(self.marks),
            by_index=True,
        )

    def _works(self, query: Any, search: AllSearch) -> tuple[list[SearchHit], int, bool]:
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

    def _hits(self, query: Any, sort: str, limit: int) -> tuple[list[SearchHit], int]:
        settings: dict[str, Any] = {}
        sign = 1.0
        if sort != "relevance":
            descends, field = _order(sort)
            orders = self.tantivy.Order
            settings = {"order_by_field": field, "order": orders.Desc if descends else orders.Asc}
            sign = 1.0 if descends else -1.0
        found = self.searcher.search(query, limit, **settings)
        read = self.searcher.doc
        hits = [
            _hit(bytes(read(address)["hit"][0]), NO_NUMBER if score is None else sign * score)
            for score, address in found.hits
        ]
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
            name: {"terms": {"field": field, "size": max(limit, 2 * len(FLAGS))}}
            for name in names
            if (field := field_of(name)) in self.fields
        }
        counts: dict[str, dict[str, int]] = {name: {} for name in names}
        if wanted:
            for name, one in self.searcher.aggregate(query, wanted).items():
                counts[name] = {str(one["key"]): int(one["doc_count"]) for one in one["buckets"]}
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
        for name, values in entry.facets.items():
            if name != REPOSITORY and (field := field_of(name)) in self.fields:
                for value in values:
                    add(field, value)
            self._add_numbers(found, name, values)
        bits = flags_of(entry)
        for place, name in enumerate(FLAGS):
            if bits >> place & 1:
                add(FLAG, name)
        if hit.year.isdecimal():
            found.add_integer(YEAR_NUMBER, int(hit.year))
        found.add_integer("seconds", entry.seconds)
        found.add_integer("changed", entry.changed)
        found.add_bytes("hit", _packed(hit))
        return found

    def _add_numbers(self, document: Any, name: str, values: Sequence[str]) -> None:
        all_of, *ends = number_fields(name)
        if all_of in self.fields:
            numbers = numbers_in(values)
            for number in numbers:
                document.add_float(all_of, number)
            for field, end in zip(ends, (min, max) if numbers else (), strict=False):
                document.add_float(field, end(numbers))

    def mark(self, silo: str, mark: str) -> Any:
        """The mark up to which a Silo was fed, as a document."""
        found = self.tantivy.Document()
        found.add_text(KIND, MARK)
        found.add_text("key", key_of(silo))
        found.add_bytes("hit", json.dumps([silo, mark]).encode())
        return found


@contextlib.contextmanager
def translated_errors(path: str) -> Iterator[None]:
    """Translate tantivy's errors, which are built-in ones, into `IndexUnusable`.

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


def same_keys(hit: SearchHit) -> Iterator[str]:
    """The values by which records of one work are found."""
    doi, title = keys_of(hit)
    if doi:
        yield f"doi {doi}"
    if title:
        yield f"title {title}"[:1000]


def fields_of_packages() -> dict[str, bool]:
    """The fields that an index made now has for contributed facets → whether it is of numbers."""
    found = {}
    for name in fields():
        if name not in (*FACETS, *ASKED, REPOSITORY):
            found[field_of(name)] = False
            try:
                facet = facet_named(name)
            except SearchError as error:
                warn_once(str(error))
                continue
            if facet.is_order or facet.is_number:
                found |= dict.fromkeys(number_fields(name), True)
    return found


def _order(sort: str) -> tuple[bool, str]:
    """Whether an order descends, and the field it is by."""
    if sort in SORTS:
        return sort == "newest", "seconds"
    name = sort.removeprefix("-")
    descends = sort != name
    return descends, number_fields(name)[2 if descends else 1]


def _schema(tantivy: Any) -> Any:
    builder = tantivy.SchemaBuilder()
    for name in TEXTS:
        builder.add_text_field(words_field(name), tokenizer_name=_WORDS)
    for name in (KIND, "key", SAME):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("silo", FLAG, *_VALUED):
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name, is_number in fields_of_packages().items():
        if is_number:
            builder.add_float_field(name, indexed=True, fast=True)
        else:
            builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in ("seconds", "changed", YEAR_NUMBER):
        builder.add_integer_field(name, indexed=True, fast=True)
    builder.add_bytes_field("hit", stored=True)
    return builder.build()


def _hit_of(silo: str, entry: Entry) -> SearchHit:
    row, facets = entry.row, entry.facets
    return SearchHit(
        HitPlace(silo, row.identifier),
        row.title,
        facets.get("creator", ()),
        next(iter(facets.get("year", ())), ""),
        facets.get("type", ()),
        first_doi(entry.text.identifiers),
        row.datestamp,
        row.deleted,
    )


def _packed(hit: SearchHit) -> bytes:
    place = hit.place
    values = (
        place.silo, place.identifier, hit.title, hit.creators, hit.year, hit.types, hit.doi,
        hit.datestamp, hit.deleted,
    )  # fmt: skip
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def _hit(packed: bytes, score: float) -> SearchHit:
    silo, identifier, title, creators, year, types, doi, datestamp, deleted = json.loads(packed)
    return SearchHit(
        HitPlace(silo, identifier), title, tuple(creators), year, tuple(types), doi, datestamp,
        deleted, score,
    )  # fmt: skip
