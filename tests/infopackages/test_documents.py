"""METS and PREMIS say what is in a package, and are written without holding it in memory."""

import hashlib
import io
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from infopackages_made import NAMES, make_package
from lxml import etree

from infopackages.elements import XLINK
from infopackages.files import PackagedFile
from infopackages.mets import NAMESPACE, FileGroup, Mets, write_mets

METS = {"m": NAMESPACE, "x": XLINK}


def described(directory: Path, mets: Path) -> dict[str, tuple[str, str]]:
    """Path below the package → size and SHA-512, for all that a METS document refers to."""
    found = {}
    root = etree.parse(str(mets))
    for one in root.xpath("//m:file | //m:mdRef", namespaces=METS):
        place = one if one.tag.endswith("mdRef") else one[0]
        path = mets.parent / unquote(place.get(f"{{{XLINK}}}href"))
        found[str(path.relative_to(directory))] = (one.get("SIZE"), one.get("CHECKSUM"))
    return found


def test_every_file_is_described_by_its_size_and_digest(tmp_path: Path) -> None:
    directory = tmp_path / "a+package"
    make_package(directory)
    found: dict[str, tuple[str, str]] = {}
    for mets in directory.rglob("METS.xml"):
        found |= described(directory, mets)
    real = {
        str(path.relative_to(directory)): (
            str(path.stat().st_size),
            hashlib.sha512(path.read_bytes()).hexdigest(),
        )
        for path in directory.rglob("*")
        if path.is_file()
    }
    del real["METS.xml"]
    assert found == real
    assert f"representations/1/data/{NAMES[1]}" in found


def test_ids_are_unique_and_references_have_their_target(tmp_path: Path) -> None:
    make_package(tmp_path / "one")
    for mets in (tmp_path / "one").rglob("METS.xml"):
        root = etree.parse(str(mets)).getroot()
        ids = root.xpath("//@ID")
        assert len(ids) == len(set(ids))
        for names in root.xpath("//@FILEID | //@DMDID | //@ADMID"):
            assert set(names.split()) <= set(ids)


def test_same_package_is_described_by_the_same_bytes(tmp_path: Path) -> None:
    for below in ("a", "b"):
        make_package(tmp_path / below / "one")
    for path in (tmp_path / "a").rglob("*.xml"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_control_characters_do_not_spoil_a_document() -> None:
    out = io.BytesIO()
    file = PackagedFile("a\x01b\ufffe", 1, "0")
    write_mets(out, Mets("x\x00", "y", "Mixed", "2026", groups=(FileGroup("Data", [file]),)))
    assert etree.fromstring(out.getvalue()).get("OBJID") == "x\ufffd"


@pytest.mark.long
def test_memory_stays_flat_with_100_000_files() -> None:
    """Files are listed, described in METS and PREMIS, put into a bag's manifest and a tar file."""
    peaks = [
        int(subprocess.run([sys.executable, "-c", _MANY, str(number)], check=True,
                           capture_output=True).stdout)
        for number in (1_000, 100_000)
    ]  # fmt: skip
    assert peaks[1] < peaks[0] + (24 << 10), peaks  # kB; 8 MB of them are the names


_MANY = """
import resource, sys
from infopackages.bagit import BagWriter
from infopackages.files import PackagedFile, add_written
from infopackages.mets import FileGroup, Mets, write_mets
from infopackages.premis import Id, Object, write_premis
from infopackages.tar import tar_writer
names = [f"data/{number:06}/a-file-with-a-name" for number in range(int(sys.argv[1]))]
files = lambda: (PackagedFile(name, 1, "0" * 128) for name in names)
objects = (Object((Id(one.path),), "file", digests={"SHA-512": one.sha512}) for one in files())
mets = Mets("x", "y", "Mixed", "2026", groups=(FileGroup("Data", files()),))
with open("/dev/null", "wb") as out, tar_writer(out, compress=True) as add, BagWriter(add) as bag:
    for name in names:
        bag.payload(name, 1, [b"x"])
    bag.known(add_written(add, "METS.xml", lambda file: write_mets(file, mets)))
    bag.known(add_written(add, "premis.xml", lambda file: write_premis(file, objects)))
    bag.finish()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
