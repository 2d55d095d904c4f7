"""Uses as an order of searches, a filter and a column of tables."""

import json
import os
from collections.abc import Mapping, Sequence

from recordsilo.index.facets import Facet
from usagestats.store.counts import UsageCounts
from usagestats.store.paths import counts_path


def _values(figure: str, path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    sql = (
        f"SELECT name, sum({figure}) FROM month_item JOIN item ON item.id = item "  # noqa: S608
        "WHERE machine = 0 AND name IN (SELECT value FROM json_each(?)) GROUP BY item"
    )
    with UsageCounts(path) as counts:
        rows = counts.rows(sql, (json.dumps(list(identifiers)),))
    return {name: (str(number),) for name, number in rows if number}


def _uses(path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return _values("total_investigations", path, identifiers)


def _downloads(path: str, identifiers: Sequence[str]) -> Mapping[str, Sequence[str]]:
    return _values("total_requests", path, identifiers)


def stamp(path: str) -> str:
    """Return a text that changes with the counts; ``""`` without any."""
    if not os.path.exists(counts_path(path)):
        return ""  # for a look at each of thousands of Silos
    with UsageCounts(path) as counts:
        return counts.stamp()


USES = Facet("uses", "Uses", _uses, stamp, is_facet=False, is_order=True, is_column=True)
DOWNLOADS = Facet(
    "downloads", "Downloads", _downloads, stamp, is_facet=False, is_order=True, is_column=True
)
