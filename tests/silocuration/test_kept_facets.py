"""All groups of the values of a field, counted by a job and kept."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.audit.check import Audit
from recordsilo.index import SearchFilters
from recordsilo.selection import Selection
from silocuration.review import any_field, facet_job, kept_facets
from silocuration.review.any_field import Grouping, groups, scan
from silocuration.review.facet_job import begin_count, count_facets, count_under_way
from silocuration.review.kept_duplicates import mark_of
from silocuration.review.kept_facets import (
    KeptFacet,
    KeptGroup,
    keep_facets,
    read_facet,
    within_size,
)
from silowork.ledger import JobLedger
from silowork.running import run_job
from silowork.service import Jobs
from silowork.values import JobAction, State

Fill = Callable[..., list[str]]
ALL = Selection()
DAYS = ["2016-03", "CC  BY", "12", "", "7", "7", "1e3"]


def started(silo: Silo, field: str = "date", select: Selection = ALL) -> str:
    return begin_count(Jobs.of(silo.path), select, field, "ada").job_id


def files(silo: Silo) -> list[Path]:
    return sorted(Path(silo.path, kept_facets.PLACE).glob("*"))


def test_a_job_counts_what_a_request_would_count_if_it_read_all(
    silo: Silo,
    fill: Fill,
    harvest_again: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for one in fill(30, date=DAYS)[:12]:
        harvest_again(one, date=["2016-03", "2017"])
    expected = scan(silo, ALL, "date")
    monkeypatch.setattr(any_field, "RECORDS", 10)  # a request reads no more
    assert not scan(silo, ALL, "date").whole
    job_id = started(silo)
    assert run_job(silo.path, job_id) is State.DONE
    for how in Grouping:
        kept = read_facet(silo.path, ALL, "date", how)
        assert kept is not None
        assert (kept.read, kept.unread, kept.mark) == (30, 0, mark_of(silo))
        told = [(one.label, one.values, one.records, one.first) for one in kept.first]
        assert told == [
            (one.label, one.values, len(one.records), one.records) for one in groups(expected, how)
        ]
        assert kept.groups == len(told)
    job = JobLedger(silo.path).job(job_id)
    assert job.counts == {
        "records read": 30, "records without fields that can be read": 0, "different values": 7
    }  # fmt: skip
    assert read_facet(silo.path, ALL, "title", Grouping.VALUE) is None
    assert not list(Audit(silo.path).findings())


def test_what_was_counted_is_that_of_one_search(silo: Silo, fill: Fill) -> None:
    fill(3, type="Thesis")
    theses = Selection(filters=SearchFilters(values={"type": ["Thesis"]}))
    run_job(silo.path, started(silo, "type", theses))
    assert read_facet(silo.path, theses, "type", Grouping.VALUE) is not None
    assert read_facet(silo.path, ALL, "type", Grouping.VALUE) is None


def test_the_groups_and_records_that_are_kept_are_bounded(
    silo: Silo, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(150, rights="mine")
    monkeypatch.setattr(facet_job, "MOST_GROUPS", 20)
    found = count_facets(silo, ALL, "title")
    titles = found[Grouping.VALUE]
    assert (titles.groups, len(titles.first)) == (150, 20)
    (rights,) = count_facets(silo, ALL, "rights")[Grouping.VALUE].first
    assert (rights.records, len(rights.first)) == (150, kept_facets.MOST_RECORDS)
    many = [KeptGroup("x" * 1000, 1, 1, ("a",))] * 1000
    assert 300 < len(within_size(many)) < 500


def test_only_the_newest_files_are_kept(silo: Silo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_facets, "MOST_FILES", 3)
    one = KeptFacet("m", "2026-01-01T00:00:00Z", 1, 0, 1, (KeptGroup("a", 1, 1, ("x:1",)),))
    for number, field in enumerate("abcd"):
        keep_facets(silo.path, ALL, field, {Grouping.VALUE: replace(one, read=number)})
        for place, path in enumerate(sorted(files(silo), key=lambda path: path.stat().st_mtime_ns)):
            os.utime(path, ns=(place, place))
    assert [read_facet(silo.path, ALL, field, Grouping.VALUE) for field in "abcd"] == [
        None, *(replace(one, read=number) for number in (1, 2, 3))
    ]  # fmt: skip


def test_what_is_removed_while_it_is_kept_is_no_error(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = kept_facets.replace_file

    def removed(path: str, content: bytes) -> None:
        write(path, content)
        kept_facets.forget_facets(silo.path)

    monkeypatch.setattr(kept_facets, "replace_file", removed)
    one = KeptFacet("m", "2026-01-01T00:00:00Z", 1, 0, 1, (KeptGroup("a", 1, 1, ("x:1",)),))
    keep_facets(silo.path, ALL, "a", {Grouping.VALUE: one})
    assert files(silo) == []


KEPT = '{"format": 1, "mark": "m", "date": "d", "read": 1, "unread": 0, "groups": 1, "first": ['


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, '{"format": 2}', '{"format": 1, "first": [[1]]}',
        KEPT.replace('"read": 1', '"read": 1e999') + "]}",
        KEPT + '["a", Infinity, 1, ["x:1"]]]}',
        KEPT + '["a", 1, 1, ["\\ud800"]]]}',
        KEPT + '["a", 1, 1, ["x\\u0000"]]]}',
        KEPT + '["\\udfff", 1, 1, ["x:1"]]]}',
        KEPT + '["a", 1, 1, [["x:1"]]]]}',
        KEPT + '["a", 1, 1, [""]]]}',
        KEPT + '["a", 1, 1, ["x:1"]]]}' + " " * 4_000_000,
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_as_if_there_were_none(silo: Silo, text: str) -> None:
    one = KeptFacet("m", "d", 1, 0, 1, (KeptGroup("a", 1, 1, ("x:1",)),))
    keep_facets(silo.path, ALL, "a", {Grouping.VALUE: one})
    (path,) = files(silo)
    assert json.loads(path.read_bytes())["format"] == 1
    path.write_text(KEPT + '["a", 1, 1, ["x:1"]]]}')
    assert read_facet(silo.path, ALL, "a", Grouping.VALUE) == one
    path.write_text(text)
    assert read_facet(silo.path, ALL, "a", Grouping.VALUE) is None


def test_what_cannot_be_read_is_counted_apart(silo: Silo, fill: Fill) -> None:
    first, *_others = fill(3, rights="mine")
    place = silo[first].to_dirpath("oai_dc", "1")
    os.chmod(place, 0o644)
    Path(place).write_bytes(b"<no xml")
    run_job(silo.path, started(silo, "rights"))
    kept = read_facet(silo.path, ALL, "rights", Grouping.VALUE)
    assert kept is not None
    assert (kept.read, kept.unread) == (2, 1)


def test_values_of_removed_records_are_not_kept(
    silo: Silo, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_others = fill(5)
    run_job(silo.path, started(silo, "title"))
    assert files(silo)
    silo.del_item(first, remember=True)
    assert not files(silo)
    count = count_facets

    def removing(*given: object) -> object:
        found = count(*given)  # type: ignore[arg-type]
        silo.del_item(second, remember=True)
        return found

    monkeypatch.setattr(facet_job, "count_facets", removing)
    job_id = started(silo, "title")
    assert run_job(silo.path, job_id) is State.FAILED
    assert "removed for good meanwhile" in JobLedger(silo.path).job(job_id).sentence
    assert not files(silo)
    monkeypatch.undo()
    jobs = Jobs.of(silo.path)
    jobs.act(job_id, JobAction.RETRY)
    assert run_job(silo.path, job_id) is State.DONE


def test_the_same_is_counted_once_at_a_time(silo: Silo) -> None:
    jobs = Jobs.of(silo.path)
    job_id = started(silo)
    assert started(silo) == job_id
    assert count_under_way(jobs, ALL, "title") is None
    assert started(silo, "title") != job_id
    jobs.act(job_id, JobAction.PAUSE)
    assert count_under_way(jobs, ALL, "date") is None
    assert started(silo) == job_id
    assert jobs.ledger.job(job_id).state is State.QUEUED
    run_job(silo.path, job_id)
    assert count_under_way(jobs, ALL, "date") is None
    assert started(silo) != job_id


KILLED = """
import os, sys
from killing import kill_at
from silowork.running import run_job
kill_at([(os, "rename")], int(sys.argv[3]))
run_job(sys.argv[1], sys.argv[2])
"""


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 3, 8])
def test_a_killed_count_leaves_nothing_half(silo: Silo, fill: Fill, number: int) -> None:
    fill(5, date=DAYS)
    job_id = started(silo)
    command = [sys.executable, "-c", KILLED, silo.path, job_id, str(number)]
    paths = os.pathsep.join(sys.path)
    killed = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert killed.returncode == -9
    found = [read_facet(silo.path, ALL, "date", how) for how in Grouping]
    assert sum(one is not None for one in found) == len(
        [*Path(silo.path).glob(".silo/facets/*.json")]
    )
    assert not list(Audit(silo.path).findings())
    assert run_job(silo.path, job_id) is State.DONE
    assert all(read_facet(silo.path, ALL, "date", how) for how in Grouping)
    silo.staging.new_path()
    assert len(os.listdir(f"{silo.path}/.silo/tmp")) <= 2
