"""A batch edit does what its preview said, continues after a stop, and can be undone."""

import os
from collections.abc import Callable
from dataclasses import replace

import pytest

from recordsilo import RecordEdit, Silo
from recordsilo.audit.check import Audit
from recordsilo.errors import FileInTheWay
from recordsilo.index import SearchFilters
from recordsilo.selection import Selection
from silocuration.batch import job as bulk
from silocuration.batch.job import create_job, job_report, job_reports, preview, run_job, undo_job
from silocuration.batch.journal import Doing
from silocuration.batch.specs import rules_job
from silocuration.editing.fields import read_fields, said
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add, Remove, Replace, ReplacePattern, Rule
from silocuration.errors import JobBusy, JobNotFound, PatternTooSlow

Fill = Callable[..., list[str]]


def rule_set(*rules: Rule, **more: object) -> RuleSet:
    return replace(RuleSet("Types in one spelling", rules=rules), **more)  # type: ignore[arg-type]


TYPES = rule_set(Replace("type", "Journal Article", "article"))


def fields_of(silo: Silo, identifier: str) -> tuple[tuple[str, str, str], ...]:
    return said(read_fields(content(silo, identifier, "oai_dc")))


def content(silo: Silo, identifier: str, path: str, version: str | None = None) -> bytes:
    with silo[identifier].get_stream(path, version) as stream:
        return bytes(stream.read())


def snapshot(silo: Silo) -> dict[str, object]:
    """What every record holds: versions, their files' bytes, states, the cursor."""
    found: dict[str, object] = {}
    for record in silo.iteritems():
        files = {
            (version, path): content(silo, record.item_id, path, version)
            for version in record.versions
            for path in record.paths(version)
        }
        states = [record.version_state(version) for version in record.versions]
        found[record.item_id] = (record.versions, record.currentversion, files, states)
    return found


def test_a_preview_says_what_the_job_then_does(silo: Silo, fill: Fill) -> None:
    fill(5, type=["Journal Article", "PeerReviewed"])
    before = snapshot(silo)
    said_before = preview(silo, rules_job(TYPES))
    assert snapshot(silo) == before
    report = run_job(silo, create_job(silo, rules_job(TYPES), agent="ada"))
    assert (said_before.records, said_before.changed, said_before.values) == (5, 5, 5)
    assert (report.counts, report.values, report.whole) == ({Doing.DONE: 5}, 5, True)
    assert said_before.samples[0].before == (
        ("type", "Journal Article", ""),
        ("type", "PeerReviewed", ""),
    )
    assert said_before.samples[0].after[0] == ("type", "article", "")


def test_the_harvested_version_stays_and_a_working_copy_is_made(silo: Silo, fill: Fill) -> None:
    (identifier,) = fill(1, type="Journal Article")
    run_job(silo, create_job(silo, rules_job(TYPES), agent="ada", message="one spelling"))
    record = silo[identifier]
    assert (record.versions, record.currentversion) == (["1", "workingcopy"], "workingcopy")
    assert b"Journal Article" in content(silo, identifier, "oai_dc", "1")
    assert ("type", "article", "") in fields_of(silo, identifier)
    origin = record.origin("workingcopy")
    assert (origin.kind, origin.of, origin.agent, origin.message) == (
        "clone", "1", "ada", "one spelling",
    )  # fmt: skip
    assert silo.search("type:article").total or silo.count(curated=True) == 1


def test_a_second_job_changes_the_same_working_copy(silo: Silo, fill: Fill) -> None:
    (identifier,) = fill(1, type="Journal Article")
    run_job(silo, create_job(silo, rules_job(TYPES), agent="ada"))
    run_job(silo, create_job(silo, rules_job(rule_set(Add("type", "text"))), agent="bob"))
    assert silo[identifier].versions == ["1", "workingcopy"]
    assert fields_of(silo, identifier)[1:] == (("type", "article", ""), ("type", "text", ""))


def test_only_records_selected_are_changed(silo: Silo, fill: Fill) -> None:
    identifiers = fill(4, type="Journal Article")
    some = rule_set(
        *TYPES.rules, select=Selection(identifiers=(identifiers[2], "oai:repo.example:0"))
    )
    run_job(silo, create_job(silo, rules_job(some), agent="ada"))
    assert [silo[one].is_curated for one in identifiers] == [True, False, True, False]
    by_words = rule_set(*TYPES.rules, select=Selection('"Record 3"'))
    assert preview(silo, rules_job(by_words)).changed == 1
    uncurated = Selection(filters=SearchFilters({"curated": False}))
    assert preview(silo, rules_job(rule_set(*TYPES.rules, select=uncurated))).records == 2


def test_records_that_need_no_change_are_left_alone(silo: Silo, fill: Fill) -> None:
    fill(3, type="book")
    report = run_job(silo, create_job(silo, rules_job(TYPES), agent="ada"))
    assert (report.counts, report.whole) == ({Doing.UNCHANGED: 3}, True)
    assert silo.count(curated=True) == 0


def test_records_that_cannot_be_changed_are_named(silo: Silo, fill: Fill) -> None:
    first, second, third = fill(3, type="Journal Article")
    record = silo[first]
    record.clone_version("1", "workingcopy")
    record.set_version_cursor("1")
    record.sync()
    record = silo[second]
    record.clone_version("1", "workingcopy")
    with open(record.to_dirpath("oai_dc", "workingcopy"), "ab") as file:
        file.write(b" ")
    report = run_job(silo, create_job(silo, rules_job(TYPES), agent="ada"))
    assert dict(report.skipped) == {
        first: "has a working copy that is not its current version",
        second: "oai_dc was edited outside; accept it first",
    }
    assert (report.counts[Doing.DONE], report.whole) == (1, False)
    assert silo[third].is_curated


def test_what_the_store_refuses_is_passed_over_and_stays_as_it_was(
    silo: Silo, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = fill(2, type="Journal Article")
    before = snapshot(silo)
    put = RecordEdit.put

    def refuse(edit: RecordEdit, *args: object, **how: object) -> None:
        if edit.identifier == first:
            raise FileInTheWay(first, "workingcopy", "oai_dc")
        put(edit, *args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(RecordEdit, "put", refuse)
    job = create_job(silo, rules_job(TYPES), agent="ada")
    report = run_job(silo, job)
    assert report.counts == {Doing.SKIPPED: 1, Doing.DONE: 1}
    assert snapshot(silo)[first] == before[first]
    assert silo[first].revision == 1
    assert silo[second].is_curated


def test_a_state_can_be_set_with_or_without_rules(silo: Silo, fill: Fill) -> None:
    identifiers = fill(2, type="Journal Article")
    run_job(silo, create_job(silo, rules_job(rule_set(*TYPES.rules, state="ready")), agent="ada"))
    assert [silo[one].version_state() for one in identifiers] == ["ready", "ready"]
    job = create_job(silo, rules_job(rule_set(state="withheld")), agent="ada")
    run_job(silo, job)
    assert [silo[one].version_state() for one in identifiers] == ["withheld", "withheld"]
    undo_job(silo, job, agent="ada")
    assert [silo[one].version_state() for one in identifiers] == ["ready", "ready"]


def test_undo_takes_everything_back(silo: Silo, fill: Fill) -> None:
    identifiers = fill(3, type="Journal Article")
    silo[identifiers[0]].clone_version("1", "workingcopy")
    before = snapshot(silo)
    job = create_job(silo, rules_job(TYPES), agent="ada")
    run_job(silo, job)
    assert snapshot(silo) != before
    report = undo_job(silo, job, agent="bob")
    assert snapshot(silo) == before
    assert (report.counts, report.whole) == ({Doing.UNDONE: 3}, True)
    assert undo_job(silo, job, agent="bob").counts == {Doing.UNDONE: 3}


@pytest.mark.parametrize("deleted", [False, True])
def test_undoing_after_a_harvest_leaves_what_the_harvest_brought(
    silo: Silo, fill: Fill, harvest_again: Callable[..., None], deleted: bool
) -> None:
    (identifier,) = fill(1, type="Journal Article")
    job = create_job(silo, rules_job(TYPES), agent="ada")
    run_job(silo, job)
    harvest_again(identifier, **({} if deleted else {"title": "Record 0, revised"}))
    assert silo[identifier].currentversion == "workingcopy"
    assert undo_job(silo, job, agent="bob").whole
    record = silo[identifier]
    assert (record.versions, record.currentversion) == (["1", "2"], "2")


def test_undoing_goes_back_to_an_older_version_that_was_chosen(
    silo: Silo, fill: Fill, harvest_again: Callable[..., None]
) -> None:
    (identifier,) = fill(1, type="Journal Article")
    harvest_again(identifier, title="Record 0, revised")
    record = silo[identifier]
    record.set_version_cursor("1")
    record.sync()
    job = create_job(silo, rules_job(TYPES), agent="ada")
    run_job(silo, job)
    assert undo_job(silo, job, agent="bob").whole
    assert silo[identifier].currentversion == "1"


def test_records_changed_since_are_kept_and_listed(silo: Silo, fill: Fill) -> None:
    identifiers = fill(4, type="Journal Article")
    before = snapshot(silo)
    job = create_job(silo, rules_job(TYPES), agent="ada")
    run_job(silo, job)
    silo[identifiers[1]].put_stream("note.txt", "mine")
    with open(silo[identifiers[2]].to_dirpath("oai_dc", "workingcopy"), "ab") as file:
        file.write(b"\n")
    report = undo_job(silo, job, agent="ada")
    assert report.kept == (
        (identifiers[1], "was changed since"),
        (identifiers[2], "oai_dc was edited with another program since"),
    )
    assert report.counts == {Doing.UNDONE: 2, Doing.KEPT: 2}
    after = snapshot(silo)
    assert [after[one] == before[one] for one in identifiers] == [True, False, False, True]


def test_jobs_are_undone_in_any_order(silo: Silo, fill: Fill) -> None:
    fill(3, type="Journal Article", subject=["tides"])
    before = snapshot(silo)
    one = create_job(silo, rules_job(TYPES), agent="ada")
    run_job(silo, one)
    between = snapshot(silo)
    other = create_job(silo, rules_job(rule_set(Remove("subject"))), agent="ada")
    run_job(silo, other)
    assert undo_job(silo, one, agent="ada").counts == {Doing.KEPT: 3}
    undo_job(silo, other, agent="ada")
    assert snapshot(silo) == between
    assert undo_job(silo, one, agent="ada").counts == {Doing.UNDONE: 3}
    assert snapshot(silo) == before


def test_a_job_that_was_stopped_goes_on(
    silo: Silo, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "PAGE", 2)
    fill(7, type="Journal Article")
    job = create_job(silo, rules_job(TYPES), agent="ada")
    told: list[int] = []
    report = run_job(silo, job, progress=told.append, stop=lambda: len(told) == 2)
    assert (report.is_finished, report.counts) == (False, {Doing.DONE: 4, Doing.PLANNED: 3})
    report = run_job(silo, job, progress=told.append)
    assert (report.counts, told) == ({Doing.DONE: 7}, [2, 4, 6, 7])


def test_a_job_that_was_stopped_is_undone_without_doing_the_rest(
    silo: Silo, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "PAGE", 2)
    fill(7, type="Journal Article")
    before = snapshot(silo)
    job = create_job(silo, rules_job(TYPES), agent="ada")
    told: list[int] = []
    run_job(silo, job, progress=told.append, stop=lambda: len(told) == 2)
    report = undo_job(silo, job, agent="ada", progress=told.append, stop=lambda: len(told) == 3)
    assert report.counts == {Doing.UNDONE: 2, Doing.DONE: 2, Doing.PLANNED: 3}
    report = undo_job(silo, job, agent="ada")
    assert (report.is_finished, report.counts) == (True, {Doing.UNDONE: 4, Doing.LEFT_OUT: 3})
    assert snapshot(silo) == before
    run_job(silo, job)
    assert snapshot(silo) == before


class Killed(BaseException):
    """Stands for kill -9: nothing after it runs."""


@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("moment", ["before the commit", "after the commit"])
def test_a_job_killed_around_its_commit_ends_as_if_it_had_not_been(
    silo: Silo, fill: Fill, monkeypatch: pytest.MonkeyPatch, moment: str, undo: bool
) -> None:
    fill(3, type="Journal Article")
    before = snapshot(silo)
    job = create_job(silo, rules_job(TYPES), agent="ada")
    if undo:
        run_job(silo, job)

    def killed(*_args: object, **_kwargs: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if moment == "before the commit":
            patch.setattr(Silo, "_commit", killed)
        else:
            patch.setattr(bulk.JobJournal, "move", killed)
        with pytest.raises(Killed):
            undo_job(silo, job, agent="ada") if undo else run_job(silo, job)
    report = undo_job(silo, job, agent="ada") if undo else run_job(silo, job)
    assert report.counts == ({Doing.UNDONE: 3} if undo else {Doing.DONE: 3})
    if undo:
        assert snapshot(silo) == before
    assert report.is_finished


def test_a_pattern_without_end_stops_the_job_and_writes_nothing(silo: Silo, fill: Fill) -> None:
    fill(2, subject="a" * 5000 + "!")
    before = snapshot(silo)
    bad = rule_set(Remove("subject", pattern=r"^(a|aa)+$"))
    job = create_job(silo, rules_job(bad), agent="ada")
    with pytest.raises(PatternTooSlow):
        run_job(silo, job)
    assert snapshot(silo) == before


def test_a_record_that_its_source_deleted_is_nothing_to_do(
    silo: Silo, fill: Fill, harvest_again: Callable[..., None]
) -> None:
    first, _ = fill(2, type="Journal Article")
    harvest_again(first)
    for rules in (rule_set(*TYPES.rules, state="ready"), rule_set(state="withheld")):
        assert preview(silo, rules_job(rules)).skipped == {}
        report = run_job(silo, create_job(silo, rules_job(rules), agent="ada"))
        assert (report.counts, report.whole) == ({Doing.DONE: 1, Doing.DELETED: 1}, True)
    assert not silo[first].is_curated


def test_a_job_without_a_title_says_what_it_does(silo: Silo) -> None:
    assert rules_job(rule_set(*TYPES.rules, title="")).title == "Type: Journal Article → article"
    assert rules_job(rule_set(*TYPES.rules, title=""), "types").title == "types"
    assert rules_job(rule_set(state="ready", title="")).title == "Status: ready"


def test_a_value_that_would_grow_without_measure_is_passed_over(silo: Silo, fill: Fill) -> None:
    identifiers = fill(2, subject="tides " * 100)
    before = snapshot(silo)
    grown = rule_set(ReplacePattern("subject", ".", "x" * 20_000))
    reason = "would get a value of more than 100,000 characters"
    assert preview(silo, rules_job(grown)).skipped == {reason: 2}
    report = run_job(silo, create_job(silo, rules_job(grown), agent="ada"))
    assert report.skipped == tuple((one, reason) for one in identifiers)
    assert snapshot(silo) == before


def test_a_preview_ends_after_so_many_records_or_seconds(silo: Silo, fill: Fill) -> None:
    fill(5, type="Journal Article")
    found = preview(silo, rules_job(TYPES), most=3)
    assert (found.records, found.changed, found.whole) == (3, 3, False)
    assert preview(silo, rules_job(TYPES), most=5, seconds=60.0).whole
    found = preview(silo, rules_job(TYPES), seconds=0.0)
    assert (found.changed, found.whole) == (0, False)


def test_a_record_that_is_gone_is_passed_over(silo: Silo, fill: Fill) -> None:
    first, _ = fill(2, type="Journal Article")
    job = create_job(silo, rules_job(TYPES), agent="ada")
    silo.del_item(first)
    report = run_job(silo, job)
    assert report.skipped == ((first, "was not found in this Silo"),)
    assert first not in silo


def test_two_runs_of_one_job_do_not_meet(silo: Silo, fill: Fill) -> None:
    fill(1, type="Journal Article")
    job = create_job(silo, rules_job(TYPES), agent="ada")
    with bulk.held(silo, job), pytest.raises(JobBusy):
        run_job(silo, job)


def test_jobs_are_listed_newest_first_and_found_by_their_id(silo: Silo, fill: Fill) -> None:
    fill(1, type="Journal Article")
    jobs = [create_job(silo, rules_job(TYPES), agent="ada") for _ in range(2)]
    assert {report.job_id for report in job_reports(silo)} == set(jobs)
    assert job_report(silo, jobs[0]).about["title"] == "Types in one spelling"
    for wrong in ("nope", "../../x", jobs[0] + "0"):
        with pytest.raises(JobNotFound):
            job_report(silo, wrong)


def test_journals_survive_the_removal_of_what_can_be_rebuilt(silo: Silo, fill: Fill) -> None:
    fill(1, type="Journal Article")
    job = create_job(silo, rules_job(TYPES), agent="ada")
    assert os.path.isfile(os.path.join(silo.path, "curation", "jobs", job + ".sqlite"))


def test_undoing_a_job_that_made_a_copy_leaves_a_clone_of_that_copy_explained(
    silo: Silo, fill: Fill
) -> None:
    (identifier,) = fill(1, type="Article")
    job = create_job(silo, rules_job(RuleSet(rules=(Add("subject", "new"),))), agent="ann")
    run_job(silo, job)
    silo[identifier].clone_version("workingcopy", "mine")
    undo_job(silo, job, agent="ann")
    assert silo[identifier].versions == ["1", "mine"]
    assert not list(Audit(silo.path).findings())
