"""Realistic documents of each format, with what is said of them and where they lead.

``golden/NAME.xml`` is described as ``golden/NAME.json`` says. ``golden/versions.json``
holds, for each format, its version and a digest of what is said of its documents: who
changes a reader so that it says something else raises `Format.version`, since indexes
are made anew by that number. ``python test_golden.py`` writes the files anew, to be
looked at before they are committed.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from recordsilo.formats import FORMATS, describe, format_of, links_of
from recordsilo.formats.documents import parsed, unwrapped

GOLDEN = Path(__file__).parent / "golden"
DOCUMENTS = sorted(GOLDEN.glob("*.xml"))
VERSIONS = GOLDEN / "versions.json"


def name_of(path: Path) -> str:
    root = parsed(path.read_bytes())
    assert root is not None
    return format_of(unwrapped(root)).name


def said_of(path: Path) -> dict[str, Any]:
    found = describe(path.stem, path.read_bytes())
    assert found is not None
    said: dict[str, Any] = {"format": name_of(path)}
    for field, values in found.items():
        said[field] = [list(one) if one.lang else one.text for one in values]
    links = links_of(path.stem, path.read_bytes())
    said["links"] = [[one.url, one.field, one.type] for one in links]
    return said


def noted() -> dict[str, list[Any]]:
    """Format → its version, and the digest of what is said of its documents."""
    found: dict[str, list[Any]] = {}
    for one in FORMATS:
        said = [
            path.with_suffix(".json").read_bytes()
            for path in DOCUMENTS
            if name_of(path) == one.name
        ]
        found[one.name] = [one.version, hashlib.sha256(b"".join(said)).hexdigest()]
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_says_what_is_noted_of_it(path: Path) -> None:
    assert said_of(path) == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_a_reader_that_says_something_else_has_another_version() -> None:
    assert noted() == json.loads(VERSIONS.read_text(encoding="utf-8"))


def test_every_format_has_a_document() -> None:
    assert {name_of(path) for path in DOCUMENTS} >= {one.name for one in FORMATS}


def write_anew() -> None:
    for path in DOCUMENTS:
        text = json.dumps(said_of(path), ensure_ascii=False, indent=1)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    VERSIONS.write_text(json.dumps(noted(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_anew()
