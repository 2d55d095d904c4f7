"""`silo crawl verify` and `silo crawl merge`."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner
from packages_made import AT, SETTINGS, made

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.conditions import Word
from silocrawl.packages.indexing import index
from silocrawl.packages.kept import keep_package, load_package, load_packages
from silocrawl.packages.layout import bag_name, state_file
from silocrawl.packages.store import FileStore, open_store
from silocrawl.packages.submitting import submit
from silocrawl.packages.values import PackageState
from silocrawl.packages.verifying import NotVerified, verify, verify_again
from silocrawl.packages.watching import of_packages

ONE, TWO = "own-cp00001", "own-cp00002"


@pytest.fixture
def store(tmp_path: Path, silo: Silo) -> FileStore:
    """A store with two packages of the Silo."""
    found = open_store(str(tmp_path / "store"), is_new=True)
    for name in (ONE, TWO):
        work = made(Path(silo.path), found, name)
        for step in (submit, index, verify):
            step(work, SETTINGS)
        package = replace(work.package, store=found.address)
        keep_package(silo.path, package.reached(PackageState.VERIFIED, AT))
    return found


class Ran(NamedTuple):
    """What a command ended with."""

    exit_code: int
    stdout: str
    output: str


def _ran(*words: str) -> Ran:
    result = CliRunner().invoke(silo_command, ["crawl", *words], standalone_mode=False)
    if isinstance(result.exception, click.ClickException):
        said = result.output + result.exception.format_message()
        return Ran(result.exception.exit_code, result.stdout, said)
    if result.exception is not None:
        raise result.exception
    return Ran(result.return_value or 0, result.stdout, result.output)


def _damage(store: FileStore, name: str) -> None:
    path = Path(store.place(bag_name(name, "bag-info.txt")))
    path.write_bytes(path.read_bytes().replace(b"own", b"0wn"))


def test_a_sentence_for_each_package(silo: Silo, store: FileStore) -> None:
    done = _ran("verify", silo.path, "--quiet")
    assert done.exit_code == 0
    one, two = done.stdout.splitlines()
    assert one.startswith(f"{ONE} is well: 16 files, ")
    assert two.endswith(", 6 captures")
    _damage(store, TWO)
    done = _ran("verify", silo.path, "--quiet")
    assert done.exit_code == 1
    one, two = done.stdout.splitlines()
    assert one.startswith(f"{ONE} is well")
    assert two.startswith(f"{TWO} is NOT WELL: packages/{TWO}/bag-info.txt is damaged")
    assert _ran("verify", silo.path, "--package", ONE).exit_code == 0
    assert _ran("verify", silo.path, "--package", TWO).exit_code == 1


def test_a_fault_is_noted_until_a_later_verification_finds_none(
    silo: Silo, store: FileStore, tmp_path: Path
) -> None:
    path = Path(store.place(bag_name(TWO, "bag-info.txt")))
    before = path.read_bytes()
    shutil.copytree(store.address, tmp_path / "copy")
    _damage(store, TWO)
    _ran("verify", silo.path)
    assert f"{TWO}: 2 WARC files" in (done := _ran("packages", silo.path)).stdout
    assert f"verified; failed: {TWO} is NOT WELL: packages/{TWO}/bag-info.txt" in done.stdout
    assert done.exit_code == 1
    packages, _ = load_packages(silo.path)
    condition = of_packages(packages, [], AT)
    assert (condition.word, "bag-info.txt is damaged" in condition.said) == (Word.ALERT, True)
    assert _ran("verify", silo.path, "--store", str(tmp_path / "copy")).exit_code == 0
    assert load_package(silo.path, TWO).is_unwell  # the copy is not the store
    with pytest.raises(NotVerified):
        verify_again(silo.path, load_package(silo.path, TWO))
    path.write_bytes(before)
    assert verify_again(silo.path, load_package(silo.path, TWO)).error == ""
    _damage(store, TWO)
    _ran("verify", silo.path)
    path.write_bytes(before)
    _ran("verify", silo.path)
    assert (_ran("packages", silo.path).exit_code, load_package(silo.path, TWO).error) == (0, "")


def test_what_another_step_noted_is_left(silo: Silo, store: FileStore) -> None:
    package = keep_package(silo.path, replace(load_package(silo.path, ONE), error="no more room"))
    _damage(store, ONE)
    assert _ran("verify", silo.path).exit_code == 1
    assert load_package(silo.path, ONE) == package


def test_as_json(silo: Silo, store: FileStore) -> None:
    _damage(store, TWO)
    done = _ran("verify", silo.path, "--json")
    one, two = json.loads(done.stdout)
    assert (one["package"], one["well"], one["captures"], one["faults"]) == (ONE, True, 6, [])
    assert (two["well"], done.exit_code) == (False, 1)
    assert "bag-info.txt is damaged" in two["faults"][0]


def test_what_is_not_there_is_told(silo: Silo, store: FileStore, tmp_path: Path) -> None:
    done = _ran("verify", silo.path, "--package", "other")
    assert (done.exit_code != 0, "there is no package other" in done.output) == (True, True)
    done = _ran("verify", silo.path, "--store", str(tmp_path / "none"))
    assert done.exit_code == 1
    assert done.stdout.count("none is not there; correct the address") == 2
    Path(state_file(silo.path, ONE)).write_text("{")
    done = _ran("verify", silo.path)
    assert done.exit_code == 1
    assert "what is noted of a package is damaged" in done.output


def test_a_package_that_is_not_submitted_yet_is_told(silo: Silo, tmp_path: Path) -> None:
    done = _ran("verify", silo.path)
    assert (done.exit_code, "no packages" in done.output) == (0, True)
    keep_package(silo.path, made(Path(silo.path), open_store(str(tmp_path)), ONE).package)
    done = _ran("verify", silo.path)
    assert (done.exit_code, done.stdout.startswith(f"{ONE} is not submitted yet")) == (0, True)


def test_packages_are_merged_and_the_node_is_verified(
    silo: Silo, store: FileStore, tmp_path: Path
) -> None:
    access = str(tmp_path / "access")
    arguments = ("merge", access, "--store", store.address, "--node", "reading-room")
    done = _ran(*arguments)
    assert (done.exit_code, done.stdout) == (
        0,
        f"{ONE}: merged, 6 captures\n{TWO}: merged, 6 captures\n",
    )
    done = _ran(*arguments)
    assert (done.stdout, done.exit_code) == ("", 0)
    has = f"reading-room has all of {store.address}: 2 packages"
    assert done.output == f"silo: nothing to merge: {has}\n"
    done = _ran("verify", access, "--node", "reading-room")
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{ONE} is well on reading-room: 4 records found")
    (segment, *_) = sorted((tmp_path / "access" / "index").glob("*.cdxj"))
    segment.unlink()
    done = _ran("verify", access, "--node", "reading-room", "--json")
    assert [row["well"] for row in json.loads(done.stdout)] == [False, True]
    assert done.exit_code == 1


def test_an_empty_store_is_said_to_be_one(tmp_path: Path) -> None:
    place = tmp_path / "empty"
    place.mkdir()
    done = _ran("merge", str(tmp_path / "access"), "--store", str(place), "--node", "a")
    said = f"silo: nothing to merge: there is no package in {place}\n"
    assert (done.exit_code, done.output) == (0, said)


def test_merging_says_what_is_wrong(silo: Silo, store: FileStore, tmp_path: Path) -> None:
    access = str(tmp_path / "access")
    _ran("merge", access, "--store", str(tmp_path / "none"), "--node", "a")
    for wrong in (
        ("merge", access, "--store", str(tmp_path / "none"), "--node", "a"),
        ("merge", access, "--store", store.address, "--node", "../a"),
        ("verify", access, "--node", "a"),
    ):
        done = _ran(*wrong)
        assert done.exit_code not in (0, 1)
        assert "Traceback" not in done.output
    store.put(f"receipts/{ONE}.json", b"{}", replaces=True)
    done = _ran("merge", access, "--store", store.address, "--node", "a", "--quiet")
    assert done.exit_code == 1
    assert f"silo: {ONE} is not merged: the receipt of {ONE} is damaged" in done.output
    assert done.stdout == ""
