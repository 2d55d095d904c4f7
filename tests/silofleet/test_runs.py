"""Runs of endpoints: what each kind of repository leads to, also in processes of their own."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from fake_repository import FakeRepository, envelope
from lines import lines_to
from object_store import memory_files

from filestores.errors import StoreUnreachable
from filestores.object_store import ObjectStore
from oaipmhprovider.server import SampleServer
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.errors import MovedElsewhere, RetryLater
from politeweb.pace import Pace
from politeweb.settings import HttpSettings
from politeweb.shared_pace import PaceSpec
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from silofleet import run
from silofleet.fields import of_json, to_json
from silofleet.orders import RunOrder
from silofleet.run import EPOCH, _offers, carry_out
from silofleet.run_outcome import of_error, with_size
from silofleet.slots import Slots
from silofleet.values import BeforeRun, Ended, Endpoint, RunOutcome


@pytest.fixture(scope="module")
def sample() -> Iterator[SampleServer]:
    with SampleServer(size=40) as server:
        yield server


class _Answers(BaseHTTPRequestHandler):
    """Answers what its path says: /403, /503, /moved, /html."""

    def do_GET(self) -> None:
        kind = self.path.split("?")[0].strip("/")
        self.send_response(int(kind) if kind.isdigit() else 302 if kind == "moved" else 200)
        if kind == "503":
            self.send_header("Retry-After", "3600")
        if kind == "moved":
            self.send_header("Location", "http://elsewhere.example.org/oai")
        self.end_headers()
        self.wfile.write(b"<html></html>")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def answers() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _order(tmp_path: Path, url: str, **given: Any) -> RunOrder:
    order = {
        name: given.pop(name)
        for name in ("epoch", "pace", "before", "only_probe", "contact", "is_counted")
        if name in given
    }
    return RunOrder(1, str(tmp_path / "one"), Endpoint("one", url, **given), **order)


def _ended(order: RunOrder) -> Ended:
    return carry_out(order, lambda _receipt: None)


def test_a_first_run_harvests_and_the_next_one_updates(
    tmp_path: Path, sample: SampleServer
) -> None:
    ended = _ended(_order(tmp_path, sample.base_url))
    assert (ended.outcome, ended.records, ended.promised) == (RunOutcome.WHOLE, 40, 40)
    assert ended.listed == 40
    again = _ended(_order(tmp_path, sample.base_url, epoch=1, before=BeforeRun(40, 40)))
    assert (again.outcome, again.records, again.promised, again.changed) == (
        RunOutcome.WHOLE, 40, None, 0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        ("403", RunOutcome.BLOCKED),
        ("401", RunOutcome.BLOCKED),
        ("404", RunOutcome.FAILED),
        ("html", RunOutcome.FAILED),
        ("503", RunOutcome.HELD),
        ("moved", RunOutcome.MOVED),
    ],
)
def test_a_repository_that_does_not_answer_leaves_nothing(
    tmp_path: Path, answers: str, path: str, outcome: RunOutcome
) -> None:
    ended = _ended(_order(tmp_path, f"{answers}/{path}"))
    assert (ended.outcome, ended.records, ended.listed) == (outcome, None, 0)
    assert bool(ended.hold) == (outcome is RunOutcome.HELD)
    assert bool(ended.moved_to) == (outcome is RunOutcome.MOVED)
    assert os.listdir(tmp_path) == []


def test_what_is_said_of_a_run_is_short() -> None:
    target = f"http://elsewhere.example.org/{'x' * 60_000}"
    ended = of_error(MovedElsewhere("http://r.example.org/oai", target), datetime.now(UTC))
    assert (ended.outcome, len(ended.said)) == (RunOutcome.MOVED, 2_000)


def test_a_list_is_requested_by_windows_of_the_wished_length(
    tmp_path: Path, sample: SampleServer
) -> None:
    ended = _ended(_order(tmp_path, sample.base_url, window=timedelta(days=365)))
    assert (ended.outcome, ended.records) == (RunOutcome.WHOLE, 40)
    (path,) = (tmp_path / "one" / "harvests").glob("*-receipt.json")
    assert len(json.loads(path.read_text())["windows"]) > 5


def test_a_list_that_is_much_shorter_than_before_is_suspicious(
    tmp_path: Path, sample: SampleServer
) -> None:
    ended = _ended(_order(tmp_path, sample.base_url, before=BeforeRun(100, 100)))
    assert ended.outcome is RunOutcome.SUSPICIOUS
    assert "lists 40 records, and listed 100 before" in ended.said
    again = _ended(_order(tmp_path, sample.base_url, epoch=1, before=BeforeRun(40, 100)))
    assert again.outcome is RunOutcome.SUSPICIOUS
    accepted = _ended(_order(tmp_path, sample.base_url, epoch=1, before=BeforeRun(40)))
    assert (accepted.outcome, accepted.promised) == (RunOutcome.WHOLE, 40)
    later = _ended(_order(tmp_path, sample.base_url, epoch=1, before=BeforeRun(40, 40)))
    assert (later.outcome, later.promised) == (RunOutcome.WHOLE, None)


def test_a_set_that_the_repository_does_not_have_is_a_failure_each_time(
    tmp_path: Path, sample: SampleServer
) -> None:
    for _ in range(2):
        ended = _ended(_order(tmp_path, sample.base_url, sets=("no-such-set",)))
        assert (ended.outcome, "does not have the set" in ended.said) == (RunOutcome.FAILED, True)


def test_a_copy_of_another_epoch_is_not_harvested(tmp_path: Path, sample: SampleServer) -> None:
    missing = _ended(_order(tmp_path, sample.base_url, epoch=2))
    assert (missing.outcome, "silo fleet remove and silo" in missing.said) == (RunOutcome.CUT, True)
    _ended(_order(tmp_path, sample.base_url))
    with Silo(str(tmp_path / "one"), create=False) as silo:
        silo.state[EPOCH] = 3
        silo.state.sync()
    assert _ended(_order(tmp_path, sample.base_url, epoch=1)).outcome is RunOutcome.CUT
    assert _ended(_order(tmp_path, sample.base_url, epoch=3)).outcome is RunOutcome.WHOLE


def test_a_fleet_that_knows_of_no_silo_takes_the_epoch_of_the_one_that_is_there(
    tmp_path: Path, sample: SampleServer, answers: str
) -> None:
    _ended(_order(tmp_path, sample.base_url))
    with Silo(str(tmp_path / "one"), create=False) as silo:
        silo.state[EPOCH] = 3
        silo.state.sync()
    added_again = _ended(_order(tmp_path, sample.base_url))
    assert (added_again.outcome, added_again.epoch) == (RunOutcome.WHOLE, 3)
    with Silo(str(tmp_path / "one"), create=False) as silo:
        silo.state["base_oai_url"] = f"{answers}/404"
        silo.state.sync()
    failed = _ended(_order(tmp_path, f"{answers}/404"))
    assert (failed.outcome, failed.records, failed.epoch) == (RunOutcome.FAILED, 40, 3)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_no_failure_of_the_repository(
    tmp_path: Path, sample: SampleServer, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fails(*_arguments: object, **_named: object) -> None:
        try:
            raise OSError(number, os.strerror(number), "/silo/x")
        except OSError as error:
            raise RecordSiloError("the record cannot be written") from error

    monkeypatch.setattr("silofleet.run.OAIPMHScraper.harvest", fails)
    ended = _ended(_order(tmp_path, sample.base_url))
    assert (ended.outcome, ended.is_disk_full) == (RunOutcome.CUT, True)
    assert f"the disk of {tmp_path}/one is full, and perhaps not all its records" in ended.said
    assert of_json(Ended, json.dumps(to_json(ended)), "a report").said == ended.said


def test_a_new_address_is_harvested_into_the_same_silo(
    tmp_path: Path, sample: SampleServer
) -> None:
    _ended(_order(tmp_path, sample.base_url))
    with SampleServer(size=40) as other:
        ended = _ended(_order(tmp_path, other.base_url, epoch=1))
        assert ended.outcome is RunOutcome.WHOLE
    with Silo(str(tmp_path / "one"), create=False) as silo:
        assert silo.state["base_oai_url"] == other.base_url


def test_a_new_endpoint_never_goes_into_the_silo_of_another(
    tmp_path: Path, sample: SampleServer
) -> None:
    _ended(_order(tmp_path, sample.base_url))
    with SampleServer(size=10) as other:
        ended = _ended(_order(tmp_path, other.base_url))
    assert (ended.outcome, "use another name" in ended.said) == (RunOutcome.FAILED, True)
    with Silo(str(tmp_path / "one"), create=False) as silo:
        assert len(silo) == 40
    assert _ended(_order(tmp_path, sample.base_url)).outcome is RunOutcome.WHOLE


def test_a_probe_asks_for_identify_only(tmp_path: Path, sample: SampleServer, answers: str) -> None:
    assert _ended(_order(tmp_path, sample.base_url, only_probe=True)).outcome is RunOutcome.WHOLE
    assert _ended(_order(tmp_path, f"{answers}/404", only_probe=True)).outcome is RunOutcome.FAILED
    assert os.listdir(tmp_path) == []


@pytest.mark.long
def test_runs_are_processes_that_can_be_killed(tmp_path: Path, sample: SampleServer) -> None:
    with Slots(2) as slots:
        slots.start(_order(tmp_path, sample.base_url))
        (process,) = slots._working.values()
        os.kill(process.pid, signal.SIGKILL)
        (number, ended) = _next(slots)
        assert (number, ended.outcome) == (1, RunOutcome.CUT)
        assert "killed by signal 9" in ended.said
        slots.start(_order(tmp_path, sample.base_url))
        (_, ended) = _next(slots)
        assert (ended.outcome, ended.records) == (RunOutcome.WHOLE, 40)
        assert slots.free == 2


@pytest.mark.long
def test_closed_slots_leave_no_process(tmp_path: Path, sample: SampleServer) -> None:
    slots = Slots(1)
    slots.start(_order(tmp_path, sample.base_url))
    (process,) = slots._working.values()
    pid = process.pid
    slots.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.long
def test_runs_that_are_asked_to_end_as_they_start_say_that_they_were_interrupted(
    tmp_path: Path, sample: SampleServer, capfd: pytest.CaptureFixture[str]
) -> None:
    with Slots(8) as slots:
        for number in range(8):
            slots.start(replace(_order(tmp_path / str(number), sample.base_url), run=number))
            slots.end(number)
        said: list[str] = []
        while slots.free < 8:
            said += [ended.said for _, ended in slots.finished(0.5)]
    assert said == ["the run was interrupted"] * 8
    assert "Traceback" not in capfd.readouterr().err


def test_the_scheduler_loads_neither_the_harvester_nor_requests() -> None:
    program = "import sys; import silofleet.commands.running; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "silofleet" in loaded
    assert not loaded & {"oaipmhscraper", "requests"}


_WARM = """
import os, signal
from multiprocessing.forkserver import _forkserver
from silofleet import slots
from silofleet.orders import RunOrder
from silofleet.values import Endpoint
slots.warm()
os.kill(_forkserver._forkserver_pid, signal.{})
try:
    slots.Slots(1).start(RunOrder(1, "{}/e", Endpoint("e", "http://127.0.0.1:9/")))
except OSError:
    assert "{}" == "SIGKILL"
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_signal_to_the_process_that_runs_are_forked_from_ends_nothing_else(
    tmp_path: Path, name: str
) -> None:
    script = _WARM.format(name, tmp_path, name)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def _next(slots: Slots) -> tuple[int, Ended]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := slots.finished(0.5):
            return found[0]
    raise AssertionError("no run ended")


def test_a_run_moves_what_it_recorded_into_the_store_and_is_whole_without_it(
    tmp_path: Path, sample: SampleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_files(monkeypatch)
    order = _order(tmp_path, sample.base_url, warc_store="memory://store/fleet")
    harvests = tmp_path / "one" / "harvests"

    def here() -> int:
        return len(list(harvests.glob("*.warc.gz")))

    assert _ended(order).outcome is RunOutcome.WHOLE
    assert here() == 1  # it is small, and waits
    monkeypatch.setattr(run, "LEAST_TO_ARCHIVE", 1)
    order = replace(order, epoch=1)
    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "has", _refuse)
        ended = _ended(order)
    assert (ended.outcome, here()) == (RunOutcome.WHOLE, 2)
    assert ended.said == "nothing new; WARC files stay here: memory://store: it is away"
    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "has", _interrupt)
        assert (_ended(order).outcome, here()) == (RunOutcome.WHOLE, 3)
    assert _ended(replace(order, epoch=2)).outcome is RunOutcome.CUT
    assert here() == 3  # those of another copy of the Silo stay
    assert _ended(order).said == "nothing new"
    assert here() == 0
    assert len((harvests / "elsewhere.jsonl").read_text().splitlines()) == 4


def _refuse(*_arguments: Any) -> bool:
    raise StoreUnreachable("memory://store: it is away")


def _interrupt(*_arguments: Any) -> bool:
    raise KeyboardInterrupt


def test_a_run_offers_its_requests_only_where_nodes_share_a_broker_and_no_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine b.example.org login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))

    def offers(host: str, place: str, *, is_spread: bool = True) -> bool:
        pace = PaceSpec(1.0, host, place)
        order = _order(tmp_path, f"http://{host}/oai", pace=pace, is_spread=is_spread)
        return _offers(order, Pace(), HttpSettings()) is not None

    assert offers("a.example.org", "redis://127.0.0.1/0")
    assert not offers("a.example.org", "redis://127.0.0.1/0", is_spread=False)
    assert not offers("a.example.org", str(tmp_path))
    assert not offers("b.example.org", "redis://127.0.0.1/0")


def test_a_pause_that_is_asked_for_by_a_count_leaves_the_run_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = FakeRepository()
    repository.add("oai:x:1")
    deadline = datetime.now(UTC) + timedelta(hours=1)

    def size_of_lists(*_: object) -> None:
        raise RetryLater("http://x", 503, deadline)

    monkeypatch.setattr(OAIPMHScraper, "size_of_lists", size_of_lists)
    with _served(repository) as url:
        order = _order(tmp_path, url)
        assert _ended(order).outcome is RunOutcome.WHOLE
        ended = _ended(replace(order, epoch=1, before=BeforeRun(1, 1), is_counted=True))
        assert (ended.outcome, ended.hold) == (RunOutcome.WHOLE, deadline)


def test_a_run_that_keeps_pages_only_asks_for_what_changed(tmp_path: Path) -> None:
    repository = FakeRepository(page_size=10)
    for number in range(40):
        repository.add(f"oai:x:{number}")
    with _served(repository) as url:
        order = _order(tmp_path, url, depth="pages")
        ended = _ended(order)
        assert (ended.outcome, ended.records, ended.promised) == (RunOutcome.WHOLE, 0, 40)
        repository.date = "2010-11-25T12:00:00Z"
        repository.add("oai:x:40", "2010-11-24")
        later = replace(order, epoch=1, before=BeforeRun(0, 40))
        assert _ended(later).said.startswith("1 record listed")
        repository.items = repository.items[:26]
        ended = _ended(replace(later, is_counted=True))
        assert ended.outcome is RunOutcome.SUSPICIOUS
        assert ended.said == "the repository lists 26 records, and listed 40 before"


def test_a_repository_that_lost_records_silently_is_suspicious_when_they_are_counted(
    tmp_path: Path,
) -> None:
    repository = FakeRepository(page_size=10)
    for number in range(40):
        repository.add(f"oai:x:{number}")
    with _served(repository) as url:
        order = _order(tmp_path, url)
        assert _ended(order).outcome is RunOutcome.WHOLE
        repository.items = repository.items[:26]
        order = replace(order, epoch=1, before=BeforeRun(40, 40))
        assert _ended(order).outcome is RunOutcome.WHOLE  # nothing changed since
        counted = replace(order, is_counted=True)
        with OAIPMHScraper(counted.silo_path) as scraper:
            marks = scraper.marks
        for _ in range(2):
            ended = _ended(counted)
            assert (ended.outcome, ended.promised) == (RunOutcome.SUSPICIOUS, None)
            assert ended.said == "the repository lists 26 records, and the Silo has 40"
            with OAIPMHScraper(counted.silo_path) as scraper:
                assert scraper.marks == marks
        accepted = _ended(replace(counted, before=BeforeRun(40, None)))
        assert (accepted.outcome, accepted.promised) == (RunOutcome.WHOLE, 26)
        later = _ended(replace(counted, before=BeforeRun(40, 26)))
        assert (later.outcome, later.promised) == (RunOutcome.WHOLE, 26)
        repository.items = []
        ended = _ended(counted)
        assert ended.said == "the repository lists 0 records, and the Silo has 40"


def test_a_count_that_the_repository_does_not_give_changes_nothing(tmp_path: Path) -> None:
    repository = FakeRepository(page_size=10)
    for number in range(40):
        repository.add(f"oai:x:{number}")
    with _served(repository) as url:
        order = _order(tmp_path, url)
        _ended(order)
        order = replace(order, epoch=1, before=BeforeRun(40, 40), is_counted=True)
        del repository.items[:20]
        repository.answers.append(_without_sizes(repository))
        before = len(repository.requests)
        ended = _ended(order)
        assert (ended.outcome, ended.promised) == (RunOutcome.WHOLE, None)
        asked = [one for one in repository.requests[before:] if one["verb"] == "ListIdentifiers"]
        assert [one.get("resumptionToken") for one in asked if "from" not in one] == [None]


@contextmanager
def _served(repository: FakeRepository) -> Iterator[str]:
    with lines_to(repository, 1, 0.0) as lines:
        yield f"http://127.0.0.1:{lines.ports[0]}"


def _without_sizes(repository: FakeRepository) -> Callable[[Mapping[str, str]], bytes | None]:
    def answer(params: Mapping[str, str]) -> bytes | None:
        if params["verb"] != "ListIdentifiers":
            return None
        return re.sub(
            r' completeListSize="\d+"', "", envelope(repository.content(params)).decode()
        ).encode()

    return answer


@pytest.mark.parametrize(
    ("known", "living", "listed", "said"),
    [
        (1000, 1000, 850, ""),
        (1000, 1000, 849, "the Silo has 1,000"),
        (1050, 1200, 1000, "the Silo has 1,200"),
        (1500, 1000, 1167, "listed 1,500 before"),
        (600, 1000, 600, ""),  # somebody accepted that it lists fewer
        (600, 1000, 500, "listed 600 before"),
        (None, 1000, 10, ""),
        (1000, 1000, 0, "the Silo has 1,000"),
        (0, 0, 0, ""),
    ],
)
def test_the_silo_and_the_last_list_are_the_measure_of_a_count(
    known: int | None, living: int, listed: int, said: str
) -> None:
    ended = Ended(RunOutcome.WHOLE, "nothing new", datetime.now(UTC), living)
    found = with_size(ended, BeforeRun(living, known), living, listed)
    if said:
        assert (found.outcome, found.promised) == (RunOutcome.SUSPICIOUS, None)
        assert found.said == f"the repository lists {listed:,} records, and {said}"
    else:
        assert found == ended._replace(promised=listed)
    assert with_size(ended, BeforeRun(living, known), living, None) == ended
    assert with_size(ended, BeforeRun(living, known), living, 10**6) == ended  # of another list
