"""Directories of small Silos, and what a search over them should find, in plain Python."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from index_conformance import put

from recordsilo import Granary
from silofleet.search.folding import keys_of
from silofleet.search.values import SearchHit

Records = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Silo → identifier → description."""

RECORDS: Records = {
    "ash": {
        "a1": {"title": "Solar cells in winter", "creator": "Adeyemi, Fiona", "date": "2001",
               "identifier": "https://doi.org/10.5555/Solar.1", "type": "Article",
               "datestamp": "2020-01-01T00:00:00", "sets": ("physics:energy",)},
        "a2": {"title": "Wind and solar power together", "creator": "Brown, A.", "date": "2002",
               "type": "Thesis", "datestamp": "2020-01-02T00:00:00"},
        "a3": {"title": "Élan vital", "creator": "Chen, Li", "date": "1999", "type": "Thesis",
               "datestamp": "2020-01-03T00:00:00", "language": "fr"},
    },
    "birch": {
        "b1": {"title": "Solar Cells in Winter.", "creator": "F. Adeyemi", "date": "2002",
               "identifier": "doi:10.5555/solar.1", "type": "Article",
               "datestamp": "2020-02-01T00:00:00", "sets": ("physics",)},
        "b2": {"title": "WIND AND SOLAR POWER, TOGETHER", "creator": "Alice Brown",
               "date": "2002-05", "type": "Book", "datestamp": "2020-02-02T00:00:00"},
        "b3": {"title": "Wind and solar power together", "creator": "Brown, A.", "date": "2003",
               "datestamp": "2020-02-03T00:00:00", "language": "en"},
    },
    "cedar": {
        "c1": {"title": "Solar cells in winter", "creator": "Adeyemi, F.", "date": "2001",
               "datestamp": "2020-03-01T00:00:00", "subject": ["energy", "wind"]},
        "c2": {"title": "Notes", "creator": "Brown, A.", "date": "2002",
               "description": "Nothing of the wind; solar only",
               "datestamp": "2020-03-02T00:00:00"},
    },
}  # fmt: skip
"""a1, b1 and c1 are one work, by the DOI and by the title; a2 and b2, too."""


def granary_of(path: Path, records: Records = RECORDS) -> Granary:
    granary = Granary(str(path))
    for name, some in records.items():
        with granary.get_silo(name) as silo:
            for identifier, described in some.items():
                put(silo, identifier, **described)
    return granary


def folded_plainly(hits: Sequence[SearchHit]) -> list[list[SearchHit]]:
    """The hits of each work, by comparing each with each."""
    works: list[list[SearchHit]] = []
    for hit in hits:
        doi, title = keys_of(hit)
        same = [w for w in works if doi and doi in {keys_of(one)[0] for one in w}]
        if not same and title:
            with_title = [w for w in works if title in {keys_of(one)[1] for one in w}]
            same = [w for w in with_title if not (doi and any(one.doi for one in w))]
        if same:
            same[0].append(hit)
        else:
            works.append([hit])
    return works
