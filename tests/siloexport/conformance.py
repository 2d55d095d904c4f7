"""Requirements for every export target: one suite that each must pass.

A test module makes a class of `TargetContract`, or `DiskTargetContract`, and a fixture ``rig``.
"""

import contextlib
import random
import shutil
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import pytest
from examples import family

from recordsilo import Silo
from recordsilo.errors import VersionExists
from siloexport import (
    ActionKind,
    Deletions,
    Export,
    OnConflict,
    Policy,
    RunReport,
    Selection,
    Target,
    Versions,
)
from siloexport.engine.deposits import Retries
from siloexport.ledger import EntryPen, Ledger, ledger_path

Change = Callable[..., None]
Content = list[tuple[str, Mapping[str, bytes]]]

ODD = (
    "oai:example.org:a/b?c#d%e",
    "oai:example.org:ümläut 日本",
    "oai:example.org:..",
    "oai:example.org:" + "x" * 260,
    "oai:example.org:A^b~c|d\\e",
)


class Rig(Protocol):
    """A target under test, and a way to look at it that is not the target's own."""

    versions: Versions
    """Which versions `target` is made for."""

    def target(self) -> Target:
        """A new handle on the same place."""

    def holds(self, identifier: str) -> Content:
        """(version, path → bytes) there, the oldest first; nothing for no such record.

        Where the target keeps each version: all that it keeps. Else those of the last deposit.
        """

    def spoil(self, identifier: str) -> None:
        """Change what is there of a record, as somebody else might."""


class Killed(BaseException):
    """The process is gone; what stood behind this moment never happened."""


def export(silo: Silo, rig: Rig, **policy: Any) -> Export:
    quick = Retries(attempts=3, first=0.01)
    return Export(silo, rig.target(), Policy(rig.versions, **policy), quick)


def in_silo(silo: Silo, identifier: str, version: str) -> dict[str, bytes]:
    record = silo[identifier]
    found = {}
    for path in record.paths(version):
        with record.get_stream(path, version) as stream:
            found[path] = stream.read()
    return found


def should_hold(rig: Rig, silo: Silo, identifier: str, version: str) -> dict[str, bytes]:
    """What a rig should find of a version: its files, or what ``of_version`` of the rig says."""
    of_version: Callable[[Silo, str, str], dict[str, bytes]]
    of_version = getattr(rig, "of_version", in_silo)
    return of_version(silo, identifier, version)


def without_documents(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: content for path, content in files.items() if not path.endswith("_dc.xml")}


def newest(rig: Rig, identifier: str) -> tuple[str, dict[str, bytes]]:
    name, files = rig.holds(identifier)[-1]
    return name, without_documents(files)


def actions(report: RunReport) -> dict[ActionKind, int]:
    return {kind: number for kind, number in report.actions.items() if number}


def lose_ledger(silo: Silo, rig: Rig) -> None:
    target = rig.target()
    target.probe()
    for suffix in ("", "-wal", "-shm"):
        Path(ledger_path(silo.path, target.key) + suffix).unlink(missing_ok=True)


def counts(report: RunReport) -> tuple[object, ...]:
    return (actions(report), report.records, report.failed, report.conflicts, report.skipped)


def curate(silo: Silo, identifier: str, note: str) -> None:
    """Put a file into a working copy, which is made if there is none."""
    record = silo[identifier]
    if not record.is_curated:
        record.clone_version(record.currentversion, "workingcopy")
    record.put_stream("notes.txt", note)


def credit(silo: Silo, identifier: str, creator: str) -> None:
    """Add a creator in a working copy, which is made if there is none."""
    record = silo[identifier]
    if not record.is_curated:
        record.clone_version(record.currentversion, "workingcopy")
    content = record.read("workingcopy", "oai_dc")
    told = f"<dc:creator>{creator}</dc:creator></oai_dc:dc>".encode()
    record.put_stream("oai_dc", content.replace(b"</oai_dc:dc>", told))


def identify(silo: Silo, field: str, **values: str) -> None:
    """Write the authority file of a field: value → identifier; ``_`` stands for a space."""
    place = Path(silo.path, "curation", "authorities", f"{field}.csv")
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'"{value.replace("_", " ")}",{key}' for value, key in values.items()]
    place.write_text("\n".join(["value,id", *lines]), encoding="utf-8")


def _removed(silo: Silo, rig: Rig, identifier: str) -> Path:
    """Remove what the ledger says is there of a record; returns where it was."""
    target = rig.target()
    target.probe()
    with Ledger.look(silo.path, target.key) as ledger:
        held = ledger.known(identifier).held
    assert held is not None
    place = Path(held.uri)
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    return place


def _roll_back(export: Export, *, purge: bool) -> None:
    for run_id, _, _ in export.status().runs[:1]:
        export.rollback(run_id, purge=purge)


LIVE = ("oai:example.org:1", "oai:example.org:2", "oai:example.org:3")


class TargetContract:
    def test_what_is_exported_is_there_byte_for_byte(self, silo: Silo, rig: Rig) -> None:
        report = export(silo, rig).run()
        assert report.whole, report.problems
        for identifier in LIVE:
            current = silo[identifier].currentversion
            assert newest(rig, identifier) == (current, should_hold(rig, silo, identifier, current))
        assert rig.holds("oai:example.org:4") == []

    def test_metadata_is_there_as_a_document_of_its_own(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        files = rig.holds("oai:example.org:1")[-1][1]
        assert b"<dc:title>One</dc:title>" in files["oai_dc.xml"]
        assert b"<metadata" not in files["oai_dc.xml"]

    def test_odd_identifiers_have_places_of_their_own(
        self, silo: Silo, rig: Rig, harvest: Change
    ) -> None:
        for number, identifier in enumerate(ODD):
            harvest(silo, identifier, f"Odd {number}")
        report = export(silo, rig).run(Selection(identifiers=ODD))
        assert report.whole, report.problems
        for identifier in ODD:
            assert newest(rig, identifier)[1] == should_hold(rig, silo, identifier, "1")

    def test_dry_run_says_what_the_run_does_and_does_nothing(self, silo: Silo, rig: Rig) -> None:
        planned = export(silo, rig).run(dry_run=True)
        assert not any(rig.holds(identifier) for identifier in LIVE)
        assert planned.run_id == ""
        assert actions(planned) == actions(export(silo, rig).run())
        silo["1"].clone_version("1", "workingcopy")
        silo["2"].put_stream("notes.txt", "seen")
        planned = export(silo, rig).run(dry_run=True)
        assert planned.written == 2
        assert actions(planned) == actions(export(silo, rig).run())
        planned = export(silo, rig).run(dry_run=True)
        assert planned.written == 0
        assert actions(planned) == actions(export(silo, rig).run())

    def test_run_with_nothing_to_do_changes_nothing(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        before = [rig.holds(identifier) for identifier in LIVE]
        report = export(silo, rig).run()
        assert report.written == 0
        assert [rig.holds(identifier) for identifier in LIVE] == before

    def test_changed_working_copy_is_the_newest_there(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        record = silo["2"]
        record.put_stream("notes.txt", "seen")
        record.del_stream("docs/licence.txt")
        assert export(silo, rig).run().written == 1
        name, files = newest(rig, "oai:example.org:2")
        assert (name, sorted(files)) == ("workingcopy", ["notes.txt", "oai_dc"])

    def test_file_that_went_and_came_back_is_there(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        silo["2"].del_stream("docs/licence.txt")
        export(silo, rig).run()
        silo["2"].put_stream("docs/licence.txt", "CC BY-SA 4.0")
        report = export(silo, rig).run()
        assert report.whole, report.problems
        assert newest(rig, "oai:example.org:2")[1]["docs/licence.txt"] == b"CC BY-SA 4.0"

    def test_identifier_of_a_value_is_exported_with_the_records_that_have_it(
        self, silo: Silo, rig: Rig
    ) -> None:
        for one in ("1", "2"):
            credit(silo, one, "Tide Network" if one == "1" else "Wave Network")
        identify(silo, "creator", Wave_Network="https://ror.org/02mhbdp94")
        assert export(silo, rig).run().whole
        identify(silo, "creator", Wave_Network="https://ror.org/02mhbdp94",
                 Tide_Network="https://ror.org/01ej9dk98")  # fmt: skip
        writes = rig.target()
        writes.probe()
        expected = 1 if writes.capabilities.identifiers else 0
        assert export(silo, rig).run(dry_run=True).written == expected
        assert export(silo, rig).verify().outdated == expected
        report = export(silo, rig).run()
        assert (report.whole, report.written) == (True, expected)
        again = export(silo, rig).verify()
        assert (again.differences, again.records) == (0, 3)
        assert export(silo, rig).run().written == 0

    def test_cursor_moved_back_makes_that_version_the_newest(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        record = silo["2"]
        record.set_version_cursor("1")
        record.sync()
        assert export(silo, rig).run().whole
        assert newest(rig, "oai:example.org:2")[0] == "1"
        assert export(silo, rig).run().written == 0

    def test_changes_by_others_are_conflicts(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        rig.spoil("oai:example.org:2")
        spoiled = rig.holds("oai:example.org:2")
        silo["2"].put_stream("notes.txt", "seen")
        report = export(silo, rig).run()
        assert (report.conflicts, report.failed) == (1, 0)
        report = export(silo, rig).run(on_conflict=OnConflict.SKIP)
        assert (report.conflicts, report.skipped) == (0, 1)
        assert rig.holds("oai:example.org:2") == spoiled
        report = export(silo, rig).run(on_conflict=OnConflict.OVERWRITE)
        assert report.whole
        assert newest(rig, "oai:example.org:2")[1] == should_hold(
            rig, silo, "oai:example.org:2", "workingcopy"
        )
        assert export(silo, rig).verify().differences == 0

    def test_what_others_changed_is_mended_when_asked_and_never_unasked(
        self, silo: Silo, rig: Rig
    ) -> None:
        """Also where the Silo has nothing new: what `verify` finds can be mended."""
        export(silo, rig).run()
        rig.spoil("oai:example.org:2")
        spoiled = rig.holds("oai:example.org:2")
        assert export(silo, rig).verify().differences
        assert export(silo, rig).run().written == 0
        assert rig.holds("oai:example.org:2") == spoiled
        planned = export(silo, rig).run(dry_run=True, on_conflict=OnConflict.OVERWRITE)
        assert rig.holds("oai:example.org:2") == spoiled
        report = export(silo, rig).run(on_conflict=OnConflict.OVERWRITE)
        assert (report.whole, report.written) == (True, 1)
        assert actions(planned) == actions(report)
        self.is_mended(silo, rig)

    def is_mended(self, silo: Silo, rig: Rig) -> None:
        current = silo["2"].currentversion
        mended = newest(rig, "oai:example.org:2")
        assert mended == (current, should_hold(rig, silo, "oai:example.org:2", current))
        assert export(silo, rig).verify().differences == 0
        before = [rig.holds(identifier) for identifier in LIVE]
        assert export(silo, rig).run(on_conflict=OnConflict.OVERWRITE).written == 0
        assert export(silo, rig).reconcile().changed == 0
        assert export(silo, rig).run().written == 0
        assert [rig.holds(identifier) for identifier in LIVE] == before

    @pytest.mark.parametrize(
        ("is_changed", "has_ledger"),
        family([(True, True), (True, False), (False, False), (False, True)], 2),
        ids=[
            "silo changed-ledger kept", "silo changed-ledger lost",
            "silo as it was-ledger lost", "silo as it was-ledger kept",
        ],
    )  # fmt: skip
    def test_reconciliation_takes_nothing_of_others_for_its_own(
        self, silo: Silo, rig: Rig, has_ledger: bool, is_changed: bool
    ) -> None:
        export(silo, rig).run()
        rig.spoil("oai:example.org:2")
        spoiled = rig.holds("oai:example.org:2")
        if not has_ledger:
            lose_ledger(silo, rig)
        if is_changed:
            silo["2"].put_stream("notes.txt", "seen")
        assert export(silo, rig).reconcile().changed == 1
        if has_ledger and not is_changed:
            assert export(silo, rig).verify().differences
        for _ in range(2):
            report = export(silo, rig).run()
            assert (report.conflicts, report.failed, report.written) == (1, 0, 0)
            assert [one.identifier for one in report.problems] == ["oai:example.org:2"]
        planned = export(silo, rig).run(dry_run=True)
        assert (planned.conflicts, planned.failed, planned.written) == (1, 0, 0)
        assert export(silo, rig).run(on_conflict=OnConflict.SKIP).skipped == 1
        assert rig.holds("oai:example.org:2") == spoiled
        assert export(silo, rig).run(on_conflict=OnConflict.OVERWRITE).whole
        self.is_mended(silo, rig)

    @pytest.mark.parametrize("seed", family(range(6), 1))
    def test_plan_counts_what_the_run_counts(
        self, silo: Silo, rig: Rig, harvest: Change, delete_at_source: Change, seed: int
    ) -> None:
        """Whatever happened to the Silo, the ledger and the target before."""
        chance = random.Random(seed)
        names = [f"oai:example.org:{number}" for number in range(1, 8)]
        for identifier in names[4:]:
            harvest(silo, identifier, "More")
        deletions = chance.choice(list(Deletions if rig.target().capabilities.each_version
                                       else (Deletions.KEEP, Deletions.DELETE)))  # fmt: skip
        happenings: list[Callable[[str], object]] = [
            lambda one: export(silo, rig).run(Selection(identifiers=(one,))),
            lambda one: export(silo, rig, deletions=deletions).run(limit=2),
            lambda one: rig.holds(one) and rig.spoil(one),
            lambda one: curate(silo, one, f"{seed}"),
            lambda one: export(silo, rig).reconcile(Selection(identifiers=(one,))),
            lambda _: lose_ledger(silo, rig),
            lambda one: one in LIVE and delete_at_source(silo, one),
            lambda _: _roll_back(export(silo, rig), purge=chance.random() < 0.5),
        ]
        for _ in range(8):
            with contextlib.suppress(VersionExists):
                chance.choice(happenings)(chance.choice(names))
        for on_conflict in OnConflict:
            limit = chance.choice([None, 1, 3])
            export_ = export(silo, rig, deletions=deletions)
            planned = export_.run(dry_run=True, limit=limit, on_conflict=on_conflict)
            done = export_.run(limit=limit, on_conflict=on_conflict)
            assert counts(planned) == counts(done), (planned.problems, done.problems)

    def test_limit_counts_no_conflicts(self, silo: Silo, rig: Rig, harvest: Change) -> None:
        export(silo, rig).run()
        for identifier in LIVE[:2]:
            rig.spoil(identifier)
        export(silo, rig).reconcile()
        for number in (5, 6, 7):
            harvest(silo, f"oai:example.org:{number}", f"Title {number}")
        planned = export(silo, rig).run(dry_run=True, limit=2)
        report = export(silo, rig).run(limit=2, jobs=3)
        assert (report.conflicts, report.actions[ActionKind.CREATE]) == (2, 2)
        assert (planned.conflicts, actions(planned)) == (2, actions(report))
        assert export(silo, rig).run(limit=2).actions[ActionKind.CREATE] == 1

    def test_lost_ledger_is_rebuilt_from_the_target(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        before = [rig.holds(identifier) for identifier in LIVE]
        lose_ledger(silo, rig)
        report = export(silo, rig).reconcile()
        assert (report.found, report.adopted, report.forgotten) == (3, 3, 0)
        assert export(silo, rig).run().written == 0
        assert [rig.holds(identifier) for identifier in LIVE] == before
        assert export(silo, rig).reconcile().adopted == 0
        assert export(silo, rig).verify().differences == 0

    def test_lost_ledger_makes_no_second_copy(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        before = [rig.holds(identifier) for identifier in LIVE]
        lose_ledger(silo, rig)
        assert export(silo, rig).run().whole
        assert [rig.holds(identifier) for identifier in LIVE] == before

    def test_verification_is_clean_after_a_run_and_names_what_was_changed(
        self, silo: Silo, rig: Rig
    ) -> None:
        export(silo, rig).run()
        report = export(silo, rig).verify()
        assert (report.records, report.versions, report.differences) == (3, 3, 0)
        rig.spoil("oai:example.org:3")
        report = export(silo, rig).verify()
        assert report.differences > 0
        assert {one.identifier for one in report.first} == {"oai:example.org:3"}

    def test_verification_compares_what_the_last_run_left_there(self, silo: Silo, rig: Rig) -> None:
        """Not versions that the target held before, where a newer one takes their place."""
        export(silo, rig).run()
        silo["3"].clone_version("1", "workingcopy")
        silo["3"].put_stream("notes.txt", "seen")
        assert export(silo, rig).run().whole
        report = export(silo, rig).verify()
        assert (report.records, report.outdated, report.differences) == (3, 0, 0)
        silo["3"].del_version("workingcopy")
        report = export(silo, rig).verify()
        assert (report.records, report.outdated, report.differences) == (3, 1, 0)

    def test_verification_leaves_out_what_the_silo_has_newer(self, silo: Silo, rig: Rig) -> None:
        export(silo, rig).run()
        silo["2"].put_stream("notes.txt", "seen")
        report = export(silo, rig).verify()
        assert (report.outdated, report.versions, report.differences) == (1, 2, 0)

    def test_deletion_is_followed_as_the_policy_says(
        self, silo: Silo, rig: Rig, delete_at_source: Change
    ) -> None:
        export(silo, rig).run()
        delete_at_source(silo, "oai:example.org:1")
        kept = export(silo, rig, deletions=Deletions.KEEP).run()
        assert kept.still_there == ("oai:example.org:1",)
        follow = export(silo, rig, deletions=Deletions.DELETE)
        assert actions(follow.run())[ActionKind.WITHDRAW] == 1
        assert rig.holds("oai:example.org:1") == []
        assert follow.run().written == 0

    def test_curated_record_stays_when_the_source_deletes_it(
        self, silo: Silo, rig: Rig, delete_at_source: Change
    ) -> None:
        export(silo, rig).run()
        delete_at_source(silo, "oai:example.org:2")
        assert export(silo, rig, deletions=Deletions.DELETE).run().written == 0
        assert newest(rig, "oai:example.org:2")[0] == "workingcopy"

    def test_roll_back_takes_back_what_the_run_created_and_no_more(
        self, silo: Silo, rig: Rig, harvest: Change
    ) -> None:
        first = export(silo, rig).run()
        harvest(silo, "oai:example.org:5", "Five")
        silo["1"].clone_version("1", "workingcopy")
        second = export(silo, rig).run()
        report = export(silo, rig).rollback(second.run_id, purge=True)
        assert (report.taken_back, dict(report.kept)) == (1, {})
        assert rig.holds("oai:example.org:5") == []
        assert newest(rig, "oai:example.org:1")[0] == "workingcopy"
        report = export(silo, rig).rollback(first.run_id, purge=True)
        assert (report.taken_back, len(report.kept)) == (2, 1)
        assert newest(rig, "oai:example.org:1")[0] == "workingcopy"
        assert export(silo, rig).run().whole
        assert newest(rig, "oai:example.org:5")[0] == "1"
        assert newest(rig, "oai:example.org:3")[0] == "1"
        assert export(silo, rig).verify().differences == 0

    def test_roll_back_leaves_what_others_changed(self, silo: Silo, rig: Rig) -> None:
        run = export(silo, rig).run()
        rig.spoil("oai:example.org:3")
        report = export(silo, rig).rollback(run.run_id)
        assert (report.taken_back, len(report.kept)) == (2, 1)
        assert rig.holds("oai:example.org:3") != []

    @pytest.mark.parametrize(
        ("after", "moment"),
        family(product([False, True], ["begin", "opened", "committing", "finish"]), 1),
    )
    @pytest.mark.parametrize("change", family(["create", "replace", "withdraw"], 1))
    def test_process_gone_at_any_note_leaves_nothing_twice_and_nothing_half(
        self, silo: Silo, rig: Rig, delete_at_source: Change, monkeypatch: pytest.MonkeyPatch,
        moment: str, after: bool, change: str,
    ) -> None:  # fmt: skip
        one = "oai:example.org:2" if change == "replace" else LIVE[0]
        only = Selection(identifiers=(one,))
        how = {"deletions": Deletions.DELETE}
        if change != "create":
            export(silo, rig, **how).run(only)
        if change == "replace":
            silo["2"].put_stream("notes.txt", "seen")
        if change == "withdraw":
            delete_at_source(silo, LIVE[0])
        before = len(rig.holds(one))
        with monkeypatch.context() as patched:
            owner = EntryPen if moment in {"opened", "committing"} else Ledger
            _kill_at(patched, owner, moment, after=after)
            with contextlib.suppress(Killed):  # a target may make no such note
                export(silo, rig, **how).run(only)
        report = export(silo, rig, **how).resume()
        assert report.whole, report.problems
        if change == "withdraw":
            assert rig.holds(one) == []
        else:
            current = silo[one].currentversion
            assert newest(rig, one) == (
                current,
                should_hold(rig, silo, one, current),
            )
            self.check_count(rig, one, before + 1)
        assert export(silo, rig).verify().differences == 0
        assert export(silo, rig, **how).run(only).written == 0

    def check_count(self, rig: Rig, identifier: str, versions: int) -> None:
        """Where each version is kept: no second copy of one that was exported once."""
        target = rig.target()
        target.probe()
        if target.capabilities.each_version:
            assert len(rig.holds(identifier)) == versions

    def test_four_at_once_do_what_one_does(self, silo: Silo, rig: Rig, harvest: Change) -> None:
        for number in range(5, 17):
            harvest(silo, f"oai:example.org:{number}", f"Title {number}")
        report = export(silo, rig).run(jobs=4)
        assert report.whole, report.problems
        assert report.actions[ActionKind.CREATE] == 15
        for number in range(5, 17):
            identifier = f"oai:example.org:{number}"
            assert newest(rig, identifier)[1] == should_hold(rig, silo, identifier, "1")


def _kill_at(patched: pytest.MonkeyPatch, owner: type[Any], name: str, *, after: bool) -> None:
    real = getattr(owner, name)

    def killed(*arguments: Any, **named: Any) -> Any:
        if after:
            real(*arguments, **named)
        raise Killed

    patched.setattr(owner, name, killed)


class DiskTargetContract(TargetContract):
    """What holds also of a target on a disk, where somebody may have deleted what was exported."""

    def test_what_others_removed_from_a_disk_is_written_again(self, silo: Silo, rig: Rig) -> None:
        assert rig.target().capabilities.looks
        identifier = LIVE[1]
        export(silo, rig).run()
        before = newest(rig, identifier)
        place = _removed(silo, rig, identifier)
        assert export(silo, rig).run(on_conflict=OnConflict.SKIP).written == 0
        planned = export(silo, rig).run(dry_run=True)
        assert (planned.missing, planned.whole, place.exists()) == (1, True, False)
        report = export(silo, rig).run()
        assert (report.missing, report.whole, actions(report)) == (1, True, actions(planned))
        assert newest(rig, identifier) == before
        assert export(silo, rig).verify().differences == 0
        again = export(silo, rig).run()
        assert (again.missing, again.written) == (0, 0)
        _removed(silo, rig, identifier)
        silo["2"].put_stream("notes.txt", "seen")
        report = export(silo, rig).run()
        assert (report.missing, report.whole, report.conflicts) == (1, True, 0)
        current = silo["2"].currentversion
        assert newest(rig, identifier)[1] == should_hold(rig, silo, identifier, current)
        assert export(silo, rig).verify().differences == 0
