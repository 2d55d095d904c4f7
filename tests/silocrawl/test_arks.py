"""ARKs: the published check character, and no ARK twice, whatever is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from silocrawl.packages.arks import (
    CHARACTERS,
    Arks,
    ArksUnreadable,
    ark_of,
    check_character,
    is_right,
)
from silocrawl.packages.layout import arks_file, package_directory, state_file


def test_the_published_example_has_its_check_character() -> None:
    assert check_character("13030/xf93gt2") == "q"
    assert is_right("ark:/13030/xf93gt2q")


def test_wrong_and_swapped_characters_are_found() -> None:
    for number in range(0, 40_000, 997):
        name = ark_of(number, "99999", "s1").removeprefix("ark:/")
        for place in range(6, len(name)):
            for other in CHARACTERS:
                wrong = name[:place] + other + name[place + 1 :]
                assert is_right(wrong) == (wrong == name)
        for place in range(6, len(name) - 1):
            swapped = name[:place] + name[place + 1] + name[place] + name[place + 2 :]
            assert is_right(swapped) == (swapped == name)


@pytest.mark.long
def test_numbers_have_different_arks() -> None:
    arks = {ark_of(number, "12148", "x5") for number in (*range(100_000), 29**4 - 1, 29**4)}
    assert len(arks) == 100_002
    assert ark_of(1, "12148", "x5").startswith("ark:/12148/x50001")


def test_the_same_thing_keeps_its_ark(tmp_path: Path) -> None:
    with Arks(str(tmp_path), "99999", "s1") as arks:
        first = arks.mint("p", ["", "a.warc.gz"])
        assert arks.mint("q", [""]) != first
    with Arks(str(tmp_path), "12148", "x5") as arks:
        assert arks.mint("p", ["a.warc.gz", ""]) == first
        again = arks.mint("p", ["b.warc.gz"])["b.warc.gz"]
        assert again.startswith("ark:/12148/x5")
        assert arks.of("p") == {**first, "b.warc.gz": again}


def test_without_its_file_nothing_is_minted_for_a_silo_with_packages(tmp_path: Path) -> None:
    with Arks(str(tmp_path), "99999", "s1") as arks:
        arks.mint("p", [""])
    os.makedirs(package_directory(str(tmp_path), "p"))
    os.unlink(arks_file(str(tmp_path)))
    with Arks(str(tmp_path), "99999", "s1") as arks, pytest.raises(ArksUnreadable, match="backup"):
        arks.mint("q", [""])
    assert not os.path.exists(arks_file(str(tmp_path)))


@pytest.mark.parametrize("kept", [b"", None], ids=["emptied", "an old copy"])
def test_an_old_file_does_not_give_arks_again(tmp_path: Path, kept: bytes | None) -> None:
    path = Path(arks_file(str(tmp_path)))
    for name in ("p", "q"):
        with Arks(str(tmp_path), "99999", "s1") as arks:
            given = arks.mint(name, ["", "a.warc.gz"])
        if name == "p":
            old = path.read_bytes()
        note = Path(state_file(str(tmp_path), name))
        note.parent.mkdir(parents=True)
        note.write_text("{}")
    newest = path.read_bytes()
    path.write_bytes(old if kept is None else kept)
    with (
        Arks(str(tmp_path), "99999", "s1") as arks,
        pytest.raises(ArksUnreadable, match="older than the package"),
    ):
        arks.mint("r", [""])
    path.write_bytes(newest)
    with Arks(str(tmp_path), "99999", "s1") as arks:
        assert arks.mint("r", [""])[""] not in given.values()


_MINTS = """
import sys
from silocrawl.packages.arks import Arks
place, package = sys.argv[1:]
with Arks(place, "99999", "s1") as arks:
    for number in range(1_000_000):
        names = [f"{number}-{one}" for one in range(3)]
        for name, ark in arks.mint(package, names).items():
            print(name, ark, flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_minters_never_give_an_ark_twice(kills: int, tmp_path: Path) -> None:
    given: dict[tuple[str, str], str] = {}
    for turn in range(kills):
        package = f"p{turn % 7}"
        command = [sys.executable, "-c", _MINTS, str(tmp_path), package]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            time.sleep(random.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        for line in lines:
            if line.endswith("\n"):
                name, ark = line.split()
                assert given.setdefault((package, name), ark) == ark
    assert len(set(given.values())) == len(given) > kills
    with Arks(str(tmp_path), "99999", "s1", "read") as arks:
        kept = {(one, name): ark for one in {key[0] for key in given}
                for name, ark in arks.of(one).items()}  # fmt: skip
    assert given.items() <= kept.items()
    assert len(set(kept.values())) == len(kept)
