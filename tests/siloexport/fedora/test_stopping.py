"""A real server killed in the middle of a run, and started again."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import real_fedora
from fedora_support import ADMIN, QUICK, Harvest

from recordsilo import Silo
from siloexport.engine.export import Export, Watch
from siloexport.plan import Policy, Versions
from siloexport.report import Progress
from siloexport.targets.fedora import FedoraClient, FedoraTarget
from siloexport.values import OnConflict

RECORDS = 40


@dataclass
class Server:
    files: Path
    home: Path
    pid: int = 0
    root: str = ""

    def start(self, port: int = 0) -> None:
        self.pid, self.root = real_fedora.start(self.files, self.home, port)

    def again(self) -> None:
        self.start(int(self.root.split(":")[2].split("/")[0]))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    files = os.environ.get("FEDORA_FILES")
    if not files or real_fedora.lacks(Path(files)):
        pytest.skip("needs FEDORA_FILES, to stop and start a Fedora of its own")
    own = Server(Path(files), tmp_path / "fedora")
    own.start()
    try:
        yield own
    finally:
        real_fedora.stop(own.pid)


@pytest.mark.slow
def test_a_server_killed_in_the_middle_costs_nothing_that_was_done(
    server: Server, empty: Silo, put: Harvest
) -> None:
    for number in range(RECORDS):
        put(empty, f"oai:example.org:{number}")
    killed = threading.Event()

    def kill(progress: Progress) -> None:
        if progress.deposits >= RECORDS // 3 and not killed.is_set():
            killed.set()
            os.kill(server.pid, 9)

    with FedoraClient(server.root, ADMIN) as client:
        target = FedoraTarget(f"{server.root}/exports", client)
        export = Export(empty, target, Policy(versions=Versions.ALL), QUICK)
        assert not export.run(jobs=2, watch=Watch(progress=kill)).whole
        assert killed.is_set()
        server.again()
        again = export.run(jobs=2)
        if not again.whole:  # the server may have lost files of what it committed just then
            assert (again.failed, again.stopped) == (0, "")
            assert export.run(jobs=2, on_conflict=OnConflict.OVERWRITE).whole
        if export.verify().differences:  # and objects whose commit it had answered just before
            export.reconcile(jobs=2)
            assert export.run(jobs=2).whole
        report = export.verify(jobs=2)
        assert [(one.what, one.where, one.detail) for one in report.first] == []
        assert report.records == RECORDS
