"""`silo init`: an empty Silo, with or without a repository."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from oaipmhprovider.server import SampleServer
from recordsilo import Silo
from recordsilo.cli import silo_command


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(silo_command, ["init", *arguments])
    return done.exit_code, done.output


def test_an_empty_silo_is_made_and_knows_its_repository(tmp_path: Path) -> None:
    made = str(tmp_path / "new")
    with SampleServer(size=5) as server:
        follow = f"to fill it: silo harvest {server.base_url} {made}"
        assert run(made, server.base_url) == (0, f"{made} is an empty Silo; {follow}\n")
        with Silo(made, create=False) as silo:
            assert (len(silo), silo.state["base_oai_url"]) == (0, server.base_url)
            assert silo.state["identifier_uri_prefix"] == "oai:eprints.example.org:"
        done = CliRunner().invoke(silo_command, ["harvest", server.base_url, made, "--quiet"])
        assert done.exit_code == 0, done.output
    (tmp_path / "empty").mkdir()
    assert run(str(tmp_path / "empty"))[0] == 0


def test_a_repository_that_does_not_answer_makes_nothing(tmp_path: Path) -> None:
    with SampleServer(size=5) as server:
        address = server.base_url
    code, output = run(str(tmp_path / "new"), address)
    assert (code, "Traceback" in output) == (3, False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("silo", "", "is a Silo already"),
        ("papers", "", "holds other files"),
        ("new", "not an address", "not an http or https URL"),
        ("no/parent", "", "no/parent"),
    ],
)
def test_nothing_is_made_elsewhere(tmp_path: Path, name: str, url: str, said: str) -> None:
    Silo(str(tmp_path / "silo")).close()
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "one.pdf").touch()
    before = sorted(tmp_path.rglob("*"))
    code, output = run(str(tmp_path / name), *filter(None, [url]))
    assert (code, said in output) == (2, True), output
    assert sorted(tmp_path.rglob("*")) == before
