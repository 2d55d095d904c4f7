"""Fedora does what every export target has to do."""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from conformance import TargetContract
from fedora_support import Fedora

from siloexport import Versions
from siloexport.targets.fedora import FedoraTarget
from siloexport.targets.fedora.description import checksums, parsed
from siloexport.targets.fedora.layout import Layout
from siloexport.targets.fedora.sending import file_uri

NT = "application/n-triples"


@dataclass(frozen=True)
class FedoraRig:
    fedora: Fedora
    container: str
    versions: Versions = Versions.CURRENT
    layout: Layout = Layout.PLAIN

    def target(self) -> FedoraTarget:
        return FedoraTarget(self.container, self.fedora.client, layout=self.layout)

    def holds(self, identifier: str) -> list[tuple[str, Mapping[str, bytes]]]:
        found = self.target().find(identifier)
        if found is None or (found.withdrawn and not found.versions):
            return []
        stamps = [version.uri.rpartition("/")[2] for version in found.versions]
        return [
            (version.version, self._files(found.uri, version.uri, stamps[: number + 1]))
            for number, version in enumerate(found.versions)
        ]

    def _files(self, uri: str, memento: str, stamps: list[str]) -> dict[str, bytes]:
        listed = checksums(parsed(self.fedora.get(memento, Accept=NT)))
        return {path: self._content(file_uri(uri, path), stamps) for path in listed}

    def _content(self, address: str, stamps: list[str]) -> bytes:
        """A file as of a version: it has a memento where it changed."""
        for stamp in reversed(stamps):
            answer = self.fedora.client.get_if_there(f"{address}/fcr:versions/{stamp}")
            if answer is not None:
                return answer.body
        return b"its earlier versions cannot be asked for while it is removed"

    def spoil(self, identifier: str) -> None:
        headers = {
            "Content-Type": "text/plain",
            "Link": '<http://www.w3.org/ns/ldp#NonRDFSource>;rel="type"',
        }
        uri = self.target().uri_of(identifier)
        self.fedora.client.send("PUT", f"{uri}/oai_dc", headers, b"somebody else's")


class TestFedora(TargetContract):
    @pytest.fixture
    def rig(self, simulated: Fedora) -> FedoraRig:
        return FedoraRig(simulated, simulated.container())


@pytest.mark.slow
class TestPcdm(TargetContract):
    @pytest.fixture
    def rig(self, simulated: Fedora) -> FedoraRig:
        return FedoraRig(simulated, simulated.container(), layout=Layout.PCDM)


@pytest.mark.slow
class TestRealPcdm(TargetContract):
    @pytest.fixture
    def rig(self, real: Fedora) -> FedoraRig:
        return FedoraRig(real, real.container(), layout=Layout.PCDM)


@pytest.mark.slow
class TestRealFedora(TargetContract):
    @pytest.fixture
    def rig(self, real: Fedora) -> FedoraRig:
        return FedoraRig(real, real.container())
