"""What harvesters bring home from a repository that misbehaves: `python benchmarks/faults.py`.

The repository is that of the tests (tests/oaipmhscraper/misbehaving), one fault at a
time. Sickle and oaipmh-scythe iterate over ListRecords with retries switched on, as their
manuals show it; ours harvests into a Silo. What counts is identifiers, and whether
somebody is told; what is in the records is not looked at:

* whole: every record, and no error;
* named: what can be had, and an end that names the records which nobody can get;
* error: it stops with an error, or its receipt says that records are missing;
* silent: records are missing, and nothing says so;
* endless: it was stopped after 2,000 requests or a minute.

At the end the same with three servers that others wrote and use, where they are installed
(tests/oaipmhscraper/real_servers/install.py). Names of faults as arguments: only those.
``--json FILE``: the outcomes as JSON as well.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oaipmhscraper"))

from misbehaving import FAULTS, Fault, misbehaving
from real_servers.running import QUERIES, TITLES, NotInstalled, running

MOST_REQUESTS = 2000
MOST_SECONDS = 60.0
SILENCE = 2.0
ATTEMPTS = 5
BUSY = (429, 500, 502, 503, 504)
OUTCOMES = ("whole", "named", "error", "silent", "endless")


@dataclass(frozen=True, slots=True)
class Harvested:
    """What a harvester says at its end.

    Attributes:
        identifiers: Of the records that it gave or stored.
        complaint: The error it raised, or what its receipt says is missing; empty for none.
        named: Identifiers that it says are missing.
    """

    identifiers: frozenset[str] = frozenset()
    complaint: str = ""
    named: frozenset[str] = frozenset()


# --------------------------------------------------------------------------- harvesters


def sickle(url: str, set_spec: str | None) -> Harvested:
    from sickle import Sickle  # noqa: PLC0415  # only where it is run

    client = Sickle(
        url, max_retries=ATTEMPTS, retry_status_codes=BUSY, default_retry_after=0, timeout=SILENCE
    )
    arguments = {"metadataPrefix": "oai_dc", **({"set": set_spec} if set_spec else {})}
    return _iterated(lambda: client.ListRecords(**arguments))


def scythe(url: str, set_spec: str | None) -> Harvested:
    from oaipmh_scythe import Scythe  # noqa: PLC0415  # only where it is run
    from oaipmh_scythe.client import HTTPConfig, RetryConfig  # noqa: PLC0415

    retries = RetryConfig(
        max_retries=ATTEMPTS,
        retry_status_codes=BUSY,
        default_retry_after=0.01,
        retry_on_transport_error=True,
        initial_backoff=0.01,
    )
    with Scythe(url, http_config=HTTPConfig(timeout=SILENCE), retry_config=retries) as client:
        return _iterated(lambda: client.list_records(metadata_prefix="oai_dc", set_=set_spec))


def _iterated(records: Callable[[], Iterable[Any]]) -> Harvested:
    found: set[str] = set()
    try:
        for record in records():
            found.add(record.header.identifier or "")
    except Exception as error:  # noqa: BLE001  # whatever it is, it is what their user gets
        return Harvested(frozenset(found), type(error).__name__)
    return Harvested(frozenset(found))


def ours(url: str, set_spec: str | None) -> Harvested:
    from oaipmhscraper.errors import ScraperError  # noqa: PLC0415
    from oaipmhscraper.receipt import HarvestStopped  # noqa: PLC0415
    from oaipmhscraper.scraper import OAIPMHScraper  # noqa: PLC0415
    from politeweb.settings import HttpSettings  # noqa: PLC0415

    settings = HttpSettings(first_pause=0.01, read_timeout=SILENCE, longest_pause=5.0)
    with tempfile.TemporaryDirectory() as directory:
        try:
            with OAIPMHScraper(f"{directory}/silo", url, settings=settings, quiet=True) as scraper:
                try:
                    receipt, complaint = scraper.harvest(["oai_dc"], set_spec=set_spec), ""
                except HarvestStopped as stop:
                    receipt, complaint = stop.receipt, str(stop)
                stored = frozenset(name for name, _ in scraper.store.items())
        except ScraperError as error:
            return Harvested(complaint=str(error))
    told = receipt.to_json()
    named = frozenset(one["identifier"] for one in [*told["quarantined"], *told["unreachable"]])
    return Harvested(stored, complaint or "; ".join(receipt.losses), named)


HARVESTERS = {"recordsilo": ours, "sickle": sickle, "oaipmh-scythe": scythe}


# --------------------------------------------------------------------------- one at a time


class Worker:
    """A process that runs one harvester after the other, and can be killed."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._begin()

    def _begin(self) -> None:
        self._here, there = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(there,), daemon=True)
        self._process.start()

    def run(
        self, name: str, base_url: str, fault: Fault, asked: Callable[[], int]
    ) -> Harvested | None:
        """Let a harvester harvest; None: it found no end."""
        self._here.send((name, base_url + fault.query, fault.arguments.get("set_spec")))
        begun = time.monotonic()
        while not self._here.poll(0.05):
            if asked() > MOST_REQUESTS or time.monotonic() - begun > MOST_SECONDS:
                self.close()
                self._begin()
                return None
        harvested: Harvested = self._here.recv()
        return harvested

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._here.close()


def _work(connection: Connection) -> None:
    while True:
        name, url, set_spec = connection.recv()
        connection.send(HARVESTERS[name](url, set_spec))


def outcome(fault: Fault, harvested: Harvested | None) -> str:
    """What a harvest comes to; see the module."""
    if harvested is None:
        return "endless"
    missing = (fault.attainable | fault.lost_by_name) - harvested.identifiers
    if missing and missing <= fault.lost_by_name & harvested.named:
        return "named"
    is_empty = not fault.attainable and "NoRecordsMatch" in harvested.complaint
    if harvested.complaint and not is_empty:
        return "error"
    return "silent" if missing else "whole"


# --------------------------------------------------------------------------- all of them

GROUPS = {range(1, 20): "tokens", range(20, 34): "HTTP", range(34, 50): "XML",
          range(50, 58): "records", range(58, 71): "dates, sets, Identify",
          range(71, 100): "hostile"}  # fmt: skip


def group_of(fault: Fault) -> str:
    return next(name for lines, name in GROUPS.items() if fault.line in lines)


def measure(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """{fault: {harvester: outcome}}, one line printed for each."""
    worker, found = Worker(), {}
    for name in names:
        fault, found[name] = FAULTS[name], {}
        for harvester in HARVESTERS:
            with misbehaving(name) as server:
                asked = server.repository.asked
                result = worker.run(harvester, server.base_url, fault, lambda a=asked: len(a))
            found[name][harvester] = outcome(fault, result)
        print(f"{fault.line:>3} {name:<40}", *(f"{one:<10}" for one in found[name].values()))
    worker.close()
    return found


def measure_servers() -> None:
    """The same for the servers of others, as far as they are installed."""
    worker = Worker()
    for name in QUERIES:
        real = Fault(name, 0, lambda _: None, extra=frozenset(TITLES), listed=frozenset())
        outcomes = []
        try:
            for harvester in HARVESTERS:
                with tempfile.TemporaryDirectory() as place, running(name, Path(place)) as url:
                    outcomes.append(outcome(real, worker.run(harvester, url, real, lambda: 0)))
        except NotInstalled as reason:
            outcomes.append(str(reason))
        print(f"    {name:<40}", *(f"{one:<10}" for one in outcomes))
    worker.close()


def summary(found: dict[str, dict[str, str]]) -> str:
    """The outcomes counted, as a table in Markdown."""
    lines = ["| faults | harvester | " + " | ".join(OUTCOMES) + " |", "|---|---|" + "---|" * 5]
    for group in [*GROUPS.values(), "all"]:
        names = [name for name in found if group in {group_of(FAULTS[name]), "all"}]
        for harvester in HARVESTERS if names else ():
            counts = Counter(found[name][harvester] for name in names)
            cells = " | ".join(str(counts[one]) for one in OUTCOMES)
            lines.append(f"| {len(names)} {group} | {harvester} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("faults", nargs="*", choices=[*FAULTS, []], metavar="FAULT")
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    order = sorted(FAULTS, key=lambda name: FAULTS[name].line)
    print(f"{'':<44}", *(f"{name:<10}" for name in HARVESTERS))
    found = measure(chosen.faults or order)
    if not chosen.faults:
        measure_servers()
    print(f"\n{summary(found)}")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
