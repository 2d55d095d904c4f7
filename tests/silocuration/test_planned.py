"""Planned batch edits: counted completely from their journals, then applied or deleted."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace

import pytest

from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silocuration.activity import changed_values
from silocuration.batch.job import create_job, job_report, preview, run_job, undo_job
from silocuration.batch.journal import JOBS, Change, Doing, JobJournal, remove_journal
from silocuration.batch.left_out import without
from silocuration.batch.planned import discard, noted_preview, preview_planned
from silocuration.batch.specs import rules_job
from silocuration.editing.changes import FileChange, RecordChange
from silocuration.editing.fields import ReadDocument, read_fields
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add, MapValues, Remove, Replace, Rule, apply
from silocuration.errors import JobBusy, JobNotFound

Fill = Callable[..., list[str]]
SPEC = rules_job(RuleSet("types", rules=(Replace("type", "Article", "article"),)))


def test_a_planned_change_is_previewed_as_it_is_done(silo: Silo, fill: Fill) -> None:
    fill(5, type="Article")
    expected = preview(silo, SPEC, samples=3)
    job_id = create_job(silo, SPEC, agent="ada")
    seen: list[int] = []
    assert preview_planned(silo, job_id, samples=3, progress=seen.append) == expected
    assert seen == [1, 2, 3, 4, 5]
    assert noted_preview(job_report(silo, job_id).about) == expected
    assert silo.count(curated=True) == 0
    report = run_job(silo, job_id)
    assert (report.counts, report.values) == ({"done": 5}, expected.values)


def test_a_planned_change_is_of_the_records_that_were_found_then(silo: Silo, fill: Fill) -> None:
    first, *_ = fill(3, type="Article")
    job_id = create_job(silo, SPEC, agent="ada")
    silo.get_item("oai:repo.example:late").sync()
    silo.del_item(first)
    found = preview_planned(silo, job_id)
    assert found is not None
    assert (found.records, found.changed, sum(found.skipped.values())) == (3, 2, 1)


def test_a_change_that_was_begun_is_not_previewed_nor_put_away(silo: Silo, fill: Fill) -> None:
    fill(2, type="Article")
    job_id = create_job(silo, SPEC, agent="ada")
    run_job(silo, job_id)
    assert preview_planned(silo, job_id) is None
    assert noted_preview(job_report(silo, job_id).about) is None
    assert not discard(silo, job_id)
    assert job_report(silo, job_id).counts == {"done": 2}


def test_a_change_begun_while_it_is_previewed_has_no_preview(silo: Silo, fill: Fill) -> None:
    fill(2, type="Article")
    job_id = create_job(silo, SPEC, agent="ada")
    begun: list[int] = []

    def begin(done: int) -> None:
        begun.append(done)
        run_job(silo, job_id)

    assert preview_planned(silo, job_id, progress=begin) is None
    assert begun


def test_a_planned_change_is_put_away(silo: Silo, fill: Fill) -> None:
    fill(2, type="Article")
    job_id = create_job(silo, SPEC, agent="ada")
    with (
        Locks(silo.path + "/.silo/locks").hold_name_if_free(f"job-{job_id}"),
        pytest.raises(JobBusy),
    ):
        discard(silo, job_id)
    assert discard(silo, job_id)
    with pytest.raises(JobNotFound):
        JobJournal.open(silo.path, job_id)
    for name in (job_id, "../../silo"):
        with pytest.raises(JobNotFound):
            remove_journal(silo.path, name)


def test_a_preview_keeps_its_samples(silo: Silo, fill: Fill) -> None:
    fill(2, type="Article")
    spec = rules_job(replace(RuleSet("ready"), state="ready"))
    job_id = create_job(silo, spec, agent="ada")
    found = preview_planned(silo, job_id, samples=1)
    assert found is not None
    assert [one.state for one in found.samples] == ["ready"]
    assert noted_preview(job_report(silo, job_id).about) == found


def _types(silo: Silo, identifier: str) -> list[str]:
    record = silo[identifier]
    with record.get_stream("oai_dc", record.currentversion) as stream:
        return [one.text for one in read_fields(stream.read()) if one.name in {"type", "subject"}]


def test_changes_and_records_can_be_left_out_of_a_previewed_change(silo: Silo, fill: Fill) -> None:
    first, second, third = fill(3, type="Article", subject="Sun")
    rules = (
        Replace("type", "Article", "article"),
        Replace("subject", "Sun", "Solar"),
        Add("subject", "new"),
    )
    job_id = create_job(silo, rules_job(RuleSet("types", rules=rules)), agent="ada")
    preview_planned(silo, job_id)
    with JobJournal.open(silo.path, job_id) as journal:
        assert {(one.change, one.count) for one in journal.distinct_changes(9)} == {
            (("type", "Article", "article"), 3),
            (("subject", "Sun", "Solar"), 3),
            (("subject", None, "new"), 3),
        }
        assert journal.to_change() == (3, 9)
        journal.choose({("subject", "Sun", "Solar"): False})
        journal.move([third], Doing.LEFT_OUT)
        assert journal.to_change() == (2, 4)
        found = journal.records_of(("type", "Article", "article"), 2)
        assert [one.identifier for _number, one in found] == [first, second]
        (last,) = journal.records_of(("type", "Article", "article"), 2, found[-1][0])
        assert (last[1].identifier, last[1].state) == (third, "left out")
    report = run_job(silo, job_id)
    assert (report.counts, report.values) == ({"done": 2, "left out": 1}, 4)
    assert _types(silo, first) == ["article", "Sun", "new"]
    assert _types(silo, third) == ["Article", "Sun"]
    assert undo_job(silo, job_id, agent="ada").counts == {"undone": 2, "left out": 1}
    assert _types(silo, first) == ["Article", "Sun"]


@pytest.mark.parametrize(
    ("rule", "left", "expected"),
    [
        (Remove("subject", "A"), ("subject", "A", None), ["T", "A", "B", "C"]),
        (Add("subject", "D"), ("subject", None, "D"), ["T", "A", "B", "C"]),
        (MapValues("subject", {"A": "a", "B": "b"}), ("subject", "A", "a"), ["T", "A", "b", "C"]),
        (MapValues("subject", {"A": "a", "B": "b"}), ("subject", "B", "b"), ["T", "a", "B", "C"]),
    ],
)
def test_what_is_left_out_stays_where_it_was(rule: Rule, left: Change, expected: list[str]) -> None:
    content = (
        b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        b'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title>'
        b"<dc:subject>A</dc:subject><dc:subject>B</dc:subject><dc:subject>C</dc:subject></oai_dc:dc>"
    )
    document = ReadDocument(content)
    after = apply((rule,), document.fields)
    files = (FileChange("oai_dc", content, document.with_fields(after)),)
    change = RecordChange("1", "workingcopy", document.fields, after, files)
    found = without(change, {left})
    texts = [one.text for one in (found.after if found else change.before)]
    assert texts == expected
    assert without(change, set(changed_values(change))) is None
    assert without(change, set()) is change


def test_a_preview_forgets_what_an_unfinished_one_stored(silo: Silo, fill: Fill) -> None:
    first, second = fill(2, type="Article")
    job_id = create_job(silo, SPEC, agent="ada")
    stale: Change = ("type", "Gone", "article")
    with JobJournal.open(silo.path, job_id) as journal:
        journal.keep((), {first: [stale, stale], second: [stale]})
    preview_planned(silo, job_id)
    with JobJournal.open(silo.path, job_id) as journal:
        assert journal.to_change() == (2, 2)
        assert [one.old for one in journal.distinct_changes(10)] == ["Article"]
    run_job(silo, job_id)
    preview_planned(silo, job_id)
    with JobJournal.open(silo.path, job_id) as journal:
        assert len(journal.changed_records(10)[0][2]) == 1


def test_a_journal_of_an_earlier_release_is_previewed_applied_and_undone(
    silo: Silo, fill: Fill
) -> None:
    names = fill(3, type="Article")
    job_id, done = (create_job(silo, SPEC, agent="ada") for _ in range(2))
    run_job(silo, done)
    undo_job(silo, done, agent="ada")
    for one in (job_id, done):
        with sqlite3.connect(f"{silo.path}/{JOBS}/{one}.sqlite") as connection:
            connection.executescript("DROP TABLE value; DROP TABLE left_out;")
    found = preview_planned(silo, job_id)
    assert found is not None
    with JobJournal.open(silo.path, job_id) as journal:
        (only,) = journal.distinct_changes(10)
        assert (only.count, len(journal.records_of(only.change, 10))) == (3, 3)
        journal.move(names[:1], Doing.LEFT_OUT)
    assert run_job(silo, job_id).counts == {"done": 2, "left out": 1}
    assert undo_job(silo, job_id, agent="ada").counts == {"undone": 2, "left out": 1}
    with JobJournal.open(silo.path, done) as journal:
        assert [values for _, _, values in journal.changed_records(10)] == [[], [], []]


def test_questions_about_one_of_many_changes_use_an_index(silo: Silo, fill: Fill) -> None:
    fill(2, type="Article")
    job_id = create_job(silo, SPEC, agent="ada")
    preview_planned(silo, job_id)
    asked: list[str] = []
    with JobJournal.open(silo.path, job_id) as journal, journal._file.reading() as connection:
        connection.set_trace_callback(asked.append)
        (one,) = journal.distinct_changes(10)
        journal.records_of(one.change, 10)
        journal.choose({one.change: False})
        journal.to_change()
        journal.changed_records(10)
        connection.set_trace_callback(None)
        steps = [
            step
            for text in asked
            if text.startswith(("SELECT", "DELETE", "UPDATE"))
            for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {text}")
        ]
    scanned = {step for step in steps if step.startswith("SCAN ") and "USING" not in step}
    assert not {step for step in scanned if "json_each" not in step}, steps
