"""The crawl log of a job is read once, over checkpoints, launches, kills and lines cut in half."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silocrawl.errors import CrawlingError
from silocrawl.heritrix import tailing
from silocrawl.heritrix.errors import HeritrixJobNotFound
from silocrawl.heritrix.outcomes import crawled_of
from silocrawl.heritrix.tailing import JobHere, LogChanged, Tail
from silocrawl.messages import INDEX
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import MessageState


def line(number: int) -> bytes:
    return (
        f"2026-11-24T06:11:49.200Z   200         52 http://a.example/{number} L http://a.example/"
        f" text/html #001 20261124061148966+{number} sha1:X http://a.example/ - {{}}\n"
    ).encode()


class Job:
    """The directory of a job whose logs grow."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0
        self.launch("20261124061100")

    def launch(self, name: str) -> None:
        self.logs = self.directory / name / "logs"
        self.logs.mkdir(parents=True)
        (self.logs / "crawl.log").write_bytes(b"")

    def write(self, content: bytes) -> None:
        with (self.logs / "crawl.log").open("ab") as file:
            file.write(content)

    def lines(self, some: int) -> None:
        for _ in range(some):
            self.write(line(self.count))
            self.count += 1

    def checkpoint(self, number: int) -> None:
        current = self.logs / "crawl.log"
        current.rename(self.logs / f"crawl.log.cp{number:05}-2026112406{number:04}")
        current.write_bytes(b"")

    def tail(self, queues: SqliteQueues) -> Tail:
        return Tail(queues, "j", JobHere(str(self.directory)))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "jobs" / "j")


def read(tail: Tail) -> Tail:
    while tail.read_once():
        pass
    return tail


def told(queues: SqliteQueues) -> list[str]:
    found = queues.peek(INDEX, most=10_000)
    return [crawled_of(one.body).url.removeprefix("http://a.example/") for one in found]


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def test_over_checkpoints_and_launches(queues: SqliteQueues, job: Job) -> None:
    job.lines(3)
    tail = read(job.tail(queues))
    job.lines(2)
    job.checkpoint(1)
    job.lines(1)
    job.checkpoint(2)
    job.lines(1)
    read(tail)
    job.checkpoint(3)
    job.launch("20261124071100")
    job.lines(2)
    read(job.tail(queues))
    assert told(queues) == numbers(9)
    assert not job.tail(queues).read_once()
    (found,) = (one for one in queues.peek(INDEX) if crawled_of(one.body).url.endswith("/8"))
    assert (crawled_of(found.body).job, crawled_of(found.body).launch) == ("j", "20261124071100")


def test_a_line_cut_in_half_is_read_when_it_is_whole(queues: SqliteQueues, job: Job) -> None:
    half = line(0)[:100]
    job.write(half)
    tail = read(job.tail(queues))
    assert told(queues) == []
    job.write(line(0)[100:])
    read(tail)
    assert told(queues) == ["0"]


def test_a_line_that_a_kill_cut_off_is_kept_to_be_looked_at(queues: SqliteQueues, job: Job) -> None:
    job.write(line(0) + line(1)[:60])
    tail = read(job.tail(queues))
    job.launch("20261124071100")
    job.write(line(2))
    read(tail)
    assert told(queues) == ["0", "2"]
    (dead,) = queues.peek(INDEX, MessageState.DEAD)
    assert dead.body == line(1)[:60]
    assert "20261124061100/logs/crawl.log" in dead.reason
    assert (tail.lines, tail.new, tail.refused) == (3, 3, 1)


def test_hostile_lines_do_not_hold_up_the_others(
    queues: SqliteQueues, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "MOST_READ", 1_000)
    job.write(b"\n\xff\xfe\x00 nothing\n" + line(0) + b"x" * 5_300 + b"\n" + line(1))
    read(job.tail(queues))
    assert told(queues) == ["0", "1"]
    dead = [one.body[:9] for one in queues.peek(INDEX, MessageState.DEAD)]
    assert sorted(dead) == [b"x" * 9] * (len(dead) - 1) + [b"\xff\xfe\x00 nothi"]


def test_a_rename_while_it_is_read_is_noticed(
    queues: SqliteQueues, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    job.lines(2)
    tail = read(job.tail(queues))
    job.lines(1)
    real = JobHere.read

    def late(files: JobHere, path: str, start: int, most: int) -> bytes:
        monkeypatch.setattr(JobHere, "read", real)
        job.checkpoint(1)
        job.lines(9)
        return real(files, path, start, most)

    monkeypatch.setattr(JobHere, "read", late)
    read(tail)
    assert told(queues) == numbers(12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_whatever_happens_each_line_is_told_once(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    dice, place = random.Random(seed), tmp_path_factory.mktemp("any")
    job, checkpoint, launch = Job(place / "j"), 0, 20261124061100
    with SqliteQueues(str(place / "queues.sqlite")) as queues:
        tail = job.tail(queues)
        for _ in range(30):
            match dice.randrange(6):
                case 0:
                    checkpoint += 1
                    job.checkpoint(checkpoint)
                case 1:
                    launch += 100
                    job.launch(str(launch))
                case 2:
                    tail = job.tail(queues)  # killed, and started again
                case 3:
                    tail.read_once()
                case _:
                    job.lines(dice.randrange(4))
        read(tail)
        assert told(queues) == numbers(job.count)


def test_what_is_wrong_is_said(queues: SqliteQueues, job: Job, tmp_path: Path) -> None:
    job.lines(2)
    read(job.tail(queues))
    (job.logs / "crawl.log").write_bytes(b"short")
    with pytest.raises(LogChanged, match="is shorter than what was read"):
        read(job.tail(queues))
    with pytest.raises(HeritrixJobNotFound, match="no job 'k'"):
        Tail(queues, "k", JobHere(str(tmp_path / "jobs" / "k"))).read_once()
    queues.put((), mark=("tail k", json.dumps({"position": "x"})))
    with pytest.raises(CrawlingError, match="is damaged"):
        Tail(queues, "k", JobHere(str(tmp_path / "k")))


def test_the_end_of_a_launch_is_known_from_the_log_of_the_job(
    queues: SqliteQueues, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "MOST_READ", 50)  # the job's log is read in pieces
    said = job.directory / "job.log"
    tail = job.tail(queues)
    assert not tail.has_ended()
    monkeypatch.setattr(tailing, "MOST_READ", 1 << 20)
    job.lines(1)
    read(tail)
    monkeypatch.setattr(tailing, "MOST_READ", 50)
    assert not tail.has_ended()
    said.write_text("2026-11-24T06:11:00Z INFO RUNNING 20261124061100\n" * 9)
    assert not tail.has_ended()
    with said.open("a") as file:
        file.write("2026-11-24T06:12:00Z INFO FINISHED 2026112406")
    assert not tail.has_ended()
    with said.open("a") as file:
        file.write("1100\n2026-11-24T06:12:00Z INFO Job discarded\n")
    assert tail.has_ended()
    assert tail.outcome() == ""  # its report is not there yet
    report = job.directory / "20261124061100" / "reports" / "crawl-report.txt"
    report.parent.mkdir()
    report.write_text("crawl name: k\ncrawl status: Finished \n")
    monkeypatch.setattr(tailing, "MOST_READ", 1 << 20)
    assert job.tail(queues).outcome() == "Finished"
    assert job.tail(queues).has_ended()
    job.launch("20261124071100")
    monkeypatch.setattr(tailing, "MOST_READ", 1 << 20)
    read(tail)
    assert not tail.has_ended()
