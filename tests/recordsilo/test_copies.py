"""A Silo and its records are copied, also into other processes, by the Silo's path."""

import copy
import errno
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path

import pytest

from recordsilo import HarvestedRecord, RecordSiloError, SearchResult, Silo
from recordsilo.errors import (
    FileUnreadable,
    NotCopied,
    RecordNotFound,
    SiloNotWritable,
    VersionNotFound,
)
from recordsilo.records.manifest import now_text
from recordsilo.silo_then import SiloThen

Harvest = Callable[..., str]


def pickled(value: object) -> object:
    return pickle.loads(pickle.dumps(value))


@pytest.fixture(params=[pytest.param(copy.deepcopy, marks=pytest.mark.long), pickled])
def copied(request: pytest.FixtureRequest) -> Callable[[object], object]:
    return request.param  # type: ignore[no-any-return]


def test_a_silo_is_copied_by_its_path(
    silo: Silo, harvest: Harvest, copied: Callable[[object], object]
) -> None:
    harvest(silo, "one")
    silo.agent = "ann"
    other = copied(silo)
    assert isinstance(other, Silo)
    with other:
        assert (list(other), other.agent, other.path) == (["one"], "ann", silo.path)
        other["one"].clone_version("1", "copy")
        assert silo["one"].versions == ["1", "copy"]


def test_a_record_is_copied_as_its_handle_shows_it(
    silo: Silo, harvest: Harvest, copied: Callable[[object], object]
) -> None:
    record = silo[harvest(silo, "one", title="Möwen")]
    record.clone_version("1", "copy")
    record.set_version_cursor("1")
    record.metadata["note"] = {"who": "ann"}
    silo["one"].create_new_version("later")
    other = copied(record)
    assert isinstance(other, HarvestedRecord)
    assert (other.item_id, other.currentversion, other.versions) == ("one", "1", ["1", "copy"])
    assert "Möwen" in other.read("1", "oai_dc").decode()
    assert other.metadata == record.metadata
    other.metadata["note"]["who"] = "bob"
    assert record.metadata["note"] == {"who": "ann"}
    other.sync(agent="bob")
    assert silo["one"].metadata["note"] == {"who": "bob"}
    assert silo["one"].versions == ["1", "copy", "later"]


def test_a_record_that_is_not_written_yet_is_copied(
    silo: Silo, copied: Callable[[object], object]
) -> None:
    other = copied(silo.get_item("new", date="2004-06-24", startversion="first"))
    assert isinstance(other, HarvestedRecord)
    assert not other.exists
    other.put_stream("a.txt", "text")
    assert (silo["new"].versions, silo["new"].date) == (["first"], "2004-06-24T00:00:00")


def test_files_that_are_not_stored_are_not_left_behind_in_silence(silo: Silo) -> None:
    record = silo.get_item("one")
    record.put_stream("a.txt", "text", sync=False)
    with pytest.raises(NotCopied, match="call its sync"):
        copy.deepcopy(record)
    record.sync()
    assert copy.deepcopy(record).files == ["a.txt"]


def test_a_silo_as_it_was_is_copied(
    silo: Silo, harvest: Harvest, copied: Callable[[object], object]
) -> None:
    harvest(silo, "one")
    then = SiloThen(silo.path, now_text())
    silo["one"].clone_version("1", "copy")
    other = copied(then)
    assert isinstance(other, SiloThen)
    with then, other:
        assert other.moment == then.moment
        assert other["one"].versions == ["1"]


def title_of(record: HarvestedRecord) -> tuple[int, str]:
    return os.getpid(), record.read("1", "oai_dc").decode()


def test_records_are_read_in_other_processes(silo: Silo, harvest: Harvest) -> None:
    for number in range(3):
        harvest(silo, f"r{number}", title=f"Title {number}")
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        found = list(pool.map(title_of, silo.iteritems()))
    assert [f"Title {number}" in text for number, (_, text) in enumerate(found)] == [True] * 3
    assert os.getpid() not in {pid for pid, _ in found}


def test_a_closed_silo_can_still_be_used(tmp_path: Path, harvest: Harvest) -> None:
    silo = Silo(str(tmp_path / "silo"))
    record = silo[harvest(silo, "one")]
    silo.close()
    assert "one" in silo
    assert len(silo) == 1
    record.clone_version("1", "copy")
    silo.close()
    assert silo["one"].versions == ["1", "copy"]
    silo.close()


@pytest.mark.parametrize(
    "error",
    [
        RecordNotFound("one", "myrepo"),
        VersionNotFound("one", "7", ("1", "2")),
        FileUnreadable("one", "1", "a.txt", OSError(errno.EIO, "Input/output error")),
        SiloNotWritable("myrepo", errno.EROFS, "a.txt"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_leaves_its_process_as_it_is(error: RecordSiloError) -> None:
    other = pickle.loads(pickle.dumps(error))
    assert (type(other), str(other), vars(other)) == (type(error), str(error), vars(error))
    assert getattr(other, "errno", None) == getattr(error, "errno", None)


def test_a_silo_that_is_gone_cannot_be_unpickled(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "gone")) as silo:
        kept = pickle.dumps(silo)
    os.rename(tmp_path / "gone", tmp_path / "gone2")
    with pytest.raises(RecordSiloError, match=r"no Silo at .*gone; did you mean '.*gone2'"):
        pickle.loads(kept)


@pytest.mark.parametrize("then", [False, True])
def test_what_a_search_found_is_copied_and_asks_again(
    silo: Silo, harvest: Harvest, copied: Callable[[object], object], *, then: bool
) -> None:
    for number in range(3):
        harvest(silo, f"r{number}", title=f"Solar {number}", sets=("physics",))
    with ExitStack() as open_ones:
        searched = SiloThen(silo.path, now_text()) if then else silo
        open_ones.callback(searched.close)
        found = searched.search("solar", sort="identifier", facets=() if then else ["set"], limit=2)
        assert [one.title for one in found] == ["Solar 0", "Solar 1"]
        other, nothing = copied(found), copied(searched.search("nothing"))
        assert isinstance(other, SearchResult)
        assert isinstance(nothing, SearchResult)
        for one in (other, nothing):
            assert isinstance(one._silo, Silo)
            open_ones.callback(one._silo.close)
        assert (other, len(other), other.total) == (found, 2, 3)
        assert [one.item_id for one in other] == ["r0", "r1"]
        assert [one.title for one in other[1:]] == ["Solar 1"]
        assert repr(other) == repr(found)
        assert repr(nothing).startswith("0 records found")
        if not then:
            assert other.facets["set"] == found.facets["set"]
            assert other.facets["format"] == found.facets["format"]  # counted when looked up
