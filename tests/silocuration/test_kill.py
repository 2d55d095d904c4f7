"""A killed batch edit continues, does what its preview said, and can be undone."""

import hashlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.audit.check import Audit
from silocuration.batch.job import job_report, job_reports, preview, run_job, undo_job
from silocuration.batch.journal import Doing
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet, save_rules
from silocuration.editing.rules import Add, Replace

Fill = Callable[..., list[str]]
RULES = RuleSet(
    "one spelling", rules=(Replace("type", "Article", "article"), Add("rights", "open"))
)


def digests(silo: Silo) -> dict[str, str]:
    """The digest of all files of each record, by their paths, as they lie on disk."""
    found = {}
    for record in silo.iteritems():
        digest = hashlib.sha256()
        for version in record.versions:
            for path in record.paths(version):
                digest.update(f"{version}/{path}\0".encode())
                digest.update(Path(record.to_dirpath(path, version)).read_bytes())
        found[record.item_id] = digest.hexdigest()
    return found


def killed_in_the_middle(silo: Silo, number: int) -> str:
    """Start the rules in a process of their own, and kill it once a tenth is done."""
    command = [sys.executable, "-c", "from silocuration.commands.edits import rules; rules()"]
    process = subprocess.Popen([*command, "apply", silo.path, "types", "-q"])
    try:
        while process.poll() is None:
            found = [
                one for one in job_reports(silo) if one.counts.get(Doing.DONE, 0) > number / 10
            ]
            if found:
                break
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGKILL
    (report,) = job_reports(silo)
    assert not report.is_finished
    return report.job_id


@pytest.mark.long
@pytest.mark.parametrize("number", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_killed_bulk_edit_goes_on_and_is_undone(silo: Silo, fill: Fill, number: int) -> None:
    identifiers = fill(number, type=["Article", "PeerReviewed"])
    before = digests(silo)
    expected = preview(silo, rules_job(RULES))
    save_rules(silo.path, "types", RULES)
    job = killed_in_the_middle(silo, number)
    report = run_job(silo, job)
    assert (report.counts, report.values) == ({Doing.DONE: expected.changed}, expected.values)
    assert (expected.changed, expected.values) == (number, 2 * number)
    assert not list(Audit(silo.path).findings())

    for one in (identifiers[3], identifiers[-1]):
        silo[one].put_stream("note.txt", "edited in between")
    undone = undo_job(silo, job, agent="ada")
    assert dict(undone.kept).keys() == {identifiers[3], identifiers[-1]}
    after = digests(silo)
    changed = {one for one in identifiers if before[one] != after[one]}
    assert changed == {identifiers[3], identifiers[-1]}
    assert job_report(silo, job).counts == {Doing.UNDONE: number - 2, Doing.KEPT: 2}
