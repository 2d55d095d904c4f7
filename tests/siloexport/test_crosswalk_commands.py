"""`silo export crosswalk …`: list, check, show."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command

MINE = """version = 2
[prefixes]
dc = "http://purl.org/dc/elements/1.1/"
oai_dc = "http://www.openarchives.org/OAI/2.0/oai_dc/"
[[format]]
root = "oai_dc:dc"
fields = [{ from = "dc:title", to = "http://schema.org/name" }]
[[format]]
root = "thing"
described = true
"""


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        silo_command, ["export", "crosswalk", *arguments], standalone_mode=False
    )
    if result.exception is not None:
        return int(getattr(result.exception, "exit_code")), str(result.exception)  # noqa: B009
    said = result.stdout if "--json" in arguments else result.output
    return int(result.return_value or 0), said


def test_built_in_crosswalks_are_listed() -> None:
    code, said = call("list", "--json")
    assert (code, [one["name"] for one in json.loads(said)]) == (0, ["default", "dcterms-1"])
    assert "dcterms-1" in call("list")[1]


def test_a_crosswalk_is_checked_and_tried_on_records(silo: Silo, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE)
    code, said = call("check", str(mine))
    assert (code, "valid; version 2, merge first, 2 formats, 1 field\n" in said) == (0, True)
    code, said = call("check", str(mine), silo.path, "--json")
    assert (code, json.loads(said)["read"]) == (0, [3, 0])
    mine.write_text(MINE.replace("oai_dc:dc", "oai_dc:other"))
    code, said = call("check", str(mine), silo.path)
    assert (code, "3  read by no format: oai_dc (oai:example.org:1" in said) == (1, True)
    mine.write_text(MINE.replace("oai_dc:dc", "oai_dc:dcc"))
    code, said = call("check", str(mine))
    assert (code, f"{mine}, line 6," in said) == (2, True)


def test_what_a_record_becomes_is_shown(silo: Silo, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE)
    code, said = call("show", silo.path, "2")
    assert code == 0
    assert 'dcterms:title         "Two"  [oai_dc]' in said
    code, said = call(
        "show", silo.path, "2", "--crosswalk", str(mine), "--version", "1", "--turtle",
        "--to", "http://f.example/rest/mine",
    )  # fmt: skip
    assert 'schema:name "Two"' in said
    assert "<http://f.example/rest/mine/oai+example,org+2>" in said
    code, said = call("show", silo.path, "2", "--json")
    assert json.loads(said)["statements"][0] == {
        "subject": "info:fedora/oai+example,org+2", "predicate": "http://purl.org/dc/terms/title",
        "value": "Two", "kind": "literal", "file": "oai_dc",
    }  # fmt: skip
    mine.write_text(MINE.replace("oai_dc:dc", "other"))
    code, said = call("show", silo.path, "2", "--crosswalk", str(mine))
    assert (code, "no format of" in said) == (1, True)
    assert call("show", silo.path, "2", "--crosswalk", str(tmp_path / "none"))[0] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["crosswalk", "check", "default"],
        ["crosswalk", "show", "SILO", "2"],
        ["fedora", "run", "SILO", "--to", "http://127.0.0.1:9/rest"],
        ["fedora", "plan", "SILO", "--to", "http://127.0.0.1:9/rest"],
    ],
)
def test_without_the_extra_a_command_says_what_to_install(
    silo: Silo, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    given = [silo.path if one == "SILO" else one for one in arguments]
    result = CliRunner().invoke(silo_command, ["export", *given], standalone_mode=False)
    assert " needs the package rdflib; install it: " in str(result.exception)
    assert call("list")[0] == 0
