"""SWORDv2 does what every export target has to do."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from conformance import TargetContract
from sword_simulator import LOGIN, Simulator

from siloexport import Versions
from siloexport.targets.remote.server import Server
from siloexport.targets.sword import SwordSettings, SwordTarget
from siloexport.targets.sword.entry import sealed
from siloexport.targets.sword.listing import slug_of


@dataclass
class SwordRig:
    simulator: Simulator
    settings: SwordSettings
    versions: Versions = Versions.CURRENT

    def target(self) -> SwordTarget:
        url = f"{self.simulator.base}/sword/service"
        return SwordTarget(url, Server(url, LOGIN), self.settings)

    def _of(self, identifier: str) -> list[int]:
        slug = slug_of(identifier)
        return [one.number for one in self.simulator.kept.values() if one.slug == slug]

    def holds(self, identifier: str) -> list[tuple[str, Mapping[str, bytes]]]:
        numbers = self._of(identifier)
        assert len(numbers) < 2, "it is there twice"
        if not numbers:
            return []
        kept = self.simulator.kept[numbers[0]]
        files = {}
        version = sealed(tuple(kept.terms))[0]
        with zipfile.ZipFile(io.BytesIO(kept.content or b"")) as zipped:
            for name in zipped.namelist():
                if name == "silo.json":
                    version = json.loads(zipped.read(name))["version"]
                elif name != "mets.xml":
                    files[name] = zipped.read(name)
        return [(version, files)]

    def spoil(self, identifier: str) -> None:
        kept = self.simulator.kept[self._of(identifier)[0]]
        into = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(kept.content or b"")) as before,
            zipfile.ZipFile(into, "w") as after,
        ):
            for name in before.namelist():
                content = before.read(name)
                after.writestr(name, b"somebody else's" if name == "oai_dc" else content)
        kept.content = into.getvalue()
        kept.changes += 1


@pytest.mark.long
class TestSword(TargetContract):
    @pytest.fixture
    def rig(self, repository: Simulator) -> SwordRig:
        return SwordRig(repository, SwordSettings())


@pytest.mark.slow
class TestSwordInSteps(TargetContract):
    @pytest.fixture
    def rig(self, repository: Simulator) -> SwordRig:
        repository.takes_multipart = False
        return SwordRig(repository, SwordSettings(in_steps=True))


@pytest.mark.slow
class TestSwordWithoutTerms(TargetContract):
    @pytest.fixture
    def rig(self, repository: Simulator) -> SwordRig:
        repository.gives_terms, repository.lists = False, "whole"
        return SwordRig(repository, SwordSettings())
