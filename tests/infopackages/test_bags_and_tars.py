"""Bags and tar files: read by the readers of others, and the same bytes each time."""

import gzip
import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path

import bagit
import pytest
from infopackages_made import Below

from infopackages.bagit import (
    DECLARATION,
    INFO,
    BagWriter,
    info_text,
    safe_path,
    shown_size,
    size_fields,
)
from infopackages.files import PackagedFile
from infopackages.tar import tar_writer

FILES = {
    "a.warc.gz": os.urandom(300_000),
    "é " * 60 + ".xml": b"<a/>" * 100_000,
    "empty": b"",
    "b.txt": b"text " * 1000,
}


def tarred(*, compress: bool) -> bytes:
    out = io.BytesIO()
    with tar_writer(out, 86_400, compress=compress) as add:
        for name, content in FILES.items():
            add(name, len(content), io.BytesIO(content))
    return out.getvalue()


@pytest.mark.parametrize("mode", ["r:gz", "r|gz"])
def test_compressed_tar_is_one_member_that_every_reader_reads(mode: str) -> None:
    with tarfile.open(fileobj=io.BytesIO(tarred(compress=True)), mode=mode) as tar:
        found = {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr,call-overload]
    assert found == FILES


def test_tar_reads_it_and_gzip_finds_it_sound(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(tarred(compress=True))
    subprocess.run(["gzip", "--test", path], check=True)
    subprocess.run(["tar", "xzf", path, "-C", tmp_path], check=True)
    for name, content in FILES.items():
        assert (tmp_path / name).read_bytes() == content


def test_what_is_compressed_is_stored_and_the_rest_compressed() -> None:
    content = tarred(compress=True)
    assert FILES["a.warc.gz"][1000:30_000] in content
    assert len(content) < 310_000
    assert gzip.decompress(content) == tarred(compress=False)


def test_same_files_make_the_same_bytes() -> None:
    assert tarred(compress=True) == tarred(compress=True)


def test_bagit_takes_a_bag_with_files_that_others_added(tmp_path: Path) -> None:
    add = Below(tmp_path / "bag")
    (tmp_path / "bag" / "data").mkdir(parents=True)
    (tmp_path / "bag" / "data" / "there.txt").write_bytes(b"x")
    digest = hashlib.sha512(b"x").hexdigest()
    with BagWriter(add) as bag:
        bag.known(PackagedFile("data/there.txt", 1, digest))
        bag.payload(safe_path("data", "100%\u2028.txt"), 3, [b"a", b"bc"])
        bag.tag("bagit.txt", DECLARATION)
        fields = [("Contact", "a\n b"), *size_fields(bag.size, bag.count)]
        bag.tag(INFO, info_text(fields))
        bag.finish()
    found = bagit.Bag(str(tmp_path / "bag"))
    found.validate()
    assert found.info["Payload-Oxum"] == "4.2"
    assert found.info["Contact"] == "a b"
    assert sorted(found.payload_files()) == ["data/100^25^e2^80^a8.txt", "data/there.txt"]
    (tmp_path / "bag" / "data" / "there.txt").write_bytes(b"y")
    assert not bagit.Bag(str(tmp_path / "bag")).is_valid()


@pytest.mark.parametrize(
    ("size", "shown"), [(999, "999 B"), (1000, "1.0 KB"), (999_960, "1.0 MB"), (5e15, "5000.0 TB")]
)
def test_sizes_are_shown_for_people(size: float, shown: str) -> None:
    assert shown_size(size) == shown
