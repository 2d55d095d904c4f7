"""Stars as a facet of the search, an order, and a column of tables."""

import os
from collections.abc import Mapping, Sequence

from example_sibling.stars import path_of, read_stars
from recordsilo.index.facets import Facet


def _values(silo_path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    stars = read_stars(silo_path)
    return {one: (str(stars[one]),) for one in identifiers if one in stars}


def _stamp(silo_path: str) -> str:
    try:
        found = os.stat(path_of(silo_path))
    except FileNotFoundError:
        return ""
    return f"{found.st_mtime_ns} {found.st_ino}"


STARS = Facet("stars", "Stars", _values, _stamp, is_order=True, is_column=True)
