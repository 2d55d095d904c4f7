"""What a Silo holds, at a glance: counted by its index, whatever the number of records."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo.disk.sizes import size_of
from recordsilo.html_tables import Link, named
from recordsilo.index import PageRequest
from recordsilo.index.facets import labels_of
from recordsilo.listing import Listing
from recordsilo.repository import Repository
from recordsilo.wording import counted, cut_middle, with_unit

MEASURED = 10_000
"""With more records, the size on disk is measured only if it is asked for."""
_SHOWN = 3
_FACETS = ("format", "set", "finding")


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes on disk, in whole blocks.

    Attributes:
        whole: The whole Silo; None if it was not measured.
        index: Its index and other files that can be made again (``.silo``).
        responses: What the repository sent (``harvests``).
    """

    whole: int | None
    index: int
    responses: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What a Silo holds.

    Attributes:
        repository: The name of the harvested repository; may be empty.
        address: Its base URL; may be empty.
        records: The number of records.
        deleted: Of them, deleted at the source.
        curated: The current version was made by people.
        upstream_newer: Curated, and the source has a newer version.
        removed: Records that were removed here for good.
        unread: Records whose manifests cannot be read.
        versions: The number of versions of all records.
        formats: Metadata format → number of records.
        sets: setSpec → number of records.
        findings: Code of a finding → number of records.
        set_names: setSpec → name, of the sets that have one.
    """

    repository: str
    address: str
    records: int
    deleted: int
    curated: int
    upstream_newer: int
    removed: int
    unread: int
    versions: int
    formats: Mapping[str, int]
    sets: Mapping[str, int]
    findings: Mapping[str, int]
    set_names: Mapping[str, str]

    def lines(self) -> list[tuple[str, str]]:
        """(name, text) for people."""
        states = {
            "deleted at the source": self.deleted,
            "curated": self.curated,
            "newer at the source": self.upstream_newer,
            "removed here": self.removed,
            "cannot be read": self.unread,
        }
        said = [f"{number:,} {what}" for what, number in states.items() if number]
        sets = {
            cut_middle(str(self.set_names.get(one, one)), 40): n for one, n in self.sets.items()
        }
        labels = labels_of("finding")
        named = {f"{code} {labels.get(code, '')}": n for code, n in self.findings.items()}
        return [
            ("records", f"{self.records:,}" + (f"; {', '.join(said)}" if said else "")),
            ("versions", f"{self.versions:,}"),
            ("formats", _most(self.formats, 10) or "none"),
            ("sets", f"{len(self.sets):,}: {_most(sets, _SHOWN)}" if self.sets else "none"),
            ("findings", _most(named, _SHOWN) or "none"),
        ]

    def to_html(self, caption: str) -> str:
        """The lines as a table of a notebook.

        Args:
            caption: The Silo's name.
        """
        url = Link(self.address, self.address) if self.address else None
        rows = [("repository", self.repository), ("address", url), *self.lines()]
        return named(rows, caption=caption)

    def to_json(self) -> dict[str, Any]:
        """The values by name."""
        return {
            "repository": self.repository or None,
            "address": self.address or None,
            "records": self.records,
            "deleted": self.deleted,
            "curated": self.curated,
            "upstream_newer": self.upstream_newer,
            "removed": self.removed,
            "unreadable": self.unread,
            "versions": self.versions,
            "formats": dict(self.formats),
            "sets": dict(self.sets),
            "findings": dict(self.findings),
        }


def overview(silo: Listing) -> Overview:
    """Count what a Silo holds.

    Raises:
        IndexProblem: The index cannot be used now.

    Cost: that of a search with three facets.
    """
    page = PageRequest(limit=1, whole_facets=_FACETS)
    facets = silo.search("", None, _FACETS, page).facets
    repository = Repository(silo.path)
    return Overview(
        repository=repository.name,
        address=str(silo.state.get("base_oai_url") or ""),
        records=silo.count(),
        deleted=silo.count(deleted=True),
        curated=silo.count(curated=True),
        upstream_newer=silo.count(upstream_newer=True),
        removed=len(silo.removed()),
        unread=len(silo.unread()),
        versions=silo.version_count(),
        set_names=repository.set_names,
        **{
            plural: {one.value: one.count for one in facets[name]}
            for name, plural in zip(_FACETS, ("formats", "sets", "findings"), strict=True)
        },
    )


def size_on_disk(silo: Listing, records: int, *, whole: bool = False) -> Size:
    """Measure a Silo.

    Args:
        records: Their number.
        whole: Measure it even if there are more than `MEASURED` of them.

    Cost: looks at every file of the Silo, or else at some dozens.
    """
    index, responses = (size_of(os.path.join(silo.path, name)) for name in (".silo", "harvests"))
    return Size(size_of(silo.path) if whole or records <= MEASURED else None, index, responses)


def size_text(size: Size, records: int) -> str:
    """A size for people; of one that was not measured, how it is."""
    parts = {"index": size.index, "responses": size.responses}
    shown = ", ".join(f"{name} {with_unit(number)}" for name, number in parts.items() if number)
    if size.whole is not None:
        return f"{with_unit(size.whole)}" + (f"; of it {shown}" if shown else "")
    return f"{shown}; the {counted(records, 'record')} are measured with --size, file by file"


def _most(counts: Mapping[str, int], most: int) -> str:
    names = sorted(counts, key=lambda name: (-counts[name], name))
    shown = [f"{name} ({counts[name]:,})" for name in names[:most]]
    return ", ".join(shown) + (f", and {len(names) - most:,} more" if len(names) > most else "")
