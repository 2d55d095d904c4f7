"""Deposits on InvenioRDM do what every export target has to do, drafts and published records."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from conformance import LIVE, Change, TargetContract, export
from invenio_simulator import TOKEN, Simulator, Stored, Version

from recordsilo import Silo
from siloexport import Deletions, Versions
from siloexport.targets.invenio import InvenioSettings, InvenioTarget
from siloexport.targets.remote.server import Server


@dataclass
class InvenioRig:
    simulator: Simulator
    settings: InvenioSettings
    versions: Versions = Versions.CURRENT

    def target(self) -> InvenioTarget:
        url = self.simulator.base
        return InvenioTarget(url, Server(url, TOKEN), self.settings, lambda _seconds: None)

    def _of(self, identifier: str) -> list[Version]:
        found = [
            one
            for one in self.simulator.kept.values()
            if one.metadata["identifiers"][0]["identifier"] == identifier
            and (one.is_published or not self.settings.publish)
        ]
        assert len({one.parent for one in found}) < 2, "it is there twice"
        return found

    def holds(self, identifier: str) -> list[tuple[str, Mapping[str, bytes]]]:
        found = []
        for one in self._of(identifier):
            files = {key: file.content or b"" for key, file in one.files.items()}
            about = files.pop("silo.json", b"{}")
            found.append((_version_in(about), files))
        return found

    def spoil(self, identifier: str) -> None:
        newest = self._of(identifier)[-1]
        newest.files["oai_dc"] = Stored(b"somebody else's", is_committed=True)


def _version_in(about: bytes) -> str:
    return str(json.loads(about).get("version", ""))


@pytest.mark.long
class TestDrafts(TargetContract):
    @pytest.fixture
    def rig(self, invenio: Simulator) -> InvenioRig:
        return InvenioRig(invenio, InvenioSettings())


@pytest.mark.slow
class TestPublished(TargetContract):
    """What is published stays: nothing is deleted, and each change is a further version."""

    @pytest.fixture
    def rig(self, invenio: Simulator) -> InvenioRig:
        invenio.needed = ("title",)
        return InvenioRig(invenio, InvenioSettings(publish=True))

    def test_deletion_is_followed_as_the_policy_says(
        self, silo: Silo, rig: InvenioRig, delete_at_source: Change
    ) -> None:
        export(silo, rig).run()
        before = rig.holds(LIVE[0])
        delete_at_source(silo, LIVE[0])
        report = export(silo, rig, deletions=Deletions.DELETE).run()
        assert (report.written, report.still_there) == (0, (LIVE[0],))
        assert rig.holds(LIVE[0]) == before

    def test_roll_back_takes_back_what_the_run_created_and_no_more(
        self, silo: Silo, rig: InvenioRig, harvest: Change
    ) -> None:
        del harvest
        run = export(silo, rig).run()
        report = export(silo, rig).rollback(run.run_id, purge=True)
        assert (report.taken_back, len(report.kept)) == (0, 3)
        assert all(rig.holds(identifier) for identifier in LIVE)

    def test_roll_back_leaves_what_others_changed(self, silo: Silo, rig: InvenioRig) -> None:
        run = export(silo, rig).run()
        rig.spoil(LIVE[2])
        assert export(silo, rig).rollback(run.run_id).taken_back == 0

    @pytest.mark.parametrize("after", [False, True])
    @pytest.mark.parametrize("moment", ["begin", "opened", "committing", "finish"])
    @pytest.mark.parametrize("change", ["create", "replace"])
    def test_process_gone_at_any_note_leaves_nothing_twice_and_nothing_half(
        self, silo: Silo, rig: InvenioRig, delete_at_source: Change,
        monkeypatch: pytest.MonkeyPatch, moment: str, after: bool, change: str,
    ) -> None:  # fmt: skip
        """As for every target, but for withdrawals: what is published stays."""
        super().test_process_gone_at_any_note_leaves_nothing_twice_and_nothing_half(
            silo, rig, delete_at_source, monkeypatch, moment, after, change
        )
