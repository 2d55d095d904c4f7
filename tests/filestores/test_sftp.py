"""Another machine as a store: a real sshd on loopback, keys, and a list of known hosts."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_machines import MISSING, Machine

from filestores.errors import ObjectDiffers, StoreFailed, StoreUnreachable
from filestores.object_store import ObjectStore
from filestores.schemes import check_address
from politeweb.errors import RequestRefused

pytestmark = pytest.mark.long


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Machine, Machine]]:
    """This machine, and another one that it may know as ``far``."""
    if MISSING and not os.environ.get("CI"):
        pytest.skip(f"no {', '.join(MISSING)}")
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    near, far = Machine(tmp_path, "near"), Machine(tmp_path, "far")
    with far.reachable():
        yield near, far


def _use(near: Machine, far: Machine, *, key: bool = True, host: bool = True) -> None:
    near.knows(far, key=key, host=host)
    shutil.copy(near.config, os.path.expanduser("~/.ssh/config"))


def test_files_go_to_another_machine(machine: tuple[Machine, Machine], tmp_path: Path) -> None:
    _use(*machine)
    address = f"sftp://far{tmp_path}/there"
    (tmp_path / "one").write_bytes(b"1" * 100_000)
    store = ObjectStore(address)
    assert store.size(f"{address}/a/one") is None
    sent: list[int] = []
    store.put(str(tmp_path / "one"), f"{address}/staged", sent.append)
    store.move(f"{address}/staged", f"{address}/a/one")
    store.put_bytes(b"two", f"{address}/a/b/two")
    assert store.names(address) == ["a/b/two", "a/one"]
    assert (store.size(f"{address}/a/one"), store.size(f"{address}/a")) == (100_000, None)
    with store.open(f"{address}/a/one", 99_990) as file:
        assert file.read(100) == b"1" * 10
    with pytest.raises(ObjectDiffers, match="is not there"):
        store.open(f"{address}/none")
    (tmp_path / "there" / "a" / "link").symlink_to("one")
    with pytest.raises(StoreFailed, match="/a/link' is not a regular file"):
        store.names(address)
    store.delete(f"{address}/a/one")
    store.delete(f"{address}/a/one")
    assert not (tmp_path / "there" / "a" / "one").exists()
    assert store.names(f"{address}/none") == []


def test_a_machine_that_is_not_known_is_refused(
    machine: tuple[Machine, Machine], tmp_path: Path
) -> None:
    _use(*machine, host=False)
    with pytest.raises(StoreFailed, match=r"far is not known .*log in once by ssh") as failed:
        ObjectStore(f"sftp://far{tmp_path}")
    assert not isinstance(failed.value, StoreUnreachable)


def test_a_machine_that_knows_no_key_of_ours_is_named(
    machine: tuple[Machine, Machine], tmp_path: Path
) -> None:
    _use(*machine, key=False)
    with pytest.raises(StoreFailed, match=r"sftp://far may not be used: .*uthentication"):
        ObjectStore(f"sftp://far{tmp_path}")


def test_a_machine_that_is_away_is_named() -> None:
    with pytest.raises(StoreUnreachable, match=r"sftp://127.0.0.1:9 gives no answer: .*onnect"):
        ObjectStore("sftp://127.0.0.1:9/srv")


def test_addresses_of_machines() -> None:
    for good in ("sftp://a", "sftp://me@a.b-c:2222/srv/x", "s3://b/x"):
        assert check_address(good, or_machine=True) == good
    for bad in ("sftp://me:word@a/x", "sftp://a/../x", "sftp://a/x y", "sftp://@a", "ftp://a/x"):
        with pytest.raises(RequestRefused, match="sftp://user@host:port/path"):
            check_address(bad, or_machine=True)
    with pytest.raises(RequestRefused, match="object store"):
        check_address("sftp://a")
