"""The uses of a Silo's records, as `silo info` tells them."""

import os
from dataclasses import asdict

from recordsilo.facts import Fact, Facts
from recordsilo.silo import Silo
from recordsilo.wording import counted
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.paths import counts_path
from usagestats.store.queries import bounds


def _of(silo: Silo) -> Fact | None:
    if not os.path.exists(counts_path(silo.path)):
        return None
    with UsageCounts(silo.path) as counts:
        days = bounds(counts)
        if days is None:
            return None
        figures = counts.totals(Period())
    views, downloads = figures.views, figures.total_requests
    used = f"{counted(views, 'view')}, {counted(downloads, 'download')} by people"
    return Fact(
        (f"{used}, {days[0]} to {days[1]}",),
        counted(views + downloads, "use"),
        {"from": days[0], "until": days[1], **asdict(figures)},
    )


USAGE = Facts("usage", 20, _of)
