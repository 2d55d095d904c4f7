"""The links of a Silo's records, in the form of a list of seeds."""

from collections.abc import Iterator

from crawlmatch.seeds import SeedLink, seed_links
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.formats import Link, links_of
from recordsilo.selection import Selection


def links_of_records(silo: Silo, select: Selection) -> Iterator[SeedLink]:
    """Yield the links of each record's current version, in the order of its metadata.

    Raises:
        RecordNotFound, SearchError, IndexProblem: See `Selection.iterate`.
    """
    for identifier in select.iterate(silo):
        try:
            record = silo[identifier]
        except RecordSiloError:
            continue  # removed meanwhile, or unreadable: `silo check` reports it
        version = record.state.current
        found: list[Link] = []
        for path in version.metadata_files:
            if path in version.paths:
                with record.get_stream(path, version.name) as file:
                    found += links_of(path, file.read())
        yield from seed_links(identifier, found)
