"""Decisions from a manifest's values alone."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Manifest, Origin, Version
from recordsilo.errors import VersionNotFound
from recordsilo.records.manifest import (
    Pending,
    altered,
    base_of,
    date_text,
    is_frozen,
    located,
    next_version_number,
    now_text,
    upstream_newer,
    with_listing,
)


def manifest(*versions: tuple[str, Origin], cursor: str | None = None) -> Manifest:
    made = tuple(Version(name, f"200{i}-01-01T00:00:00", o) for i, (name, o) in enumerate(versions))
    return Manifest("a", "", cursor or made[-1].name, made)


HARVEST, LOCAL = Origin("harvest"), Origin("local")


def clone(of: str) -> Origin:
    return Origin("clone", of=of)


def test_altered_value_differs_in_what_was_named_alone() -> None:
    before = manifest(("1", HARVEST), ("wc", clone("1")))
    after = altered(before, revision=7, metadata={"a": 1})
    assert after == replace(before, revision=7, metadata={"a": 1})
    assert (before.revision, before.metadata) == (0, {})
    with pytest.raises(TypeError, match="Manifest has no field 'revison'"):
        altered(before, revison=7)


@pytest.mark.parametrize("noted", [{"prefixes": {"oai_dc": "2004"}}, {"date": "2026-03-01"}])
def test_version_whose_origin_a_harvest_noted_is_frozen(noted: dict[str, Any]) -> None:
    assert is_frozen(manifest(("1", Origin("harvest", **noted))), "1")


def test_newest_version_of_2010_is_not_frozen() -> None:
    assert not is_frozen(manifest(("1", HARVEST)), "1")


@pytest.mark.parametrize("later", [HARVEST, clone("1"), LOCAL])
def test_harvested_version_with_a_later_one_is_frozen(later: Origin) -> None:
    assert is_frozen(manifest(("1", HARVEST), ("2", later)), "1")


@pytest.mark.parametrize("kind", [LOCAL, clone("1")])
def test_curated_version_is_never_frozen(kind: Origin) -> None:
    assert not is_frozen(manifest(("1", HARVEST), ("2", kind), ("3", HARVEST)), "2")


def test_unknown_version_is_neither_frozen_nor_not() -> None:
    with pytest.raises(VersionNotFound, match="it has 1"):
        is_frozen(manifest(("1", HARVEST)), "2")


def test_next_number_is_the_highest_and_one_whatever_the_cursor_says() -> None:
    made = manifest(("1", HARVEST), ("10", HARVEST), ("workingcopy", clone("1")), cursor="1")
    assert next_version_number(made) == "11"


def test_next_number_counts_digits_of_ascii_only() -> None:
    assert next_version_number(manifest(("v0", LOCAL), ("²", LOCAL))) == "1"


def test_next_number_of_a_record_without_versions_is_one() -> None:
    assert next_version_number(Manifest("a", "")) == "1"


def test_base_is_found_through_clones_of_clones() -> None:
    made = manifest(("1", HARVEST), ("a", clone("1")), ("b", clone("a")))
    assert base_of(made, "b") == "1"
    assert base_of(made, "1") == "1"


def test_local_version_has_no_base() -> None:
    assert base_of(manifest(("1", HARVEST), ("x", LOCAL)), "x") is None


def test_base_of_a_clone_of_a_deleted_version_is_unknown() -> None:
    assert base_of(manifest(("x", clone("gone"))), "x") is None


def test_clones_that_name_each_other_have_no_base() -> None:
    assert base_of(manifest(("x", clone("y")), ("y", clone("x"))), "x") is None


def test_upstream_is_newer_when_harvested_after_the_base() -> None:
    made = manifest(("1", HARVEST), ("wc", clone("1")), ("2", HARVEST), cursor="wc")
    assert upstream_newer(made)


def test_upstream_is_not_newer_than_a_clone_of_the_newest() -> None:
    made = manifest(("1", HARVEST), ("2", HARVEST), ("wc", clone("2")), cursor="wc")
    assert not upstream_newer(made)


def test_upstream_newer_is_said_of_curated_cursors_only() -> None:
    made = manifest(("1", HARVEST), ("wc", clone("1")), ("2", HARVEST), cursor="2")
    assert not upstream_newer(made)
    assert not upstream_newer(Manifest("a", ""))


def test_upstream_is_not_newer_once_a_curator_decided_about_the_newest_version() -> None:
    versions = (("1", HARVEST), ("wc", clone("1")), ("2", HARVEST))
    settled = replace(manifest(*versions, cursor="wc"), metadata={"upstream_settled": "2"})
    assert not upstream_newer(settled)
    later = manifest(*versions, ("3", HARVEST), cursor="wc")
    assert upstream_newer(replace(later, metadata={"upstream_settled": "2"}))


def test_local_version_is_behind_what_is_harvested_after_it() -> None:
    made = manifest(("x", LOCAL), ("1", HARVEST), cursor="x")
    assert upstream_newer(made)
    assert not upstream_newer(manifest(("1", HARVEST), ("x", LOCAL), cursor="x"))


def test_pending_file_is_looked_for_where_it_may_still_be_first() -> None:
    made = Manifest("a", "", pending=Pending((("__1/.silo-x.tmp", "__1/f"),)))
    assert located(made, "__1/f") == ("__1/.silo-x.tmp", "__1/f")
    assert located(made, "__1/g") == ("__1/g",)


def test_files_of_a_pending_version_are_looked_for_under_both_names() -> None:
    made = Manifest("a", "", pending=Pending((("__old", "__new"),)))
    assert located(made, "__new/d/f") == ("__old/d/f", "__new/d/f")


def test_listing_of_2010_gains_files_in_directories_and_short_names() -> None:
    old = Version("1", "", LOCAL, ("b", "docs", "a"), ("docs",), digests=None)
    found = ("a", "b", "docs/x", "docs/y/z", "in", "stray.txt")
    (listed,) = with_listing(Manifest("a", "", "1", (old,)), lambda name: found).versions
    assert listed.paths == ("b", "docs/x", "docs/y/z", "a", "in")


def test_listing_of_2010_keeps_files_that_are_gone_so_that_they_are_missed() -> None:
    old = Version("1", "", LOCAL, ("gone.txt",), digests=None)
    (listed,) = with_listing(Manifest("a", "", "1", (old,)), lambda name: ()).versions
    assert listed.paths == ("gone.txt",)


def test_directory_of_2010_that_subdir_forgot_is_no_file() -> None:
    old = Version("1", "", LOCAL, ("docs",), (), digests=None)
    (listed,) = with_listing(Manifest("a", "", "1", (old,)), lambda name: ("docs/x",)).versions
    assert listed.paths == ("docs/x",)
    assert listed.subdir == ("docs",)


def test_date_is_utc_without_a_zone() -> None:
    moment = datetime(2004, 6, 24, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert date_text(moment) == "2004-06-23T23:30:00"
    assert date_text("2004-06-24T00:00:00Z") == "2004-06-24T00:00:00"
    assert date_text("2004-06-24") == "2004-06-24T00:00:00"


@given(st.datetimes())
def test_date_text_is_its_own_date_text(moment: datetime) -> None:
    assert date_text(date_text(moment)) == date_text(moment)


def test_text_that_is_no_date_is_refused() -> None:
    with pytest.raises(ValueError, match="yesterday"):
        date_text("yesterday")


def test_a_bare_day_is_taken_as_its_first_second() -> None:
    assert date_text(date(2004, 6, 24).isoformat()) == "2004-06-24T00:00:00"


def test_now_has_microseconds_and_is_utc() -> None:
    before = datetime.now(UTC).replace(tzinfo=None)
    found = datetime.fromisoformat(now_text())
    assert len(now_text()) == len("2004-06-24T00:00:00.000000")
    assert timedelta(0) <= found - before < timedelta(seconds=30)
