"""The Fedoras that the contract tests run against: two simulated versions, and a real one."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import real_fedora
from fedora_server import serving
from fedora_simulator import Simulator
from fedora_support import ADMIN, QUICK, USER, Fedora, Harvest, metadata

from recordsilo import Origin, Silo
from siloexport.engine.export import Export
from siloexport.plan import Policy, Versions
from siloexport.targets.fedora import FedoraClient, FedoraTarget


@pytest.fixture(scope="session")
def real_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Fedora: the one at FEDORA_URL, or one started from the files in FEDORA_FILES."""
    if url := os.environ.get("FEDORA_URL"):
        yield url.rstrip("/")
        return
    files = os.environ.get("FEDORA_FILES")
    lacking = real_fedora.lacks(Path(files)) if files else "neither FEDORA_URL nor FEDORA_FILES"
    if lacking:
        reason = f"no real Fedora: {lacking} (see `make fedora`)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with real_fedora.shared(Path(files or ""), shared / "fedora") as root:
        yield root
    shutil.rmtree(shared / "fedora" / "home", ignore_errors=True)


@pytest.fixture
def real(real_root: str) -> Iterator[Fedora]:
    user = os.environ.get("FEDORA_USER", USER).encode()
    password = os.environ.get("FEDORA_PASSWORD", USER).encode()
    with FedoraClient(real_root, (user, password)) as client:
        yield Fedora(real_root, None, client)


# The real server is a 6.0.0: where it is tried too, its simulator shows little more.
_OLDER = pytest.param("6.0.0", marks=pytest.mark.slow)


@pytest.fixture(params=["6.5.1", pytest.param("real", marks=pytest.mark.long), _OLDER])
def fedora(request: pytest.FixtureRequest) -> Iterator[Fedora]:
    if request.param == "real":
        yield request.getfixturevalue("real")
    else:
        yield from _simulated(request.param)


@pytest.fixture(params=["6.5.1", _OLDER])
def simulated(request: pytest.FixtureRequest) -> Iterator[Fedora]:
    yield from _simulated(request.param)


def _simulated(version: str) -> Iterator[Fedora]:
    simulator = Simulator(version)
    with serving(simulator) as root, FedoraClient(root, ADMIN) as client:
        yield Fedora(root, simulator, client)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Silo]:
    with Silo(
        str(tmp_path / "s"), "http://example.org/oai", base_oai_url="http://example.org/oai"
    ) as silo:
        yield silo


@pytest.fixture
def put() -> Harvest:
    """Harvest a version of a record: put(silo, identifier, version, title, **files)."""

    def harvest(silo: Silo, identifier: str, version: str = "1", title: str = "One",
                files: dict[str, bytes] | None = None) -> None:  # fmt: skip
        with silo.batch([identifier]) as batch:
            edit = batch.edit(identifier)
            day = int(version) if version.isdigit() else 28
            edit.add_version(version, date=f"2024-05-{day:02}T00:00:00", origin=Origin("harvest"))
            content = metadata(
                f'<dc:title xml:lang="en">{title}</dc:title>', "<dc:date>2004</dc:date>"
            )
            edit.put(version, "oai_dc", content, metadata=True)
            for path, found in (files or {}).items():
                edit.put(version, path, found)

    return harvest


@pytest.fixture
def export(fedora: Fedora, empty: Silo) -> Export:
    """All versions of the Silo's records to a container of its own."""
    target = FedoraTarget(fedora.container(), fedora.client)
    return Export(empty, target, Policy(versions=Versions.ALL), QUICK)


@pytest.fixture
def export_simulated(simulated: Fedora, empty: Silo) -> Export:
    target = FedoraTarget(simulated.container(), simulated.client)
    return Export(empty, target, Policy(versions=Versions.ALL), QUICK)
