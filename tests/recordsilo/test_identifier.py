"""Identifiers ↔ paths: bijective, as Pairtree 0.1 has it, and independent of each other."""

import itertools
import logging
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.disk import atomic_file
from recordsilo.disk.identifier import (
    MAX_PPATH,
    _import_quietly,
    check_identifier,
    clean,
    ppath,
    unclean,
    url_segment,
)
from recordsilo.errors import IdentifierError, RecordNotFound

pairtree = _import_quietly("pairtree")
id_to_dir_list = _import_quietly("pairtree.pairtree_path").id_to_dir_list

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
nasty = st.text(st.sampled_from("/.:=+,^*?<>|\\ _a\x7f\x01é中🜚0f"), min_size=1, max_size=20)
identifiers = texts | nasty


@given(identifiers)
def test_cleaning_is_reversible(identifier: str) -> None:
    assert unclean(clean(identifier)) == identifier


@given(identifiers)
def test_url_segment_is_reversible_and_one_segment(identifier: str) -> None:
    segment = url_segment(identifier)
    assert "/" not in segment
    assert segment not in {".", ".."}
    assert unclean(unquote(segment)) == identifier


@given(identifiers)
def test_path_is_that_of_the_pairtree_package(identifier: str) -> None:
    assert clean(identifier) == pairtree.id_encode(identifier)
    assert ppath(identifier) == "/".join(id_to_dir_list(identifier))


@given(identifiers)
def test_path_never_leaves_the_root(identifier: str) -> None:
    parts = ppath(identifier).split("/")
    assert all(0 < len(part) <= 2 and part not in {".", ".."} for part in parts)
    assert "\0" not in ppath(identifier)


@given(identifiers, identifiers)
def test_different_identifiers_have_different_paths(one: str, other: str) -> None:
    assert (ppath(one) == ppath(other)) == (one == other)


@given(st.text(max_size=30) | st.text(st.sampled_from("^0af/=+,.:g"), max_size=12))
def test_only_cleaned_forms_are_uncleaned(text: str) -> None:
    try:
        identifier = unclean(text)
    except IdentifierError:
        return
    assert clean(identifier) == text


def test_every_single_character_is_reversible() -> None:
    for point in range(1, 0x110000):
        if not 0xD800 <= point < 0xE000 and (point < 0x3000 or point % 97 == 0):
            assert unclean(clean(chr(point))) == chr(point)


def all_scalar_values() -> Iterator[str]:
    """Each character alone, and before what would complete or continue a ``^hh``."""
    for point in itertools.chain(range(1, 0xD800), range(0xE000, 0x110000)):
        yield chr(point)
        yield f"^{chr(point)}4*"


def random_identifiers(count: int) -> Iterator[str]:
    """Up to 24 characters: of those that are changed, of ASCII, or of all there are."""
    dice = random.Random(20101)
    alphabets = [
        "/.:=+,^*?<>|\\ _a\x7f\x01é中🜚0f",
        "".join(map(chr, range(1, 128))),
        "".join(map(chr, itertools.chain(range(1, 0xD800), range(0xE000, 0x110000)))),
    ]
    for _ in range(count):
        yield "".join(dice.choices(dice.choice(alphabets), k=dice.randrange(1, 25)))


def check_mapping(found: Iterable[str]) -> int:
    """Both ways, and as the pairtree package has it, but where its way back is lossy."""
    checked = 0
    for identifier in found:
        cleaned, pieces = clean(identifier), id_to_dir_list(identifier)
        assert unclean(cleaned) == identifier
        assert cleaned == "".join(pieces)
        assert ppath(identifier) == "/".join(pieces)
        if "\x7f" not in identifier:
            assert pairtree.id_decode(cleaned) == identifier
        checked += 1
    return checked


def test_mapping_is_bijective_and_that_of_the_package_for_some_thousands() -> None:
    assert check_mapping(random_identifiers(2000)) == 2000
    assert check_mapping(itertools.islice(all_scalar_values(), 0, None, 997)) > 2000


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_mapping_is_bijective_and_that_of_the_package_for_a_million() -> None:
    assert check_mapping(random_identifiers(10**6)) == 10**6


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_mapping_is_bijective_and_that_of_the_package_for_every_scalar_value() -> None:
    assert check_mapping(all_scalar_values()) == 2 * (0x110000 - 0x800 - 1)


def test_delete_character_is_reversible_where_the_package_fails() -> None:
    assert unclean(clean("\x7f4*")) == "\x7f4*"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        ("x" * 5000, "too long"),
    ],
)
def test_what_no_record_can_have_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(IdentifierError, match=reason):
        check_identifier(text)


def test_bytes_are_no_identifier() -> None:
    with pytest.raises(IdentifierError, match="not text"):
        check_identifier(b"oai:x:1")  # type: ignore[arg-type]


def test_longest_identifier_is_stored_cloned_and_read(silo: Silo) -> None:
    identifier = "x" * (MAX_PPATH * 2 // 3)
    record = silo.get_item(identifier)
    path = "/".join(["d" * 200] * 2 + ["f" * 190])
    record.put_stream(path, "content")
    record.clone_version("1", "v" * 240)
    with silo[identifier].get_stream(path) as stream:
        assert stream.read() == b"content"
    assert silo.reindex() == 1
    silo.del_item(identifier)  # pytest's own clean-up, being recursive, could not
    assert os.listdir(f"{silo.path}/pairtree_root") == []


def test_composed_and_decomposed_letters_are_different_records(silo: Silo) -> None:
    silo.get_item("caf\u00e9").put_stream("a", "composed")
    assert "cafe\u0301" not in silo


def test_importing_the_store_leaves_logging_alone() -> None:
    script = (
        "import logging\n"
        "root = logging.getLogger()\n"
        "before = (root.level, list(root.handlers))\n"
        "import recordsilo, recordsilo.disk.identifier\n"
        "assert (root.level, list(root.handlers)) == before\n"
        "for name in ('RecordSilo', 'PersistentState', 'RDFManifest'):\n"
        "    assert not logging.getLogger(name).handlers\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_quietly_puts_the_root_logger_back() -> None:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    for name in [name for name in sys.modules if name.split(".")[0] == "pairtree"]:
        del sys.modules[name]
    _import_quietly("pairtree")
    assert (root.handlers, root.level) == (handlers, level)


family = [
    "a", "ab", "abc", "abcd", "abcde", "a_", "a___b", "a_____b", "__", "____", "a/__1", "ab/c",
    "__manifest.json", "ab__manifest.json", "oai:x:6", "oai:x:61", "oai:x:6102", ".", "..", "...",
    "../..", "a\x7f", "3=", "4=x", "A", "ab ", " ab",
]  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(family)), min_size=4, max_size=24))
def test_nested_and_look_alike_identifiers_are_independent(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, str]]
) -> None:
    stored: dict[str, bytes] = {}
    with (
        pytest.MonkeyPatch.context() as patch,
        Silo(str(tmp_path_factory.mktemp("silo") / "silo")) as silo,
    ):
        patch.setattr(atomic_file, "flush_fd", lambda fd: None)
        for number, (add, identifier) in enumerate(steps):
            if add:
                content = f"{identifier} {number}".encode()
                silo.get_item(identifier).put_stream("f", content)
                stored[identifier] = content
            elif identifier in stored:
                del silo[identifier]
                del stored[identifier]
            else:
                with pytest.raises(RecordNotFound):
                    del silo[identifier]
            assert [i for i in family if i in silo] == [i for i in family if i in stored]
        for identifier, content in stored.items():
            with silo[identifier].get_stream("f") as stream:
                assert stream.read() == content
        assert list(silo) == sorted(stored)
        assert silo.reindex() == len(stored)
        assert list(silo) == sorted(stored)


def test_deleting_a_record_keeps_one_whose_path_goes_through_a_double_underscore(
    silo: Silo,
) -> None:
    silo.get_item("a_").put_stream("f", "outer")
    silo.get_item("a___b").put_stream("f", "inner")
    del silo["a_"]
    with silo["a___b"].get_stream("f") as stream:
        assert stream.read() == b"inner"
    assert "a_" not in silo


def test_making_a_record_keeps_one_whose_path_goes_through_a_double_underscore(
    silo: Silo,
) -> None:
    silo.get_item("a___b").put_stream("f", "inner")
    silo.get_item("a_").put_stream("f", "outer")
    assert list(silo) == ["a_", "a___b"]
    with silo["a___b"].get_stream("f") as stream:
        assert stream.read() == b"inner"
