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
