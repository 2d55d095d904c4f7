"""A Silo as it was, and lists of what changed since."""

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from recordsilo import Origin, Silo, removals
from recordsilo import silo as silo_module
from recordsilo.changed import changes_of, removed_since
from recordsilo.errors import (
    FileNotKept,
    MomentUnknown,
    ReadOnlyMoment,
    RecordNotThen,
    SearchError,
)
from recordsilo.index import SearchFilters
from recordsilo.records import edit as edit_module
from recordsilo.records import record_changes
from recordsilo.records.edit import RecordEdit
from recordsilo.selection import Selection, selection_from, selection_table
from recordsilo.silo_then import SiloThen

DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s</dc:title></oai_dc:dc>'
)


class Days:
    """The time; `day` sets it, and each look is a microsecond later."""

    def __init__(self) -> None:
        self.at = datetime.fromisoformat("2026-03-01")

    def day(self, number: int) -> None:
        self.at = datetime.fromisoformat(f"2026-03-{number:02}T12:00:00")

    def __call__(self) -> str:
        self.at += timedelta(microseconds=1)
        return self.at.isoformat(timespec="microseconds")


@pytest.fixture(scope="module")
def days() -> Iterator[Days]:
    found = Days()
    with pytest.MonkeyPatch.context() as patch:
        for module in (edit_module, record_changes, removals, silo_module):
            patch.setattr(module, "now_text", found)
        yield found


def harvested(edit: RecordEdit, name: str, title: str) -> None:
    origin = Origin(
        "harvest", None, {"oai_dc": "2020-01-01T00:00:00"}, "harvester", "",
        edit_module.now_text(),
    )  # fmt: skip
    edit.add_version(name, date="2020-01-01T00:00:00", origin=origin)
    if title:
        edit.put(name, "oai_dc", (DC % title).encode(), metadata=True)
        edit.set_metadata("setSpec", ["birds"])
    else:
        edit.set_metadata("deleted_at_version", name)
        edit.set_metadata("deleted_at_date", "2020-01-01T00:00:00")


@pytest.fixture(scope="module")
def march(tmp_path_factory: pytest.TempPathFactory, days: Days) -> str:
    """On the 2nd, three records come in; on the 4th, 6th and 8th they change.

    Added on the 6th: ``d``. On the 8th ``a`` is edited again, ``b`` is deleted at the source, and
    ``c`` is removed.
    """
    path = str(tmp_path_factory.mktemp("march") / "march")
    with Silo(path, agent="ann") as silo:
        days.day(2)
        for name, title in (("a", "Terns"), ("b", "Auks"), ("c", "Gulls"), ("e", "Crows")):
            with silo.editing(name) as edit:
                harvested(edit, "1", title)
        days.day(4)
        silo["a"].clone_version("1", "wc")
        silo["a"].put_stream("oai_dc", DC % "Sea swallows", metadata=True)
        days.day(6)
        silo["a"].set_version_state("wc", "ready", agent="bo")
        with silo.editing("d") as edit:
            harvested(edit, "1", "Terns and auks")
        days.day(8)
        silo["a"].put_stream("oai_dc", DC % "Arctic terns", metadata=True)
        with silo.editing("b") as edit:
            harvested(edit, "2", "")
        silo.del_item("c", remember=True, agent="bo", message="a test")
    return path


def listed(path: str, moment: str, query: str = "", **filters: object) -> list[str]:
    with SiloThen(path, moment) as silo:
        some = SearchFilters(**filters)  # type: ignore[arg-type]
        assert silo.search(query, some).total == len(list(silo.found(some, query)))
        return [f"{row.identifier} {row.title}" for row in silo.found(some, query)]


def test_lists_have_the_records_that_there_were_as_they_were(march: str) -> None:
    assert listed(march, "2026-03-03") == ["a Terns", "b Auks", "e Crows"]
    assert listed(march, "2026-03-05")[0] == "a Terns"  # of version 1: its own is not kept
    assert listed(march, "2026-03-07") == ["a Terns", "b Auks", "d Terns and auks", "e Crows"]
    assert listed(march, "2026-03-09")[0] == "a Arctic terns"
    assert listed(march, "2026-03-09", flags={"deleted": True}) == ["b Auks"]
    assert listed(march, "2026-03-07", flags={"deleted": True}) == []


def test_searches_find_what_was_there(march: str) -> None:
    assert listed(march, "2026-03-03", "terns") == ["a Terns"]
    assert listed(march, "2026-03-07", "auks") == ["b Auks", "d Terns and auks"]
    assert listed(march, "2026-03-09", "terns") == ["a Arctic terns", "d Terns and auks"]
    assert listed(march, "2026-03-05", values={"state": ["ready"]}) == []
    assert listed(march, "2026-03-07", values={"state": ["ready"]}) == ["a Terns"]
    assert listed(march, "2026-03-07", values={"set": ["birds"]}, changed_since="2026-03-06") == [
        "a Terns", "d Terns and auks",
    ]  # fmt: skip


def test_a_record_has_its_versions_and_files_of_then(march: str) -> None:
    with SiloThen(march, "2026-03-03") as silo:
        record = silo["a"]
        assert (record.versions, record.currentversion) == (["1"], "1")
        assert b"Terns" in record.read("1", "oai_dc")
        assert silo.described(["a"])["a"].values["set"] == ("birds",)
    with SiloThen(march, "2026-03-04T12:00:00.000010") as silo:
        record = silo["a"]
        assert record.version_state("wc") == "in work"
        with pytest.raises(FileNotKept, match="changed or removed after 2026-03-04T12:00:00"):
            record.read("wc", "oai_dc")
        assert "its content of then is not kept" in silo.told_unsure()


def test_a_file_is_found_where_it_is_now(march: str, days: Days, tmp_path: Path) -> None:
    days.day(10)
    copied = shutil.copytree(march, str(tmp_path / "copied"))
    with Silo(copied) as silo:
        silo["a"].rename_version("wc", "edited")
        silo["a"].rename_stream("oai_dc", "dc.xml", "edited")
    with SiloThen(copied, "2026-03-09") as silo:
        assert b"Arctic" in silo["a"].read("wc", "oai_dc")


def test_records_that_were_not_there_are_told(march: str) -> None:
    with SiloThen(march, "2026-03-07") as silo:
        assert "c" not in silo
        with pytest.raises(RecordNotThen, match="removed here by bo: a test on 2026-03-08T12:00"):
            silo.resolve("c")
        assert [sentence for _, sentence in silo.index_problems()] == [
            "it was in the Silo, and was removed here by bo: a test on 2026-03-08T12:00:00"
        ]
    told = pytest.raises(RecordNotThen, match="made later, on 2026-03-06T12:00:00")
    with SiloThen(march, "2026-03-03") as silo, told:
        silo["d"]
    with SiloThen(march, "2026-03-09") as silo:
        assert (silo.removed(), silo.removed_since()) == (frozenset("c"), [])


def test_nothing_can_be_changed(march: str) -> None:
    with SiloThen(march, "2026-03-07") as silo:
        with pytest.raises(ReadOnlyMoment, match="2026-03-07T00:00:00 cannot be changed"):
            silo["a"].put_stream("x", "y")
        with pytest.raises(ReadOnlyMoment):
            silo.del_item("a")
        with pytest.raises(ReadOnlyMoment):
            silo.search("", facets=["year"])


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2026-02-01", "did not exist on 2026-02-01; it was made on 2026-03-01T00:00:00"),
        ("2999-01-01", "is in the future"),
        ("yesterday", "is not a date"),
    ],
)
def test_a_moment_that_cannot_be_looked_at_is_refused(march: str, moment: str, told: str) -> None:
    with pytest.raises(MomentUnknown, match=told):
        SiloThen(march, moment)


def test_changes_have_a_kind_and_a_reason(march: str) -> None:
    with Silo(march) as silo:
        found = changes_of(silo, ["a", "b", "d"], "2026-03-06T00:00:00")
        gone = removed_since(silo, "2026-03-06T00:00:00.000000")
        assert {name: (str(one.kind), one.reason) for name, one in found.items()} == {
            "a": ("changed", "state set to ready by bo; curated by ann"),
            "b": ("removed", "deleted at the source"),
            "d": ("added", "harvested"),
        }
        assert [(one.identifier, str(change.kind), change.reason) for one, change in gone] == [
            ("c", "removed", "removed here by bo: a test")
        ]
        assert changes_of(silo, ["a"], "2026-03-01")["a"].reason == (
            "harvested; curated by ann; state set to ready by bo"
        )


def test_notes_of_every_night_are_one_step(tmp_path: Path, days: Days) -> None:
    with Silo(str(tmp_path / "silo")) as silo:
        days.day(2)
        with silo.editing("a") as edit:
            harvested(edit, "1", "Terns")
        for night in range(3, 9):
            days.day(night)
            with silo.editing("a") as edit:
                edit.set_metadata("missing_since", night)
        steps = silo["a"].state.history["steps"]
        assert [one["at"][:10] for one in steps] == ["2026-03-08"]
        told = changes_of(silo, ["a"], "2026-03-05")["a"]
        assert (str(told.kind), told.reason) == ("changed", f"notes changed by {silo.agent}")


def test_a_selection_of_then_is_kept_and_is_refused_elsewhere(march: str) -> None:
    select = Selection("auks", as_of="2026-03-07")
    assert selection_from(selection_table(select)) == select
    assert str(select) == "search auks and as of 2026-03-07"
    with Silo(march) as silo:
        with pytest.raises(SearchError, match="can only be listed and exported"):
            select.find(silo)
        with select.at(silo) as then:
            assert select.find(then) == ("b", "d")
