"""What packages do after a record was removed for good."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo, removals
from recordsilo.errors import RecordRemoved
from recordsilo.removals import GROUP, OnRemoval

Contribute = Callable[[str, str, Any], None]


class Package:
    """A made-up package that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []
        self.fails = False

    def run(self, _path: str, identifiers: Sequence[str]) -> None:
        if self.fails:
            raise OSError("it is busy")
        self.told.append(tuple(identifiers))


@pytest.fixture
def package(contribute: Contribute) -> Package:
    package = Package()
    contribute(GROUP, "made-up", OnRemoval("made-up", package.run))
    return package


@pytest.fixture
def four(silo: Silo) -> Silo:
    for name in ("a", "b", "c", "d"):
        silo.get_item(name).sync()
    return silo


def test_a_package_is_told_of_permanent_removals_only(four: Silo, package: Package) -> None:
    del four["a"]
    assert package.told == []
    four.del_item("b", remember=True)
    four.del_item("c", remember=True)
    assert package.told == [("b",), ("c",)]
    four.tell_removals()
    assert len(package.told) == 2


def test_a_record_that_was_removed_is_not_made_anew_until_it_is_restored(four: Silo) -> None:
    del four["a"]
    four.get_item("a").put_stream("foo.txt", "made anew, as in 2010")
    four.del_item("b", remember=True)
    again = four.get_item("b")
    for change in (again.sync, lambda: again.put_stream("foo.txt", "x")):
        with pytest.raises(RecordRemoved, match=r"restore_removed\(\['b'\]\) first"):
            change()
    assert ("b" in four, list(four)) == (False, ["a", "c", "d"])
    four.restore_removed(["b"])
    again.put_stream("foo.txt", "x")
    assert list(four) == ["a", "b", "c", "d"]


def test_a_short_identifier_of_a_removed_record_makes_no_other_record(silo: Silo) -> None:
    silo.state["identifier_uri_prefix"] = "oai:x:"
    silo.get_item("oai:x:7").sync()
    silo.del_item("7", remember=True)
    with pytest.raises(RecordRemoved, match=r"restore_removed\(\['oai:x:7'\]\) first"):
        silo.get_item("7").put_stream("foo.txt", "x")
    silo.get_item("7", force=True).put_stream("foo.txt", "meant as it is")
    assert list(silo) == ["7"]


def test_a_kill_before_the_package_is_told_loses_nothing(
    four: Silo, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(removals, "catch_up", lambda *_: None)
        for name in ("a", "b", "c"):
            four.del_item(name, remember=True)
    four.restore_removed(["b"])
    with Silo(four.path) as again:
        with monkeypatch.context() as patch:  # made anew, as earlier releases let people do
            patch.setattr(Silo, "removed", lambda _: frozenset())
            again.get_item("c").sync()
        assert removals.is_behind(again.path)
        again.tell_removals()
        assert package.told == [("a",)]
        assert not removals.is_behind(again.path)


def test_a_package_that_fails_is_named_and_told_again(
    four: Silo, package: Package, caplog: pytest.LogCaptureFixture
) -> None:
    package.fails = True
    with caplog.at_level(logging.WARNING):
        four.del_item("a", remember=True)
    assert "'made-up'" in caplog.text
    assert "OSError: it is busy; it is done again" in caplog.text
    assert "a" not in four
    package.fails = False
    four.del_item("b", remember=True)
    assert package.told == [("a", "b")]


def test_a_package_that_comes_later_is_told_of_earlier_removals(
    four: Silo, package: Package, contribute: Contribute
) -> None:
    four.del_item("a", remember=True)
    later = Package()
    contribute(GROUP, "later", OnRemoval("later", later.run))
    four.tell_removals()
    assert (later.told, package.told) == ([("a",)], [("a",)])
    Path(four.path, "curation", "removed-told.json").write_text("{")
    four.tell_removals()
    assert (later.told, package.told) == ([("a",)] * 2, [("a",)] * 2)
