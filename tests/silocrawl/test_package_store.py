"""A store of packages: files are there as a whole, compared, and never outside of it."""

import errno
import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from object_store import BUCKET, s3_server, use_s3

from silocrawl.packages import store as module
from silocrawl.packages.store import (
    FileStore,
    StoredDiffers,
    StoreRefused,
    check_name,
    open_store,
)
from silocrawl.packages.values import PackagingError, StoredFile

NAME = "packages/own-cp00001/data/x.warc.gz"


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(params=["directory", pytest.param("s3", marks=pytest.mark.long)])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FileStore:
    """An empty store of each kind."""
    if request.param == "directory":
        return open_store(str(tmp_path / "store"), is_new=True)
    use_s3(monkeypatch, request.getfixturevalue("s3"))
    service = fsspec.filesystem("s3", skip_instance_cache=True)
    if service.exists(BUCKET):
        service.rm(BUCKET, recursive=True)
    service.mkdir(BUCKET)
    return open_store(f"s3://{BUCKET}/crawls")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    path.mkdir()
    return path


def _file(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "source"
    path.write_bytes(content)
    return str(path)


def _stored(content: bytes) -> StoredFile:
    return StoredFile(len(content), hashlib.sha512(content).hexdigest())


@pytest.mark.parametrize("content", [b"", b"one", os.urandom(3 << 20)], ids=len)
def test_a_file_is_copied_once_and_read_back(
    store: FileStore, tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path, content)
    told: list[int] = []
    assert store.put_file(path, NAME, told.append) == _stored(content)
    assert sum(told) == len(content)
    monkeypatch.setattr(type(store), "_send", lambda *_: pytest.fail("it was sent again"))
    assert store.put_file(path, NAME) == _stored(content) == store.stored(NAME)
    assert store.read(NAME) == content
    assert (store.size(NAME), store.names("packages")) == (len(content), [NAME])
    with store.open(NAME) as file:
        file.seek(len(content) // 2)
        assert file.read() == content[len(content) // 2 :]


def test_a_file_with_another_content_is_refused_and_stays(store: FileStore, tmp_path: Path) -> None:
    store.put(NAME, b"one")
    for other in (b"two", b"on", b"one!"):
        with pytest.raises(StoredDiffers, match=r"x\.warc\.gz is there with another content"):
            store.put_file(_file(tmp_path, other), NAME)
        with pytest.raises(StoredDiffers):
            store.put(NAME, other)
    store.put(NAME, b"one")
    assert store.read(NAME) == b"one"
    store.put(NAME, b"two", replaces=True)
    assert store.read(NAME) == b"two"


def test_what_arrives_with_another_content_is_deleted(
    store: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = type(store)._send

    def corrupting(self: FileStore, _path: str, name: str) -> None:
        other = tmp_path / "other"
        other.write_bytes(b"tw0")
        send(self, str(other), name)

    with monkeypatch.context() as patch:
        patch.setattr(type(store), "_send", corrupting)
        with pytest.raises(StoredDiffers, match="arrived with another content"):
            store.put_file(_file(tmp_path, b"two"), NAME)
    assert store.size(NAME) is None
    assert store.put_file(_file(tmp_path, b"two"), NAME) == _stored(b"two")


def test_names_and_what_is_not_there(store: FileStore) -> None:
    assert store.names("receipts") == []
    assert (store.read("receipts/a.json"), store.size("receipts/a.json")) == (None, None)
    assert store.stored("receipts/a.json") is None
    with pytest.raises(PackagingError, match="is not there"):
        store.open("receipts/a.json")
    for name in ("receipts/a.json", "receipts/b/c", "receiptsother/d"):
        store.put(name, b"1")
    assert store.names("receipts") == ["receipts/a.json", "receipts/b/c"]
    store.remove("receipts/a.json")
    store.remove("receipts/a.json")
    assert store.names("receipts") == ["receipts/b/c"]
    with pytest.raises(StoreRefused, match="longer than 0 bytes"):
        store.read("receipts/b/c", 0)


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "a/../../b", "..", "a/./b", "a//b", "a/", "a b", "a\n", "a\\b", "ä", "a:b",
     "a\0", "x" * 251, "a/" * 500 + "a"],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(place: Path, name: str) -> None:
    store = open_store(str(place))
    with pytest.raises(StoreRefused, match="cannot name a file"):
        check_name(name)
    for call in (store.place, store.open, store.size, store.remove, store.read, store.stored):
        with pytest.raises(StoreRefused):
            call(name)
    with pytest.raises(StoreRefused):
        store.put(name, b"1")


# --------------------------------------------------------------------------- a directory


def test_links_in_a_store_are_not_followed(place: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    store = open_store(str(place))
    (place / "packages").symlink_to(outside)
    (place / "receipts").mkdir()
    (place / "receipts" / "a.json").symlink_to(outside / "secret")
    os.mkfifo(place / "receipts" / "pipe")
    for name in ("packages/secret", "receipts/a.json", "receipts/pipe"):
        for call in (store.open, store.read, store.size, store.stored):
            with pytest.raises(StoreRefused, match=r"symbolic link|not a regular file"):
                call(name)
        with pytest.raises(StoreRefused):
            store.put(name, b"1")
    with pytest.raises(StoreRefused, match="symbolic link"):
        store.put("packages/new/x", b"1")
    for directory in ("packages", "receipts"):
        with pytest.raises(StoreRefused, match=r"symbolic link|receipts/\S+ is not a regular file"):
            store.names(directory)
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"


def test_a_link_to_a_directory_within_a_package_is_found(place: Path, tmp_path: Path) -> None:
    store = open_store(str(place))
    store.put("packages/a/x", b"1")
    (place / "packages" / "a" / "y").symlink_to(tmp_path)
    with pytest.raises(StoreRefused, match="a/y is not a regular file"):
        store.names("packages/a")
    (place / "packages" / "a" / "y").unlink()
    (place / "packages" / "a" / "z z").write_bytes(b"1")
    with pytest.raises(StoreRefused, match="'packages/a/z z', which is not a valid name"):
        store.names("packages/a")


def test_a_full_disk_is_named_and_leaves_nothing(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = open_store(str(place))
    with monkeypatch.context() as patch:
        patch.setattr(module, "flush_fd", refuse)
        with pytest.raises(StoreRefused, match=r"disk of .*store.* is full; make room"):
            store.put(NAME, b"one")
    assert store.size(NAME) is None
    assert list((place / ".staged").iterdir()) == []
    store.put(NAME, b"one")
    assert list((place / ".staged").iterdir()) == []


def test_a_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match="is not there; correct the address"):
        open_store(str(tmp_path / "none"))
    with pytest.raises(StoreRefused, match="is not there"):
        open_store(str(tmp_path / "none" / "none"), is_new=True)
    (tmp_path / "file").touch()
    with pytest.raises(StoreRefused):
        open_store(str(tmp_path / "file"), is_new=True)
    for bad in ("http://x/y", "s3://b/../x", "sftp://me:word@x/y"):
        with pytest.raises(StoreRefused, match="the address of an object store"):
            open_store(bad)


def test_without_the_extra_a_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(StoreRefused, match=r"needs the package s3fs; install it"):
        open_store("s3://bucket")
    with pytest.raises(StoreRefused, match=r"needs the package paramiko; install it"):
        open_store("sftp://host/srv")


def test_two_processes_do_not_write_the_same_file(place: Path) -> None:
    one, two = open_store(str(place)), open_store(str(place))
    with one._staging(NAME), pytest.raises(StoreRefused, match="another process is writing"):  # type: ignore[attr-defined]
        two.put(NAME, b"two")


def test_a_staged_file_of_others_is_not_written_and_waited_for(place: Path, tmp_path: Path) -> None:
    store = open_store(str(place))
    staged = place / module._staged(NAME)
    staged.parent.mkdir()
    other = tmp_path / "other"
    other.write_bytes(b"of others")
    for make in (os.mkfifo, lambda path: os.link(other, path), os.mkdir):
        make(staged)
        with pytest.raises(StoreRefused):
            store.put(NAME, b"new")
        staged.rmdir() if staged.is_dir() else staged.unlink()
    os.mkfifo(staged)
    reader = os.open(staged, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(StoreRefused, match="or its staged file"):
        store.put(NAME, b"new")
    os.close(reader)
    staged.unlink()
    store.put(NAME, b"new")
    assert other.read_bytes() == b"of others"


@pytest.mark.long
def test_a_killed_copy_leaves_no_file_and_the_next_one_goes_on(place: Path, tmp_path: Path) -> None:
    path = _file(tmp_path, b"one" * 1_000_000)
    code = (
        "import os, signal, sys; from silocrawl.packages import store;"
        "store.flush_fd = lambda fd: os.kill(os.getpid(), signal.SIGKILL)"
        " if not os.path.isdir(f'/proc/self/fd/{fd}') else None;"
        "store.open_store(sys.argv[1]).put_file(sys.argv[2], sys.argv[3])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place), path, NAME], check=False)
    assert done.returncode == -9
    store = open_store(str(place))
    assert store.size(NAME) is None
    assert len(list((place / ".staged").iterdir())) == 1
    assert store.put_file(path, NAME).size == 3_000_000
    assert list((place / ".staged").iterdir()) == []


def test_what_is_compared_differs_in_any_byte() -> None:
    content = os.urandom(2_500_000)
    same = module.copied_hash(io.BytesIO(content), io.BytesIO(content), int)
    assert same == _stored(content)
    for at in (0, 1 << 20, len(content) - 1):
        other = bytearray(content)
        other[at] ^= 1
        assert module.copied_hash(io.BytesIO(content), io.BytesIO(other), int) is None


# --------------------------------------------------------------------------- S3


@pytest.mark.long
def test_a_bucket_that_is_missing_or_a_store_that_is_away_is_named(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_s3(monkeypatch, s3)
    with pytest.raises(StoreRefused, match=r"s3://nobody is not there .*create it"):
        open_store("s3://nobody/x").put("a", b"1")
    use_s3(monkeypatch, "http://user:hidden@127.0.0.1:9")
    with pytest.raises(StoreRefused, match="s3://warcs gives no answer") as away:
        open_store("s3://warcs/x").put("a", b"1")
    assert "hidden" not in str(away.value)
    use_s3(monkeypatch, "http://127.0.0.1:9")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    with pytest.raises(StoreRefused, match=r"s3://warcs may not be used: .*[Cc]redentials"):
        open_store("s3://warcs/x").put("a", b"1")


@pytest.mark.long
def test_names_in_a_bucket_that_lead_elsewhere_are_named(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_s3(monkeypatch, s3)
    service = fsspec.filesystem("s3", skip_instance_cache=True)
    service.mkdir("hostile")
    service.pipe_file("hostile/packages/a/../../x", b"1")
    with pytest.raises(StoreRefused, match="which is not a valid name"):
        open_store("s3://hostile").names("packages/a")
