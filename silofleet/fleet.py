"""A fleet: a directory of Silos with its wishes and its state.

The wishes say which endpoints there are; the state says what is known of them. `Fleet.lines`
combines both. Commands and the page use this class while the clock runs in another process.
"""

import difflib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from politeweb.addresses import host_of
from politeweb.shared_pace import PaceSpec
from recordsilo import Granary
from recordsilo.cells import csv_line, guarded
from recordsilo.closing import Closing
from recordsilo.disk.locks import Locks
from recordsilo.errors import VERSION_FILE
from silofleet.errors import (
    FleetRefused,
    NoSuchEndpoint,
    NotAFleet,
    StateMissing,
    WishesInvalid,
)
from silofleet.ledger import FleetLedger
from silofleet.schedule import back, due_of, quarantined, room_of, state_of
from silofleet.values import SECONDS_UNTIL_LOST, Endpoint, Facts, Node, RunOutcome, State
from silofleet.wishes import (
    Wishes,
    append_endpoints,
    change_endpoints,
    load_wishes,
    make_wishes,
    remove_endpoints,
    wishes_path,
)
from silowork.due.hours import hours_text
from silowork.due.timetable import duration_text

_ACCOUNTS = ("accounts", "curation/accounts")
LOCAL = "local"
"""The node of a fleet on one machine."""
UNHEARD = "has not reported since the rebuild"


@dataclass(frozen=True, slots=True)
class EndpointLine:
    """An endpoint with all that is said of it.

    Attributes:
        endpoint: What is wished.
        facts: What is known.
        state: In which state it is now.
        due: When its next run is due; None while it is paused or at work.
        awaits: The node of its Silo, if no report of that is known. If it has a Silo there, the
            state was made again since the last one.
    """

    endpoint: Endpoint
    facts: Facts
    state: State
    due: datetime | None
    awaits: str = ""

    @property
    def node(self) -> str:
        """Where its Silo is, or will be; empty if that is not yet decided."""
        return self.facts.node or self.endpoint.node

    @property
    def reason(self) -> str:
        """Why it is in its state, mostly from its last run; empty if that explains nothing."""
        if self.awaits and self.state in {State.NEW, State.DUE}:
            if self.facts.node:
                return f"it waits for the node {self.awaits}, which {UNHEARD}"
            return f"it waits for the node {self.awaits}, which has never reported"
        if self.state is State.LOST:
            return f"its node {self.node} does not report"
        if self.state in {State.NEW, State.RUNNING, State.PAUSED, State.WHOLE}:
            return ""
        if self.state is State.DUE and self.facts.outcome not in {RunOutcome.HELD, RunOutcome.CUT}:
            return ""
        return self.facts.said

    def to_json(self) -> dict[str, Any]:
        """The endpoint as JSON values; moments in ISO 8601, UTC."""
        wish, facts = self.endpoint, self.facts
        return {
            "name": wish.name,
            "url": wish.url,
            "state": self.state.value,
            "said": facts.said or self.reason,
            "records": facts.records,
            "promised": facts.promised,
            "last_whole": _text(facts.whole),
            "started": _text(facts.started),
            "ended": _text(facts.ended),
            "outcome": facts.outcome.value if facts.outcome else None,
            "failures": facts.failures,
            "due": _text(self.due),
            "every": duration_text(facts.interval or wish.every),
            "prefixes": list(wish.formats),
            "sets": list(wish.sets),
            "depth": wish.depth,
            "window": duration_text(wish.window) if wish.window else "",
            "spread": wish.is_spread,
            "hours": hours_text(wish.hours) if wish.hours else "",
            "tags": list(wish.tags),
            "host": facts.host,
            "node": self.node,
            "epoch": facts.epoch,
            "moved_to": facts.moved_to,
            "added": _text(facts.added),
            "outcomes": facts.outcomes,
        }


class Fleet(Closing):
    """A fleet in a directory; one thread uses it.

    Args:
        directory: The Granary with the directory ``fleet``.

    Raises:
        NotAFleet: There is none.
        StateMissing: It has wishes and no state, which may have been lost.
        WishesInvalid: The wishes cannot be read.
        LedgerUnreadable: The state cannot be read.
    """

    def __init__(self, directory: str) -> None:
        if not os.path.isfile(wishes_path(directory)):
            raise NotAFleet(directory, is_silo=_is_silo(directory))
        self.directory = directory
        self.ledger = FleetLedger(directory)
        if not os.path.exists(self.ledger.path):
            raise StateMissing(directory, self.ledger.path)
        self._stamp: tuple[int, int] | None = None
        self._fault = ""
        self._wishes = Wishes()

    def close(self) -> None:
        """Close the files."""
        self.ledger.close()

    # ------------------------------------------------------------------ reading

    @property
    def wishes(self) -> Wishes:
        """What is wished, read again when the file has changed.

        Raises:
            WishesInvalid: The file cannot be read.
        """
        stamp = self._stamp_now()
        if stamp != self._stamp:
            self._fault = ""
            try:
                wishes = load_wishes(self.directory)
            except WishesInvalid as error:
                self._fault, self._stamp = str(error), stamp
            else:
                self._take(wishes, stamp)
        if self._fault:
            raise WishesInvalid(self._fault)
        return self._wishes

    def _stamp_now(self) -> tuple[int, int]:
        found = os.stat(wishes_path(self.directory))
        return found.st_mtime_ns, found.st_size

    def _take(self, wishes: Wishes, stamp: tuple[int, int]) -> None:
        """Take wishes as those of the file, and give each endpoint its facts."""
        self._wishes = wishes
        self._sync()
        self._stamp = stamp

    def pace_for(self, url: str, broker: str = "") -> PaceSpec:
        """The pace of the host of an address, shared with runs elsewhere.

        Uses the wishes as they were last read, so that it cannot fail.
        """
        host = host_of(url)
        place = broker or os.path.join(self.directory, "fleet")
        return PaceSpec(self._wishes.interval_of(host), host, place)

    def silo_path(self, name: str) -> str:
        """The directory of an endpoint's Silo."""
        return os.path.join(self.directory, name)

    def lines(
        self, now: datetime | None = None, names: Iterable[str] | None = None
    ) -> list[EndpointLine]:
        """All endpoints, or those of some names, in the order of their names."""
        wishes, moment = self.wishes, now or datetime.now(UTC)
        lost, known = self.lost_nodes(moment), self._known_nodes()
        return [
            _line(facts, wishes, moment, lost, known)
            for facts in self.ledger.facts(names)
            if facts.name in wishes.endpoints
        ]

    def line(self, name: str) -> EndpointLine:
        """One endpoint, by its name or address.

        Raises:
            NoSuchEndpoint: There is none.
        """
        wishes, now = self.wishes, datetime.now(UTC)
        facts = self.ledger.facts_of(self.name_of(name))
        return _line(facts, wishes, now, self.lost_nodes(now), self._known_nodes())

    def lost_nodes(self, now: datetime) -> set[str]:
        """Nodes that had not reported for two minutes when a clock last looked."""
        looked = min(now, self.ledger.last_clock_beat() or now)
        return {
            one.name
            for one in self.ledger.nodes()
            if one.name != LOCAL and (looked - one.seen).total_seconds() > SECONDS_UNTIL_LOST
        }

    def nodes_as_json(self, now: datetime) -> list[dict[str, Any]]:
        """The nodes as JSON values, by name, each with how many records its disk has room for."""
        lost = self.lost_nodes(now)
        return [node_to_json(one, is_lost=one.name in lost) for one in self.ledger.nodes()]

    def _known_nodes(self) -> set[str]:
        return {LOCAL, *(one.name for one in self.ledger.nodes())}

    def is_at_work(self, now: datetime) -> bool:
        """Whether a clock was at work in the last two minutes, and has not ended in order."""
        beat = self.ledger.last_clock_beat()
        if beat is None or (now - beat).total_seconds() > SECONDS_UNTIL_LOST:
            return False
        return not self.ledger.has_clock_ended()

    def name_of(self, given: str) -> str:
        """The name of an endpoint, from its name or its address.

        Raises:
            NoSuchEndpoint: There is none, or there are several of this address.
        """
        endpoints = self.wishes.endpoints
        if given in endpoints:
            return given
        found = [name for name, one in endpoints.items() if one.url == given.strip()]
        if len(found) == 1:
            return found[0]
        near = difflib.get_close_matches(given, list(endpoints), 1)
        raise NoSuchEndpoint(given, near[0] if near else "", found)

    def known_as(self, wish: Endpoint) -> str:
        """The name of the endpoint with the same address, sets and formats; empty if none."""
        same = (one.name for one in self.wishes.endpoints.values() if _wanted(one) == _wanted(wish))
        return next(same, "")

    # ------------------------------------------------------------------ changing

    def add(self, endpoints: Sequence[Endpoint]) -> tuple[list[Endpoint], list[Endpoint]]:
        """Add endpoints; nobody is asked anything.

        Returns:
            Those that were added, and those whose address and sets the fleet has already.

        Raises:
            FleetRefused: A name is taken, or differs from another only in case.
        """
        with self._locked():
            names = {name.lower(): name for name in self.wishes.endpoints}
            known = {_wanted(one) for one in self.wishes.endpoints.values()}
            new: list[Endpoint] = []
            old: list[Endpoint] = []
            for one in endpoints:
                key = _wanted(one)
                (old if key in known else new).append(one)
                known.add(key)
            for one in new:
                if (other := names.setdefault(one.name.lower(), one.name)) != one.name:
                    raise FleetRefused(
                        f"{one.name!r} differs from the endpoint {other!r} only in case; choose"
                        " another name, because some disks would give both one directory"
                    )
            if new:
                added = append_endpoints(self.directory, new, self.wishes.defaults)
                self._take(added, self._stamp_now())
        return new, old

    def remove(self, names: Iterable[str], *, with_silos: bool = False) -> dict[str, bool]:
        """Remove endpoints; their Silos stay as they are, unless they are to be deleted, too.

        Returns:
            Their names, each with whether a Silo was deleted.

        Raises:
            NoSuchEndpoint: There is none of a name; nothing was removed.
            FleetRefused: A Silo is to be deleted whose endpoint is at work, that is on another
                machine, or whose directory holds accounts; nothing was removed.
        """
        found = [self.name_of(name) for name in names]
        for facts in map(self.ledger.facts_of, found) if with_silos else ():
            if facts.run:
                raise FleetRefused("an endpoint at work keeps its Silo; pause it, and try again")
            if facts.node not in {"", LOCAL} and not os.path.isdir(self.silo_path(facts.name)):
                raise FleetRefused(
                    f"the Silo of {facts.name} is on the node {facts.node}; remove it without"
                    f" --with-silos, and then delete the directory {facts.name} there"
                )
            silo_path = self.silo_path(facts.name)  # of a fleet's own directory, or of a Silo
            if any(os.path.lexists(os.path.join(silo_path, one)) for one in _ACCOUNTS):
                raise FleetRefused(
                    f"{self.silo_path(facts.name)} holds accounts of people, so it is not deleted"
                )
        with self._locked():
            remove_endpoints(self.directory, found)
        self.ledger.remove(found)
        granary = Granary(self.directory, create=False)
        deleted = dict.fromkeys(found, False)
        for name in found if with_silos else ():
            if granary.issilo(name):
                granary.delete_silo(name)
                deleted[name] = True
        return deleted

    def change(self, name: str, **changes: object) -> Endpoint:
        """Change the wish for an endpoint; see `change_all`."""
        (wish,) = self.change_all([name], **changes)
        return wish

    def change_all(self, names: Iterable[str], **changes: object) -> list[Endpoint]:
        """Change the wishes for endpoints, such as ``is_paused``, and return them.

        Raises:
            NoSuchEndpoint: There is none of a name; nothing was changed.
        """
        with self._locked():
            found = dict.fromkeys(map(self.name_of, names))
            wishes = [replace(self.wishes.endpoints[name], **changes) for name in found]  # type: ignore[arg-type]
            changed = change_endpoints(self.directory, wishes, self.wishes.defaults)
            self._take(changed, self._stamp_now())
        told: dict[str, Any] = {"moved_to": ""} if "url" in changes else {}
        for wish in wishes:  # also one that stays the same: it tells the clock
            self.ledger.change(wish.name, partial(Facts._replace, host=host_of(wish.url), **told))
        return wishes

    def accept(self, name: str) -> None:
        """Take the list of a suspicious endpoint as whole from now on; it runs next.

        Raises:
            NoSuchEndpoint: There is none.
            FleetRefused: It is not suspicious.
        """
        line = self.line(name)
        if line.state is not State.SUSPICIOUS:
            raise FleetRefused(f"{line.endpoint.name} is not suspicious, but {line.state.value}")
        self.ledger.change(
            line.endpoint.name, lambda facts: facts._replace(promised=None, is_asked=True)
        )

    def readdress(self, name: str, url: str) -> Endpoint:
        """Give an endpoint another address; its next run asks for Identify there.

        Raises:
            NoSuchEndpoint: There is none.
            FleetRefused: Another endpoint has the address, with the same sets and formats.
        """
        name = self.name_of(name)
        other = self.known_as(replace(self.wishes.endpoints[name], url=url))
        if other and other != name:
            raise FleetRefused(f"{other} has the address {url} already")
        wish, now = self.change(name, url=url), datetime.now(UTC)
        self.ledger.change(name, lambda facts: back(facts, now)._replace(is_asked=True))
        return wish

    def run_now(self, names: Iterable[str]) -> list[str]:
        """Ask for a run of endpoints now, whatever their schedule.

        Raises:
            NoSuchEndpoint: There is none of a name; nothing was asked for.
        """
        found = [self.name_of(name) for name in names]
        for name in found:
            self.ledger.change(name, lambda facts: facts._replace(is_asked=True))
        return found

    def quarantine(self, name: str, *, release: bool = False) -> None:
        """Put an endpoint into quarantine, or release it.

        Raises:
            NoSuchEndpoint: There is none.
        """
        policy, now = self.wishes.policy, datetime.now(UTC)

        def change(facts: Facts) -> Facts:
            return back(facts, now) if release else quarantined(facts, policy, now)

        self.ledger.change(self.name_of(name), change)

    def _sync(self) -> None:
        """Give each endpoint of the wishes its facts.

        Facts without a wish stay: the file may be half written, or restored later.
        """
        now = datetime.now(UTC)
        known = {facts.name: facts for facts in self.ledger.facts()}
        self.ledger.add(
            facts_of(one, now) for name, one in self._wishes.endpoints.items() if name not in known
        )
        for name, facts in known.items():
            wish = self._wishes.endpoints.get(name)
            if wish is not None and facts.host != (host := host_of(wish.url)):
                self.ledger.change(name, partial(Facts._replace, host=host))

    def _locked(self) -> AbstractContextManager[None]:
        return Locks(os.path.join(self.directory, "fleet", "locks")).hold_name("wishes")


def _line(
    facts: Facts, wishes: Wishes, now: datetime, lost: Collection[str], known: Collection[str]
) -> EndpointLine:
    wish = wishes.endpoints[facts.name]
    state, due = state_of(facts, wish, now, lost), due_of(facts, wish)
    line = EndpointLine(wish, facts, state, due)
    return line if not line.node or line.node in known else replace(line, awaits=line.node)


def _wanted(wish: Endpoint) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """What two endpoints may not have in common."""
    return wish.url, wish.sets, wish.formats


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def node_to_json(node: Node, *, is_lost: bool) -> dict[str, Any]:
    """A node as JSON values."""
    return {
        "node": node.name,
        "lost": is_lost,
        "open": node.is_open,
        "slots": node.slots,
        "room": room_of(node),
        "free_bytes": node.free_bytes,
        "free_inodes": node.free_inodes,
        "seen": _text(node.seen),
    }


def facts_of(wish: Endpoint, now: datetime) -> Facts:
    """The facts of an endpoint that was added now; it is due at once."""
    return Facts(wish.name, host_of(wish.url), now, due=now)


def csv_of(lines: Iterable[EndpointLine]) -> Iterator[str]:
    """Yield endpoints as lines of CSV, after a line of names."""
    names: list[str] = []
    for line in lines:
        row = line.to_json()
        if not names:
            names = list(row)
            yield csv_line(names)
        yield csv_line(guarded(_cell(row[name])) for name in names)
    if not names:
        yield csv_line(["name", "url", "state"])


def _cell(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else "" if value is None else str(value)


def make_fleet(directory: str) -> None:
    """Make a directory a fleet; one that is a fleet stays as it is.

    Raises:
        NotAFleet: It is a Silo.
        FleetRefused: It is a file.
        StateMissing: It has wishes and no state.
        SiloNotFound: It cannot be created.
    """
    if _is_silo(directory):
        raise NotAFleet(directory, is_silo=True)
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise FleetRefused(f"{directory} is a file; a fleet is a directory of Silos")
    Granary(directory)
    if os.path.exists(wishes_path(directory)):
        Fleet(directory).close()
        return
    os.makedirs(os.path.dirname(wishes_path(directory)), exist_ok=True)
    with FleetLedger(directory, "create") as ledger:
        ledger.nodes()
    make_wishes(directory)


def _is_silo(directory: str) -> bool:
    return os.path.exists(os.path.join(directory, VERSION_FILE))
