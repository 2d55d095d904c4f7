"""Realistic documents of each format, with their descriptions and links.

``golden/NAME.xml`` is described as ``golden/NAME.json`` says. ``golden/versions.json``
holds, for each format, its version and a digest of what is said of its documents: who
changes a reader so that it says something else raises `Format.version`, since indexes
are made anew by that number. ``python test_golden.py`` writes the files anew, to be
looked at before they are committed.
"""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from mangled import mangled

from recordsilo.formats import FORMATS, describe, format_of, links_of, title_of_main
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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_an_element_that_nests_deeply_is_read(path: Path) -> None:
    root = etree.fromstring(path.read_bytes())
    inner = next(one for one in root.iter(etree.Element) if not len(one))
    for _ in range(1200):
        inner = etree.SubElement(inner, "i")
    inner.text = "deep"
    assert describe(path.stem, etree.tostring(root)) is not None


@settings(max_examples=examples(60), deadline=None)
@given(path=st.sampled_from(DOCUMENTS), random=st.randoms(use_true_random=False))
def test_a_document_with_anything_missing_doubled_or_moved_is_read(
    path: Path, random: Random
) -> None:
    content = mangled(path.read_bytes(), random)
    found = describe(path.stem, content)
    assert found is not None
    assert found.title == title_of_main([path.stem], lambda _path: content)
    links_of(path.stem, content)


def write_anew() -> None:
    for path in DOCUMENTS:
        text = json.dumps(said_of(path), ensure_ascii=False, indent=1)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    VERSIONS.write_text(json.dumps(noted(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_anew()
