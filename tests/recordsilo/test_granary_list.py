"""`silo ls` of a directory of Silos: names, counts, descriptions, and nothing is created."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import Granary, Silo, SiloNotFound
from recordsilo.cli import ExitCode, _run

Harvest = Callable[..., str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["silo", *arguments])
        code = int(_run())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def silos(tmp_path: Path, harvest: Harvest) -> str:
    path = str(tmp_path / "silos")
    granary = Granary(path)
    for name, identifiers in (("soton", "abc"), ("empty", ""), ("plain", "a")):
        with granary.get_silo(name) as silo:
            for identifier in identifiers:
                harvest(silo, identifier)
    granary.describe_silo("soton", title="Southampton\x1b[2J", contact="x@example.org")
    granary.describe_silo("empty", description="to be harvested")
    granary.sync()
    os.mkdir(f"{path}/notes")
    return path


def test_silos_are_listed_by_name_with_counts_and_titles(silos: str, run: Run) -> None:
    code, out, err = run("ls", silos)
    assert (code, err) == (0, "")
    assert out == "empty\t0\tto be harvested\nplain\t1\t\nsoton\t3\tSouthampton\\x1b[2J\n"


def test_as_json_they_have_their_whole_description(silos: str, run: Run) -> None:
    _, out, _ = run("ls", silos, "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert found[0] == {
        "name": "empty", "records": 0, "description": {"description": "to be harvested"},
    }  # fmt: skip
    assert found[1]["description"] == {}
    assert found[2]["description"]["contact"] == "x@example.org"


def test_listing_makes_nothing_in_a_directory_that_was_never_a_granary(
    tmp_path: Path, run: Run
) -> None:
    Silo(str(tmp_path / "one")).close()
    assert run("ls", str(tmp_path)) == (0, "one\t0\t\n", "")
    assert os.listdir(tmp_path) == ["one"]


def test_a_silo_is_listed_as_one_even_where_silos_lie_in_it(tmp_path: Path, run: Run) -> None:
    Silo(str(tmp_path / "one")).close()
    Silo(str(tmp_path / "one/inner")).close()
    one = str(tmp_path / "one")
    assert run("ls", one) == (
        0,
        "",
        f"silo: no records in {one}; silo harvest URL {one} fetches some\n",
    )


def test_a_directory_without_silos_is_wrong_input(tmp_path: Path, run: Run) -> None:
    code, out, err = run("ls", str(tmp_path))
    assert (code, out) == (ExitCode.USAGE, "")
    assert "is not a Silo" in err
    assert run("ls", str(tmp_path / "nowhere"))[0] == ExitCode.USAGE


@pytest.mark.parametrize(
    "option",
    [["--set", "a"], ["--live"], ["--from", "a"], ["-n", "1"], ["--state", "ready"], ["--curated"]],
)
def test_filters_are_for_the_records_of_a_silo(silos: str, run: Run, option: list[str]) -> None:
    code, out, err = run("ls", silos, *option)
    assert (code, out) == (ExitCode.USAGE, "")
    assert "is a directory of Silos; name one of them" in err


def test_a_silo_that_cannot_be_opened_is_told_and_the_others_go_on(silos: str, run: Run) -> None:
    Path(silos, "plain/persisted_state.json").write_text("{")
    code, out, err = run("ls", silos)
    assert code == ExitCode.LOSSES
    assert [line.split("\t")[:2] for line in out.splitlines()] == [
        ["empty", "0"], ["plain", "?"], ["soton", "3"],
    ]  # fmt: skip
    assert "plain/persisted_state.json cannot be read" in err


def test_a_granary_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SiloNotFound, match="there is no directory"):
        Granary(str(tmp_path / "nowhere"), create=False)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "name",
    ["curation", "Accounts", "fleet", "persisted_state.json", "a.exports", "a.crawls", ".silo",
     "-q", "../a", "a/b", ".."],
)  # fmt: skip
def test_no_new_silo_is_in_the_place_of_the_directorys_own_files(tmp_path: Path, name: str) -> None:
    granary = Granary(str(tmp_path / "many"))
    before = sorted(os.listdir(tmp_path / "many"))
    for make in (granary.get_silo, granary.get_rdf_silo):
        with pytest.raises(SiloNotFound, match="is not a valid name"):
            make(name)
    assert sorted(os.listdir(tmp_path / "many")) == before


def test_a_silo_of_an_earlier_release_keeps_its_name(tmp_path: Path) -> None:
    Silo(str(tmp_path / "fleet")).close()
    with Granary(str(tmp_path)).get_silo("fleet") as silo:
        assert len(silo) == 0
