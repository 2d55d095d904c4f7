"""Packages that break the readers of tar files and zips are refused by a sentence."""

import tarfile
import zipfile
from pathlib import Path

import pytest

from infopackages.containers import open_container
from infopackages.files import PackageUnreadable


def test_zip_with_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("\u00fc.txt", "x")
    path.write_bytes(path.read_bytes().replace("\u00fc".encode(), b"\xff\xfe"))
    with pytest.raises(PackageUnreadable, match="not a tar file or zip that can be read"):
        open_container(str(path))


def test_tar_with_a_size_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as made:
        member = tarfile.TarInfo("a")
        member.pax_headers = {"GNU.sparse.size": "x"}
        made.addfile(member)
    with pytest.raises(PackageUnreadable, match="not a tar file or zip that can be read"):
        open_container(str(path))


def header_of(kind: bytes, content: bytes) -> bytes:
    """A header of a tar file that describes the next one."""
    member = tarfile.TarInfo("described")
    member.type, member.size = kind, len(content)
    return member.tobuf(tarfile.USTAR_FORMAT) + content.ljust(512, b"\0")


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        (header_of(b"x", b"13 comment=x\n") * 3000, "it has too many headers before a file"),
        (header_of(b"g", b"13 comment=x\n") * 3000, "it has too many headers before a file"),
        (header_of(b"L", b"long\0") * 3000, "it has too many headers before a file"),
        (header_of(b"x", b"9" * 30 + b" a=b\n"), "not a tar file or zip that can be read"),
    ],
    ids=["pax", "pax of all", "long names", "a length beyond all numbers"],
)
def test_tar_with_hostile_headers_is_refused(tmp_path: Path, headers: bytes, said: str) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(headers + tarfile.TarInfo("a").tobuf() + bytes(1024))
    with pytest.raises(PackageUnreadable, match=said):
        open_container(str(path))


@pytest.mark.parametrize("compression", [zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_zip_with_damaged_content_is_refused(tmp_path: Path, compression: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", compression) as made:
        made.writestr("a", b"hello world" * 50)
    content = bytearray(path.read_bytes())
    begin = len(b"PK..") + 26 + len("a")  # the header before the content
    content[begin + 4 : begin + 16] = b"\xff" * 12
    path.write_bytes(content)
    with pytest.raises(PackageUnreadable, match="a cannot be read"):
        open_container(str(path)).open("a").read()


def test_zip_with_a_nameless_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(zipfile.ZipInfo(""), "x")
    with pytest.raises(PackageUnreadable, match="not a tar file or zip that can be read"):
        open_container(str(path))
