"""A worker makes nothing where its Silo was, and goes on when it is back."""

import os
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.errors import SiloGone
from silowork.broker import Broker
from silowork.embedded import EmbeddedWorker
from silowork.errors import LedgerUnreadable
from silowork.ledger import JobLedger
from silowork.schedules import schedule_files
from silowork.watching import WatchedSilo


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "silo")
    Silo(path).close()
    JobLedger(path).add("audit", "Audit", {}, "ada")
    return path


@pytest.mark.parametrize("is_directory", [False, True], ids=["nothing", "an empty directory"])
def test_nothing_is_made_where_the_silo_was(path: str, is_directory: bool) -> None:
    watched, worker = WatchedSilo(path), EmbeddedWorker(Broker(path))
    watched.look()
    assert len(watched.waiting) == 1
    os.rename(path, f"{path}-away")
    if is_directory:
        os.mkdir(path)
    watched.look()
    watched.start_due()
    assert (watched.waiting, schedule_files(path)) == ([], [])
    with pytest.raises(LedgerUnreadable, match="is no longer there"):
        JobLedger(path).add("audit", "Audit", {}, "ada")
    with pytest.raises(SiloGone):
        worker._run_one()
    with pytest.raises(SiloGone), watched.held():
        pass
    assert not (os.path.lexists(path) and os.listdir(path))
    os.rename(f"{path}-away", path)
    watched.look()
    assert len(watched.waiting) == 1
    with watched.held() as is_held:
        assert is_held
