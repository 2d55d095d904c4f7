"""How packages, their store and the access nodes are, as conditions."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recordsilo.wording import counted
from silocrawl.conditions import Condition, Word, ago, good, of_space
from silocrawl.moments import moment_of_checkpoint
from silocrawl.packages.kept import load_packages
from silocrawl.packages.layout import merged_name, receipt_name
from silocrawl.packages.own_checkpoints import checkpoint_names
from silocrawl.packages.settings import StoreSettings, load_settings, store_address
from silocrawl.packages.store import FileStore, open_store
from silocrawl.packages.values import Package, PackageState, PackagingError

IDLE_AFTER, LATE_AFTER, LOST_AFTER = timedelta(days=1), timedelta(days=1), timedelta(days=7)
"""After which a package that goes no further, and a node that merges nothing, are warnings, and
such a node is an alert."""
MOST_ASKED = 100
"""Packages of which the store is asked who has merged them, the oldest that wait first."""
_MOST_NAMED = 3
_MARK = "%Y-%m-%dT%H:%M:%SZ"


def look_at_packages(silo_path: str, now: datetime) -> Iterator[Condition]:
    """Look at the last checkpoint of our own crawls, and at all packages.

    Raises:
        PackagingError, OSError: They cannot be read.
    """
    settings = load_settings(silo_path)
    names = checkpoint_names(silo_path)
    packages, damaged = load_packages(silo_path)
    if names or settings.checkpoint_every is not None:
        yield of_checkpoint(names[-1] if names else "", settings, now)
    if packages or damaged or settings.store:
        yield of_packages(packages, damaged, now)


def look_at_store(silo_path: str, now: datetime) -> Iterator[Condition]:
    """Look at the store, and at who has merged what is verified in it.

    Raises:
        PackagingError, OSError: It does not answer.
    """
    settings = load_settings(silo_path)
    if not settings.store:
        return
    address = store_address(silo_path, settings)
    if "://" in address:
        store = open_store(address)
        store.read(receipt_name("none"))
        yield good("store", f"{address} answers")
    elif not os.path.isdir(address):
        yield _no_store(address, any_packages=bool(load_packages(silo_path)[0]))
        return
    else:
        disk = os.statvfs(address)
        yield of_space("store", disk.f_bavail * disk.f_frsize)
        store = open_store(address)
    verified = [one for one in load_packages(silo_path)[0] if one.has(PackageState.VERIFIED)]
    for node in settings.nodes:
        yield of_node(node, merges_of(store, node, verified, settings), now)


def _no_store(address: str, *, any_packages: bool) -> Condition:
    if not any_packages:
        return good("store", f"{address} is made with the first package")
    return Condition("store", Word.ALERT, f"{address} is not there", "mount it")


# --------------------------------------------------------------------------- judged (pure)


def of_checkpoint(name: str, settings: StoreSettings, now: datetime) -> Condition:
    """The condition of the last checkpoint of our own crawls."""
    made = moment_of_checkpoint(name)
    said = f"{name}, {ago(now - made)}" if made else "none was made yet"
    figures = {"age_seconds": (now - made).total_seconds()} if made else {}
    every = settings.checkpoint_every
    if every is not None and made is not None and now - made > 2 * every:
        advice = "start silo crawl run, which makes them; or silo crawl checkpoint DIR"
        return Condition("checkpoint", Word.WARNING, said, advice, figures=figures)
    return Condition("checkpoint", Word.GOOD, said, figures=figures)


def of_packages(
    packages: Iterable[Package], damaged: Iterable[PackagingError], now: datetime
) -> Condition:
    """The condition of all packages: how many are in which state, and which failed."""
    known = list(packages)
    counts = Counter(one.state for one in known)
    said = (
        ", ".join(f"{counts[state]:,} {state}" for state in PackageState if counts[state]) or "none"
    )
    failed = [
        one.error if one.is_unwell else f"{one.id}: {one.error}" for one in known if one.error
    ]
    failed += map(str, damaged)
    figures = {state.value: counts[state] for state in PackageState} | {"failed": len(failed)}
    if failed:
        more = f" and {len(failed) - _MOST_NAMED:,} more" if len(failed) > _MOST_NAMED else ""
        why = "; ".join(failed[:_MOST_NAMED])
        advice = "mend what the error names; silo crawl run or silo crawl package goes on"
        return Condition("packages", Word.ALERT, f"{why}{more} failed; {said}", advice, "", figures)
    idle = [
        one.id
        for one in known
        if not one.has(PackageState.VERIFIED) and now - since(one) > IDLE_AFTER
    ]
    if idle:
        why = f"{counted(len(idle), 'package')} did not go on for a day: {idle[0]}"
        advice = "start silo crawl run"
        return Condition("packages", Word.WARNING, f"{why}; {said}", advice, "", figures)
    return Condition("packages", Word.GOOD, said, figures=figures)


def since(one: Package) -> datetime:
    """Since when a package is in its state."""
    return one.history[-1][1] if one.history else one.ended


@dataclass(frozen=True, slots=True)
class Merges:
    """What an access node has merged of the packages that it may show.

    Attributes:
        merged: How many.
        last: When the last one was; None if there is none, or it is not known.
        waiting: Since when each of the others may be merged, by name.
    """

    merged: int
    last: datetime | None
    waiting: Mapping[str, datetime]


def of_node(node: str, one: Merges, now: datetime) -> Condition:
    """The condition of an access node."""
    last = f", the last {ago(now - one.last)}" if one.last else ""
    said = f"{counted(one.merged, 'package')} merged{last}"
    figures = {"merged": one.merged, "waiting": len(one.waiting)}
    oldest = min(one.waiting.values(), default=now)
    if one.waiting:
        said += f"; {counted(len(one.waiting), 'package waits', 'packages wait')}"
    if now - oldest <= LATE_AFTER:
        return Condition("node", Word.GOOD, said, of=node, figures=figures)
    first = min(one.waiting, key=lambda name: one.waiting[name])
    word = Word.ALERT if now - oldest > LOST_AFTER else Word.WARNING
    advice = f"on that machine: silo crawl merge --store STORE --node {node} DIR"
    said += f", {first} since {oldest:%Y-%m-%d}"
    return Condition("node", word, said, advice, node, figures)


# --------------------------------------------------------------------------- the marks of nodes


def merges_of(
    store: FileStore, node: str, verified: list[Package], settings: StoreSettings
) -> Merges:
    """Ask a store what a node has merged of packages that were verified.

    Raises:
        PackagingError: It does not answer.

    Cost: a small file for each of `MOST_ASKED` packages that not all nodes have.
    """
    is_merged = [one for one in verified if one.has(PackageState.MERGED)]
    rest = [one for one in verified if not one.has(PackageState.MERGED)][:MOST_ASKED]
    times = {one.id: merged_at(store, one.id, node) for one in (*is_merged[-1:], *rest)}
    waiting = {
        one.id: max(since(one), one.ended + timedelta(days=settings.embargo_days))
        for one in rest
        if times[one.id] is None
    }
    known = [at for at in times.values() if at is not None]
    return Merges(len(is_merged) + len(rest) - len(waiting), max(known, default=None), waiting)


def merged_at(store: FileStore, package_id: str, node: str) -> datetime | None:
    """When a node has merged a package, by its mark in the store; None if it has not.

    Raises:
        PackagingError: The store does not answer.
    """
    mark = store.read(merged_name(package_id, node))
    if mark is None:
        return None
    try:
        return datetime.strptime(mark.decode().strip(), _MARK).replace(tzinfo=UTC)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
