"""The last harvests of a Silo, as `silo info` tells them."""

from datetime import UTC, datetime

from oaipmhscraper.harvests.past_harvests import PastHarvest, harvests_of
from recordsilo.facts import Fact, Facts
from recordsilo.silo import Silo
from recordsilo.wording import minute

_SHOWN = 3


def _of(silo: Silo) -> Fact | None:
    newest = list(harvests_of(silo.path, newest=_SHOWN))[::-1]
    if not newest:
        return None
    return Fact(
        tuple(map(_line, newest)),
        f"harvested {_began(newest[0])}, {newest[0].state}",
        {"newest": [_values(one) for one in newest]},
    )


def _line(one: PastHarvest) -> str:
    listed, stored = one.counts.get("listed") or 0, one.counts.get("stored") or 0
    why = f" ({one.said})" if one.said else ""
    many = f"{listed:,} listed, {stored:,} stored" if listed else "nothing new"
    return f"{_began(one)}  {one.state}{why}: {one.what}; {many}"


def _began(one: PastHarvest) -> str:
    try:
        return minute(datetime.strptime(one.id, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC))
    except ValueError:
        return one.id


def _values(one: PastHarvest) -> dict[str, object]:
    return {
        "id": one.id,
        "started": one.receipt.get("started"),
        "state": one.state,
        "message": one.said or None,
        "what": one.what,
        "counts": dict(one.counts),
    }


HARVESTS = Facts("harvests", 10, _of)
