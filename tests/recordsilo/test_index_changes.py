"""What the index gives out to who keeps a copy of it."""

import os
import random
import shutil
from pathlib import Path

import pytest
from index_conformance import in_step, put, taken_over

from recordsilo import Silo
from recordsilo.errors import IndexProblem
from recordsilo.index import changes as module
from recordsilo.index.projection import Entry


@pytest.fixture
def silo(tmp_path: Path) -> Silo:
    return Silo(str(tmp_path / "silo"))


def test_only_what_changed_is_given_out(silo: Silo) -> None:
    for name in "abc":
        put(silo, name, title=f"Title {name}")
    mark = silo.changes().mark
    assert not silo.changes(mark).is_whole
    assert list(silo.changed_entries(silo.changes(mark))) == []
    put(silo, "b", title="Another")
    found = silo.changes(mark)
    assert [entry.row.title for _, entry in silo.changed_entries(found)] == ["Another"]
    assert len(found.gone) == 1  # the row with the earlier text


def test_a_copy_is_in_step_after_any_changes(silo: Silo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", 3)
    draw, mark, copy = random.Random(3), "", {}
    for _ in range(15):
        for _ in range(draw.randrange(6)):
            name = draw.choice("abcdefghij")
            if draw.random() < 0.3 and name in silo:
                silo.del_item(name)
            else:
                put(silo, name, title=draw.choice(["Wind", "Sun"]), subject=[draw.choice("xyz")])
        mark = taken_over(silo, copy, mark)
        assert in_step(copy, silo)


@pytest.mark.parametrize("query", [module._WRITTEN, module._CONTRIBUTED, module._BESIDE])
def test_changes_are_looked_up_in_time_that_does_not_depend_on_other_records(
    silo: Silo, query: str
) -> None:
    put(silo, "a", title="First")
    with silo._catalogue._index.asking() as connection:
        found = connection.execute(f"EXPLAIN QUERY PLAN {query}", "1" * query.count("?"))
        read = {step for *_, step in found if step.startswith("SCAN") and not step.endswith("=")}
    assert read <= {"SCAN beside_facet", "SCAN json_each VIRTUAL TABLE INDEX 1:"}


def test_forgotten_notes_of_deletions_give_out_everything(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MERGE_AT", 1)
    put(silo, "a", title="First")
    mark = silo.changes().mark
    for title in ("Second", "Third", "Fourth"):
        put(silo, "a", title=title)
    assert not silo.changes(mark).is_whole
    with silo._catalogue._index.changing() as connection:
        connection.execute("DELETE FROM gone WHERE change < (SELECT max(change) - 1 FROM gone)")
    assert silo.changes(mark).is_whole


@pytest.mark.parametrize("mark", ["", "x", "1.2.3", "9" * 5000, "..", "1.1.-1"])
def test_any_other_mark_gives_out_everything(silo: Silo, mark: str) -> None:
    put(silo, "a", title="First")
    assert silo.changes(mark).is_whole


def test_an_older_copy_of_the_file_gives_out_everything(silo: Silo) -> None:
    put(silo, "a", title="First")
    path = f"{silo.path}/.silo/index.sqlite"
    before = silo.changes().mark
    silo.close()
    shutil.copy(path, f"{path}.copy")
    put(silo, "a", title="Second")
    mark = silo.changes(before).mark
    silo.close()
    os.replace(f"{path}.copy", path)
    put(silo, "a", title="Third")
    put(silo, "b", title="Fourth")
    copy: dict[int, Entry] = {}
    assert silo.changes(mark).is_whole
    taken_over(silo, copy, mark)
    assert in_step(copy, silo)


def test_an_index_that_is_made_again_meanwhile_is_said(silo: Silo) -> None:
    put(silo, "a", title="First")
    changes = silo.changes()
    silo.close()
    os.unlink(f"{silo.path}/.silo/index.sqlite")
    silo.reindex()
    with pytest.raises(IndexProblem, match="rebuilt"):
        list(silo.changed_entries(changes))
