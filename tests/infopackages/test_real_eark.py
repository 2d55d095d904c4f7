"""Packages as the validator of E-ARK and the schemas of METS and PREMIS find them."""

from pathlib import Path

import pytest
from infopackages_made import NAMES, make_package
from real_eark import check_documents, findings


def test_every_document_is_valid(tmp_path: Path) -> None:
    make_package(tmp_path / "one")
    assert check_documents(tmp_path / "one") == 6


@pytest.mark.long
def test_commons_ip_finds_no_error_and_no_warning(tmp_path: Path) -> None:
    make_package(tmp_path / "one+package")
    assert findings(tmp_path / "one+package") == ("VALID", [])


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "METS.xml",
        "representations/1/data/plain.txt",
        "metadata/preservation/premis.xml",
    ],
)
def test_commons_ip_finds_one_byte_more(tmp_path: Path, name: str) -> None:
    make_package(tmp_path / "one", NAMES[:1])
    with (tmp_path / "one" / name).open("ab") as file:
        file.write(b"\n" if name != "METS.xml" else b"x")
    result, some = findings(tmp_path / "one")
    assert (result, bool(some)) == ("INVALID", True)
