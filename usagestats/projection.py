"""The keys of 2010 in Redis, made from the counts and events, for what was built on them.

Tokens stand in place of addresses. The whole projection is made each time; keys that it no longer
has are deleted, and no others. `docs/usage-live.md`, "The Redis keys of 2010", lists the keys.
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from recordsilo import Silo
from recordsilo.batches import batched
from silosteps.errors import StepsError
from usagestats.entities.usage import Usage
from usagestats.errors import EventsUnreadable, UsageError
from usagestats.packages import needed, redis_client, redis_problem
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.events import engine, event_path, unreadable_files
from usagestats.store.journal import UsageJournal, journal_path
from usagestats.store.ledger import UsageLedger
from usagestats.store.queries import bounds, names_of

SETS = {
    "n": "names", "s": "subjects", "k": "keyphrases", "i": "institution", "f": "faculty",
    "type": "contenttype", "tt": "thesistype", "col": "collection",
}  # fmt: skip
"""Beginning of an entity's key → the set of all such keys; others have the name of their kind."""
LINES = {
    "u:bothits": "bots", "u:objectviews": "views", "u:fof": "notfound", "u:other": "other"
}  # fmt: skip
"""A counter of 2010 → the log of live lines."""
_LETTERS = ("v", "d", "o")
_TOTALS = ("views", "dls", "other")
_OWNER, _KEYS = "silo:projection", "silo:projection:keys"
_AT_ONCE = 1000
Write = tuple[str, Any]
"""A key, and a text, the members of a set (list), or the members of a list in order (tuple)."""
_DAYS, _MOST = 30, 20


class RedisUnusable(UsageError):
    """Redis cannot be reached or refuses; the same command continues."""


class NotOurs(UsageError):
    """The database has keys that the projection did not write."""


@dataclass(frozen=True, slots=True)
class Projected:
    """What was written.

    Attributes:
        keys: Keys that the database has now.
        deleted: Keys that it had before.
    """

    keys: int
    deleted: int


def project(silo: Silo, url: str, told: Callable[[int], object] = lambda _: None) -> Projected:
    """Write the projection of a Silo into a database of Redis.

    Args:
        url: Such as ``redis://127.0.0.1:6379/3``.
        told: Called with the number of keys written so far.

    Raises:
        AddressInvalid: Not a valid address.
        RedisUnusable: Redis cannot be reached. The keys written so far are right.
        NotOurs: The database has other keys of 2010, or those of another Silo.
        UsageError: The counts cannot be read.
    """
    redis, client = needed("redis"), redis_client(url, decode_responses=True)
    try:
        return _project(silo, client, told)
    except redis.RedisError as error:
        raise RedisUnusable(redis_problem(error)) from None
    finally:
        client.close()


def _project(silo: Silo, client: Any, told: Callable[[int], object]) -> Projected:
    owner = client.get(_OWNER)
    if owner is None and client.exists("objectitems", "objectids", "names"):
        raise NotOurs(
            "this database of Redis has keys of 2010 that silo usage redis did not write; "
            "name another one, such as redis://host/3"
        )
    if owner not in {None, silo.path}:
        raise NotOurs(f"this database of Redis has the usage of {owner}; name another one")
    client.set(_OWNER, silo.path)
    before, written = set(client.sscan_iter(_KEYS, count=_AT_ONCE)), set[str]()
    for some in batched(_writes(silo), _AT_ONCE):
        # The names first: after a kill the next run knows what to delete.
        client.sadd(_KEYS, *(key for key, _ in some))
        with client.pipeline(transaction=True) as pipeline:
            for key, value in some:
                if isinstance(value, str):
                    pipeline.set(key, value)
                else:
                    if key not in written:
                        pipeline.delete(key)
                    add = pipeline.rpush if isinstance(value, tuple) else pipeline.sadd
                    add(key, *value)
                written.add(key)
            pipeline.execute()
        told(len(written))
    for names in batched(before - written, _AT_ONCE):
        client.delete(*names)
        client.srem(_KEYS, *names)
    return Projected(len(written), len(before - written))


def _writes(silo: Silo) -> Iterator[Write]:
    with Usage(silo) as usage, UsageLedger(silo.path, "read") as ledger:
        items, totals, last = set[str](), Counter[str](), Counter[str]()
        yield from _dates(usage.counts, items, totals, last)
        yield from _clients(silo.path, ledger, last)
        for some in batched(sorted(items), _AT_ONCE):
            yield "objectids", some
            yield "objectitems", some
        yield from _entities(usage, sorted(items), totals)
        yield from _countries(usage.counts)
        yield from _most_downloaded(usage)
        for name, number in totals.items():
            yield name, str(number)
        yield from _lines(silo.path)
        for letter, moment in last.items():
            yield f"{letter}:stamp", f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _lines(silo_path: str) -> Iterator[Write]:
    """Yield how many live lines of each kind there were."""
    if os.path.exists(journal_path(silo_path)):
        journal = UsageJournal(silo_path)
        lines = journal.lines()
        journal.close()
        for key, kind in LINES.items():
            yield key, str(lines.get(kind, 0))


def _dates(
    counts: UsageCounts, items: set[str], totals: Counter[str], last: Counter[str]
) -> Iterator[Write]:
    """Yield the dates of each record, by the rule of 2010; add up totals and last moments."""
    rows = counts.rows(
        "SELECT name, day, views_2010, downloads_2010, others_2010, last FROM day_item"
        " JOIN item ON item.id = item WHERE machine = 0 ORDER BY name, day"
    )
    dates: dict[str, list[str]] = defaultdict(list)
    for name, day, *numbers, moment in rows:
        items.add(name)
        for letter, total, number in zip(_LETTERS, _TOTALS, numbers, strict=True):
            if number:
                dates[f"d{letter}:{name}"].append(day)
                totals[f"t:{total}:{name}"] += number
                # Of frozen days only the last use of any kind is known.
                last[letter] = max(last[letter], moment)
    yield from dates.items()


def _countries(counts: UsageCounts) -> Iterator[Write]:
    """Yield the countries of each record, most uses first, each once for each use."""
    rows = counts.rows(
        "SELECT name, country, sum(investigations) FROM month_country JOIN item ON item.id = item"
        " GROUP BY item, country ORDER BY name, 3 DESC, country"
    )
    for name, country, uses in rows:
        for start in range(0, uses, _AT_ONCE):
            yield f"g:{name}", (country or "XX",) * min(_AT_ONCE, uses - start)


def _most_downloaded(usage: Usage) -> Iterator[Write]:
    """Yield the records that were downloaded most in the last days with counts."""
    known = bounds(usage.counts)
    if known is None:
        return
    last = date.fromisoformat(known[1])
    sums = usage.sums(Period(str(last - timedelta(_DAYS - 1)), str(last)))
    downloads = zip(sums.by("downloads_2010").tolist(), sums.items.tolist(), strict=True)
    first = sorted((-number, item) for number, item in downloads if number)[:_MOST]
    items = [item for _, item in first]
    names, titles = names_of(usage.counts, items), usage.catalogue.titles(items)
    results = [[-number, names[item], titles.get(item, "")] for number, item in first]
    found = {"now": str(last), "days": _DAYS, "size": _MOST, "results": results}
    yield "analysis:current", json.dumps(found, ensure_ascii=False)


def _clients(silo_path: str, ledger: UsageLedger, last: Counter[str]) -> Iterator[Write]:
    """Yield the clients of each record, day and kind; those of frozen days no longer exist."""
    moments = Counter[str]()
    days = [day for day in ledger.not_frozen("~") if ledger.files(day)]
    if not days:
        return
    with engine(silo_path) as steps:
        for day in days:
            files = [event_path(silo_path, day, name) for name, _ in ledger.files(day)]
            found: dict[str, list[str]] = defaultdict(list)
            try:
                steps.run("clients_of_day", files=files)
            except StepsError:
                if unreadable := unreadable_files(silo_path, steps, ledger, [day]):
                    raise EventsUnreadable(unreadable[day], [day]) from None
                raise
            for rows in steps.rows():
                for item, kind, client, moment in rows:
                    letter = _LETTERS[kind]
                    token = f"{client & 0xFFFF_FFFF_FFFF_FFFF:016x}"
                    found[f"{day}:{item}:{letter}"].append(token)
                    moments[letter] = max(moments[letter], moment)
            for key, members in found.items():
                yield from ((key, part) for part in batched(members, _AT_ONCE))
    last.update({letter: moment - last[letter] for letter, moment in moments.items()})


def _entities(usage: Usage, items: Sequence[str], totals: Counter[str]) -> Iterator[Write]:
    """Yield the entities of the records, their names and their bundles; add up their totals."""
    kinds = {kind.prefix: kind.name for kind in usage.catalogue.mapping.kinds}
    sets, records, labels = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list), {}
    for item in items:
        entities = usage.catalogue.entities_of(item)
        if entities:
            yield f"e:{item}", [one.key for one in entities]
        for one in entities:
            records[one.key].append(item)
            labels[one.key] = one.label
            for total in _TOTALS:
                if number := totals[f"t:{total}:{item}"]:
                    totals[f"t:{total}:{one.key}"] += number
    for key, label in labels.items():
        prefix = key.partition(":")[0]
        sets[SETS.get(prefix, kinds.get(prefix, prefix))].append(key)
        yield key, label
        yield from ((f"e:{key}", part) for part in batched(records[key], _AT_ONCE))
    for name, keys in sets.items():
        yield from ((name, part) for part in batched(keys, _AT_ONCE))
    for bundle, members in usage.bundles.members.items():
        yield bundle, list(members)
