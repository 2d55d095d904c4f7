"""Which directories are refused because several machines may share their file system."""

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from examples import family

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.disk import network_disks
from recordsilo.disk.network_disks import file_system_of, refuse_network_disk
from recordsilo.errors import OnNetworkDisk

MOUNTS = [
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
    "28 27 0:50 / /srv rw,relatime shared:1 - nfs4 store:/srv rw,vers=4.2",
    "29 28 254:1 / /srv/own rw - xfs /dev/vdb rw",
    "30 27 0:51 / /mnt/with\\040space rw master:1 - fuse.sshfs host: rw",
    "31 27 0:52 / /auto rw - autofs auto rw",
    "32 31 0:53 / /auto rw - cifs //host/share rw",
]


@pytest.mark.parametrize(
    ("path", "kind"),
    family(
        [
            ("/home/a", "ext4"),
            ("/srv", "nfs4"),
            ("/srv/many", "nfs4"),
            ("/srv/own/many", "xfs"),
            ("/srvother", "ext4"),
            ("/mnt/with space/x", "fuse.sshfs"),
            ("/auto/x", "cifs"),
        ],
        3,
    ),
)
def test_the_file_system_is_that_of_the_last_mount_that_has_the_path(path: str, kind: str) -> None:
    assert file_system_of(path, MOUNTS) == kind
    assert file_system_of(path, []) == ""


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A Silo on what says that it is NFS."""
    Silo(str(tmp_path / "myrepo")).close()
    place = os.path.realpath(tmp_path).replace(" ", "\\040")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"{MOUNTS[0]}\n40 27 0:60 / {place} rw - nfs4 store:/ rw\n")
    monkeypatch.setattr(network_disks, "MOUNTS", str(mounts))
    return str(tmp_path / "myrepo")


@pytest.mark.parametrize("command", ["worker", "serve"])
def test_a_silo_on_a_network_file_system_is_refused_unless_forced(
    shared: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    monkeypatch.setattr("silowork.worker_process.run_worker", lambda *_, **__: ran.append(1))
    monkeypatch.setattr("webui.serving.serve_silo", lambda *_, **__: ran.append(1))
    refused = CliRunner().invoke(silo_command, [command, shared])
    assert isinstance(refused.exception, OnNetworkDisk)
    assert f"{shared} is on a network file system (nfs4)" in str(refused.exception)
    assert ran == []
    assert CliRunner().invoke(silo_command, [command, shared, "--force"]).exit_code == 0
    assert ran == [1]


def test_where_the_system_does_not_say_nothing_is_refused(
    shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_disks, "MOUNTS", shared + "/nothing")
    refuse_network_disk(shared)
