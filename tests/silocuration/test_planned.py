"""Changes that are planned: counted as a whole from their journals, then done or put away."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silocuration.batch.job import create_job, job_report, preview, run_job
from silocuration.batch.journal import JobJournal, remove_journal
from silocuration.batch.planned import discard, noted_preview, preview_planned
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Replace
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
