"""Results of `compare` and `HarvestedRecord.differences`, and their readability."""

import hashlib
import os
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import HarvestedRecord, Silo
from recordsilo.disk.digest import Digest
from recordsilo.errors import FileNotInVersion, VersionNotFound
from recordsilo.formats.canonical import canonical_lines
from recordsilo.records.differences import (
    MAX_BYTES,
    MAX_LINES,
    Differences,
    FileDifference,
    compare,
)

Harvest = Callable[..., str]
Files = dict[str, bytes]


def digest(content: bytes) -> Digest:
    return Digest(hashlib.sha256(content).hexdigest(), len(content))


def compared(old: Files, new: Files) -> Differences:
    contents = {"1": old, "2": new}
    first, second = (
        {path: digest(content) for path, content in files.items()} for files in (old, new)
    )
    return compare("1", "2", (first, second), lambda version, path: contents[version][path])


def changed(old: bytes, new: bytes) -> FileDifference:
    (one,) = compared({"f": old}, {"f": new}).files
    assert (one.path, one.change, one.before, one.after) == (
        "f", "changed", digest(old), digest(new),
    )  # fmt: skip
    return one


# -- files --------------------------------------------------------------------------------


def test_equal_versions_have_no_differences() -> None:
    files = {"a": b"1", "d/b": b"2"}
    found = compared(files, dict(reversed(files.items())))
    assert found == Differences("1", "2", ())
    assert not found


def test_files_are_added_removed_and_changed_in_the_order_of_their_paths() -> None:
    found = compared({"b": b"1", "c": b"1", "d": b"1"}, {"a": b"1", "c": b"2", "d": b"1"})
    assert found
    assert [(one.path, one.change) for one in found.files] == [
        ("a", "added"), ("b", "removed"), ("c", "changed"),
    ]  # fmt: skip
    assert (found.files[0].before, found.files[0].after) == (None, digest(b"1"))
    assert (found.files[1].before, found.files[1].after) == (digest(b"1"), None)


files = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([b"", b"1", b"2", b"\0"]))


@given(files, files)
def test_differences_are_those_of_the_mappings(old: Files, new: Files) -> None:
    found = compared(old, new)
    assert bool(found) == (old != new)
    assert {one.path for one in found.files} == {
        path for path in old.keys() | new.keys() if old.get(path) != new.get(path)
    }
    back = compared(new, old)
    assert [(one.before, one.after) for one in found.files] == [
        (one.after, one.before) for one in back.files
    ]


# -- text ---------------------------------------------------------------------------------


def test_text_shows_the_lines_that_differ_with_some_around() -> None:
    old = "".join(f"line {n}\n" for n in range(20)).encode()
    one = changed(old, old.replace(b"line 9\n", b"line IX\nand a half\n"))
    assert one.form == "text"
    assert one.lines == (
        "@@ -7,7 +7,8 @@", " line 6", " line 7", " line 8", "-line 9", "+line IX", "+and a half",
        " line 10", " line 11", " line 12",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\nb\n", b"a\nb"),
        (b"a\n", b"a\r\n"),
        (b"", b"\n"),
        (b"a b\n", b"a  b\n"),
        ("é\n".encode(), "e\N{COMBINING ACUTE ACCENT}\n".encode()),
    ],
)
def test_no_difference_of_a_text_is_overlooked(old: bytes, new: bytes) -> None:
    one = changed(old, new)
    assert one.form == "text"
    assert one.lines


@pytest.mark.parametrize(("old", "new"), [(b"a\0", b"a"), (b"\xff", b"a"), (b"a", b"PK\3\4\xe9")])
def test_what_is_no_text_is_told_by_digest(old: bytes, new: bytes) -> None:
    one = changed(old, new)
    assert (one.form, one.lines) == ("binary", ())


def test_large_files_are_told_by_digest_and_not_read() -> None:
    sides = [{"f": Digest(letter * 64, MAX_BYTES + 1)} for letter in "ab"]

    def refuse(version: str, path: str) -> bytes:
        raise AssertionError

    (one,) = compare("1", "2", (sides[0], sides[1]), refuse).files
    assert (one.form, one.lines) == ("large", ())


def test_so_are_those_of_many_lines() -> None:
    lines = b"x\n" * MAX_LINES
    assert changed(lines, lines[2:]).form == "text"
    assert changed(lines + b"y\n", lines).form == "large"


# -- XML ----------------------------------------------------------------------------------


DC = b'<dc xmlns="urn:u" a="1" b="2"><title>Old</title><creator/></dc>'


def test_xml_in_one_line_shows_the_element_that_differs() -> None:
    one = changed(DC, DC.replace(b"Old", b"New"))
    assert one.form == "xml"
    assert [line for line in one.lines if line[0] in "+-"] == [
        "-  <title>Old</title>",
        "+  <title>New</title>",
    ]


@pytest.mark.parametrize(
    "same",
    [
        b"<?xml version='1.0' encoding='UTF-8'?>\n" + DC,
        b"<dc b='2' a='1' xmlns='urn:u'>\n  <title>Old</title>\n\n  <creator></creator>\n</dc>\n",
        DC.decode().encode("utf-16"),
        DC.replace(b"Old", b"&#79;ld"),
        DC.replace(b"Old", b"<![CDATA[Old]]>"),
    ],
)
def test_xml_that_is_only_written_otherwise_differs_in_no_line(same: bytes) -> None:
    one = changed(DC, same)
    assert (one.form, one.lines) == ("xml", ())


@pytest.mark.parametrize(
    "other",
    [
        DC.replace(b'a="1"', b'a="2"'),
        DC.replace(b"Old", b"O ld"),
        DC.replace(b"<creator/>", b""),
        DC.replace(b"<creator/>", b"<!-- none --><creator/>"),
        DC.replace(b'xmlns="urn:u"', b'xmlns="urn:v"'),
    ],
)
def test_what_xml_says_otherwise_is_shown(other: bytes) -> None:
    one = changed(DC, other)
    assert one.form == "xml"
    assert one.lines


@pytest.mark.parametrize(
    "odd",
    [
        b"<dc>",
        b'<!DOCTYPE dc [<!ENTITY a "aaaa">]>\n<dc>&a;</dc>',
        b"<a>" * 400 + b"</a>" * 400,
        b'<dc xmlns="relative/uri" xmlns:x="../up"/>',
    ],
)
def test_xml_that_has_no_canonical_form_here_is_compared_as_text(odd: bytes) -> None:
    assert canonical_lines(odd) is None
    assert changed(DC, odd).form == "text"


def test_no_external_entity_is_read(tmp_path: object) -> None:
    secret = f"{tmp_path}/secret"
    with open(secret, "w", encoding="utf-8") as file:
        file.write("secret")
    bomb = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{secret}">]><d>&x;</d>'.encode()
    assert canonical_lines(bomb) is None


# -- of a record --------------------------------------------------------------------------


@pytest.fixture
def record(silo: Silo, harvest: Harvest) -> HarvestedRecord:
    record = silo[harvest(silo, "r", DC)]
    record.clone_version("1", "wc")
    return record


def test_a_clone_does_not_differ_until_it_is_changed(record: HarvestedRecord) -> None:
    assert not record.differences("1", "wc")
    record.put_stream("oai_dc", DC.replace(b"Old", b"New"))
    record.put_stream("docs/a.txt", "a")
    found = record.differences("1", "wc")
    assert [(one.path, one.change) for one in found.files] == [
        ("docs/a.txt", "added"), ("oai_dc", "changed"),
    ]  # fmt: skip
    assert not record.differences("wc", "wc")


def test_what_was_edited_outside_is_compared_as_it_lies_on_disk(record: HarvestedRecord) -> None:
    edited = DC.replace(b"Old", b"Odd")
    with open(record.to_dirpath("oai_dc"), "wb") as file:
        file.write(edited)
    (one,) = record.differences("1", "wc").files
    assert (one.before, one.after) == (digest(DC), digest(edited))


def test_shared_files_are_read_once(
    record: HarvestedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.clone_version_delta("wc", "delta")
    read: list[str] = []
    monkeypatch.setattr(
        "recordsilo.records.record_view.digest_of",
        lambda file: read.append(file.name) or digest(b""),
    )
    assert not record.differences("wc", "delta")
    assert len(read) == 1


def test_a_version_or_a_file_that_is_gone_is_said(record: HarvestedRecord) -> None:
    with pytest.raises(VersionNotFound):
        record.differences("1", "nope")
    os.unlink(record.to_dirpath("oai_dc", "wc"))
    with pytest.raises(FileNotInVersion, match="restore it from a backup"):
        record.differences("1", "wc")
