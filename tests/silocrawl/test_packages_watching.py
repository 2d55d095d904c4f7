"""Packages, their store and the access nodes in the status; and failed steps tried again."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recordsilo import Silo
from silocrawl.conditions import Condition, Word
from silocrawl.messages import TO_PACKAGE, TO_SIP
from silocrawl.metrics import metrics_of
from silocrawl.monitor import look
from silocrawl.packages.kept import keep_package
from silocrawl.packages.layout import checkpoints_directory, merged_name, state_file, store_file
from silocrawl.packages.retrying import Unbegun, retry, unbegun
from silocrawl.packages.settings import StoreSettings, store_settings
from silocrawl.packages.store import open_store
from silocrawl.packages.values import Package, PackageState, checkpoint_message, package_message
from silocrawl.packages.watching import Merges, of_checkpoint, of_node, of_packages
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import MessageState

NOW = datetime.now(UTC).replace(microsecond=0)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def package(name: str = "own-cp00001-20261128110000", *states: PackageState, ago: timedelta = HOUR,
            error: str = "") -> Package:  # fmt: skip
    history = tuple((one, NOW - ago) for one in (PackageState.BEGUN, *states))
    return Package(name, "ark:/99999/s1b2", "own", "cp00001-20261128110000", "", "silo",
                   NOW - 2 * ago, NOW - ago, history=history, error=error)  # fmt: skip


def kept(
    silo: Silo, store: Path, *states: PackageState, ago: timedelta = HOUR, error: str = ""
) -> Package:
    store_settings(silo.path, StoreSettings(str(store), nodes=("reading-room", "web")))
    one = replace(package("own-1", *states, ago=ago, error=error), store=str(store))
    return keep_package(silo.path, one)


def conditions(silo: Silo, *names: str) -> dict[str, Condition]:
    return {one.label: one for one in look(silo.path).conditions if one.name in names}


# --------------------------------------------------------------------------- judged


@pytest.mark.parametrize(
    ("packages", "word", "said"),
    [
        ([], Word.GOOD, "none"),
        ([package("a", PackageState.PACKAGED), package("b", PackageState.VERIFIED)], Word.GOOD,
         "1 packaged, 1 verified"),
        ([package("a", PackageState.PACKAGED, ago=2 * DAY)], Word.WARNING,
         "1 package did not go on for a day: a"),
        ([package("a", PackageState.VERIFIED, ago=90 * DAY)], Word.GOOD, "1 verified"),
        ([package(name, error="x.warc.gz is not there") for name in "abcde"], Word.ALERT,
         "a: x.warc.gz is not there; b: x.warc.gz is not there; c: x.warc.gz is not there and 2"),
    ],
)  # fmt: skip
def test_packages_are_judged_by_their_states(
    packages: list[Package], word: Word, said: str
) -> None:
    found = of_packages(packages, [], NOW)
    assert (found.word, found.said.startswith(said)) == (word, True), found.said
    assert bool(found.advice) == (word is not Word.GOOD)


@pytest.mark.parametrize(
    ("waits", "word"), [(HOUR, Word.GOOD), (2 * DAY, Word.WARNING), (8 * DAY, Word.ALERT)]
)
def test_a_node_that_merges_nothing_is_late_and_then_lost(waits: timedelta, word: Word) -> None:
    found = of_node("web", Merges(3, NOW - DAY, {"own-4": NOW - waits}), NOW)
    assert (found.label, found.word) == ("node web", word)
    assert found.said.startswith("3 packages merged, the last 24 hours ago")
    assert "; 1 package waits" in found.said
    assert (f"own-4 since {NOW - waits:%Y-%m-%d}" in found.said) == (word is not Word.GOOD)


def test_a_checkpoint_is_old_if_one_is_to_be_made_again_and_again() -> None:
    name, every = f"cp00003-{NOW - 3 * DAY:%Y%m%d%H%M%S}", StoreSettings(checkpoint_every=DAY)
    assert of_checkpoint(name, every, NOW).word is Word.WARNING
    assert of_checkpoint(name, StoreSettings(), NOW).said == f"{name}, 3 days ago"
    assert of_checkpoint("", every, NOW).said == "none was made yet"


# --------------------------------------------------------------------------- looked at


def test_a_silo_without_packages_has_no_conditions_of_them(silo: Silo) -> None:
    assert conditions(silo, "packages", "store", "node", "checkpoint") == {}


def test_the_status_has_packages_store_nodes_and_the_last_checkpoint(
    silo: Silo, tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    one = kept(silo, tmp_path / "store", *list(PackageState)[1:-1], ago=2 * DAY)
    Path(checkpoints_directory(silo.path)).mkdir()
    Path(checkpoints_directory(silo.path), f"cp00001-{NOW:%Y%m%d%H%M%S}.json").write_text("{}")
    store = open_store(one.store)
    merged = datetime.now(UTC) - HOUR
    store.put(merged_name(one.id, "web"), f"{merged:%Y-%m-%dT%H:%M:%SZ}\n".encode())
    found = conditions(silo, "packages", "store", "node", "checkpoint")
    words = {label: condition.word for label, condition in found.items()}
    words.pop("store")  # as much as the disk has
    assert words == {
        "packages": Word.GOOD, "checkpoint": Word.GOOD,
        "node web": Word.GOOD, "node reading-room": Word.WARNING,
    }  # fmt: skip
    assert re.fullmatch(r"1 package merged, the last 6[01] minutes ago", found["node web"].said)
    lines = metrics_of(look(silo.path)).splitlines()
    for line in ("silo_crawl_packages_verified 1", 'silo_crawl_node_waiting{of="reading-room"} 1',
                 'silo_crawl_state{what="node"} 1'):  # fmt: skip
        assert line in lines
    assert found["node reading-room"].said.startswith(
        "0 packages merged; 1 package waits, own-1 since "
    )
    assert "silo crawl merge --store STORE --node reading-room DIR" in str(found)


def test_a_package_under_embargo_makes_no_node_late(silo: Silo, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    kept(silo, tmp_path / "store", *list(PackageState)[1:-1], ago=30 * DAY)
    settings = StoreSettings(str(tmp_path / "store"), embargo_days=60, nodes=("web",))
    store_settings(silo.path, settings)
    assert conditions(silo, "node")["node web"].word is Word.GOOD


def test_a_store_that_is_gone_or_does_not_answer_is_an_alert(silo: Silo, tmp_path: Path) -> None:
    store_settings(silo.path, StoreSettings(str(tmp_path / "store")))
    assert conditions(silo, "store")["store"].word is Word.GOOD  # it is new
    kept(silo, tmp_path / "store", PackageState.PACKAGED)
    gone = conditions(silo, "store")["store"]
    assert (gone.word, gone.advice) == (Word.ALERT, "mount it")
    store_settings(silo.path, StoreSettings("sftp://nobody@127.0.0.1:1/x"))
    assert conditions(silo, "store")["store"].word is Word.ALERT


def test_what_cannot_be_read_is_an_alert(silo: Silo, tmp_path: Path) -> None:
    one = kept(silo, tmp_path, PackageState.PACKAGED)
    Path(state_file(silo.path, one.id)).write_text("{")
    found = conditions(silo, "packages")["packages"]
    assert (found.word, "damaged" in found.said) == (Word.ALERT, True)
    Path(store_file(silo.path)).write_text("store = 3")
    assert {one.word for one in conditions(silo, "packages", "store").values()} == {Word.ALERT}


# --------------------------------------------------------------------------- tried again


def dead(queues: SqliteQueues, queue: str) -> None:
    queues.failed(queues.take(queue), "x.warc.gz is not there", None)


def test_a_step_that_failed_too_often_is_revived(silo: Silo, queues: SqliteQueues) -> None:
    one, other = package("own-1", PackageState.PACKAGED), package("own-2", PackageState.PACKAGED)
    for some in (one, other):
        queues.put([package_message(TO_SIP, some)])
        dead(queues, TO_SIP)
    assert retry(queues, one)
    assert [two.key for two in queues.peek(TO_SIP)] == ["own-1"]
    assert not retry(queues, one)  # it waits already
    assert [two.key for two in queues.peek(TO_SIP, MessageState.DEAD)] == ["own-2"]


def test_a_package_without_a_message_gets_one(silo: Silo, queues: SqliteQueues) -> None:
    assert retry(queues, package())
    assert retry(queues, package("own-2", PackageState.PACKAGED))
    assert queues.sizes()[TO_PACKAGE].waiting == queues.sizes()[TO_SIP].waiting == 1
    assert not retry(queues, package("own-3", *list(PackageState)[1:]))


def test_checkpoints_without_a_package_are_told_with_their_reasons(
    silo: Silo, queues: SqliteQueues
) -> None:
    names = ("cp00001-20261128110000", "cp00002-20261128120000")
    queues.put([checkpoint_message("own", names[0])])
    dead(queues, TO_PACKAGE)
    queues.put([checkpoint_message("own", names[1])])
    found = unbegun(silo.path, queues)
    assert sorted(found) == [
        Unbegun(f"own-{names[0]}", "x.warc.gz is not there", True),
        Unbegun(f"own-{names[1]}", "", False),
    ]
    keep_package(silo.path, package(f"own-{names[1]}"))
    assert len(unbegun(silo.path, queues)) == 1
