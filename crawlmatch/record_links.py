"""The links of a Silo's records, as the list of seeds has them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from crawlmatch.errors import CrawlError
from crawlmatch.seeds import SeedLink, seed_links
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.formats import Link, links_of
from recordsilo.index import PageRequest, SearchFilters

_AT_ONCE = 500


def links_of_records(
    silo: Silo, query: str = "", filters: Sequence[str] = (), items: Sequence[str] = ()
) -> Iterator[SeedLink]:
    """Each link of each record's current version, those of a record in the order of its metadata.

    Args:
        query: Only records that a search finds by these words.
        filters: Only records with these values, each as ``FIELD=VALUE``.
        items: Only these records.

    Raises:
        RecordNotFound: One of ``items`` is not there.
        SearchError: A filter is none.
    """
    for identifier in _identifiers(silo, query, filters, items):
        try:
            record = silo[identifier]
        except RecordSiloError:
            continue  # removed meanwhile, or unreadable: `silo check` tells
        version = record.state.current
        found: list[Link] = []
        for path in version.metadata_files:
            if path in version.paths:
                with record.get_stream(path, version.name) as file:
                    found += links_of(path, file.read())
        yield from seed_links(identifier, found)


def _identifiers(
    silo: Silo, query: str, filters: Sequence[str], items: Sequence[str]
) -> Iterator[str]:
    if items:
        yield from dict.fromkeys(silo.resolve(item) for item in items)
        return
    values: dict[str, list[str]] = {}
    for text in filters:
        field, equals, value = text.partition("=")
        if not equals:
            raise CrawlError(f"{text!r} is no filter; write FIELD=VALUE")
        values.setdefault(field, []).append(value)
    wanted = SearchFilters(values=values)
    page = PageRequest(limit=_AT_ONCE, sort="identifier")
    while True:
        result = silo.search(query, wanted, page=page)
        yield from (row.identifier for row in result.rows)
        if result.next_page is None:
            return
        page = replace(page, after=result.next_page)
