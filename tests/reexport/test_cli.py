"""`silo export files`: what it prints and how it ends."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from reexport.cli import export


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(export, ["files", *arguments], standalone_mode=False)
    if result.exception is not None:
        code = getattr(result.exception, "exit_code", None)
        assert code is not None, result.exception
        return code, result.stdout, str(result.exception)
    return result.return_value, result.stdout, result.stderr


def test_counts_are_printed_and_the_exit_is_0(silo: Silo, tmp_path: Path) -> None:
    code, out, _ = run(silo.path, str(tmp_path / "out"), "-q")
    assert (code, out) == (0, "")
    code, out, _ = run(silo.path, str(tmp_path / "out"))
    assert code == 0
    assert "0 created, 0 replaced, 3 unchanged; 1 deleted at the source left out" in out


def test_losses_are_named_and_the_exit_is_1(silo: Silo, tmp_path: Path) -> None:
    os.unlink(silo["1"].to_dirpath("oai_dc"))
    code, out, err = run(silo.path, str(tmp_path / "out"), "--quiet")
    assert code == 1
    assert "oai:example.org:1" in err
    code, out, _ = run(silo.path, str(tmp_path / "out"), "--json")
    assert code == 1
    assert json.loads(out)["problems"][0]["identifier"] == "oai:example.org:1"


def test_items_are_named_in_short_and_url_form(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    code, _, _ = run(silo.path, out, "--item", "1", "--item", "oai+example,org+3")
    assert code == 0
    names = sorted(p.name for p in Path(out).iterdir() if p.is_dir() and p.name != ".silo-notes")
    assert names == ["oai+example,org+1", "oai+example,org+3"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--item", "nope"], "has no record 'nope'"),
        (["--set", "nope"], "no record of .* is selected by set nope"),
        (["--set", "a", "--item", "1"], "not both"),
    ],
)
def test_wrong_input_writes_nothing(
    silo: Silo, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    result = CliRunner().invoke(
        export, ["files", silo.path, str(tmp_path / "out"), *arguments], standalone_mode=False
    )
    assert result.exception is not None
    with pytest.raises(type(result.exception), match=sentence):
        raise result.exception
    assert not (tmp_path / "out").exists()


def test_only_records_in_a_state_are_exported(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    code, _, sentence = run(silo.path, out, "--state", "withheld")
    assert (code, "is selected by state withheld" in sentence) == (2, True)
    silo["1"].set_version_state("1", "ready")
    silo["3"].set_version_state("1", "ready")
    code, printed, _ = run(silo.path, out, "--state", "ready")
    assert code == 0
    assert "2 created" in printed
    names = sorted(p.name for p in Path(out).iterdir() if p.is_dir() and p.name != ".silo-notes")
    assert names == ["oai+example,org+1", "oai+example,org+3"]
    code, printed, _ = run(silo.path, out, "--state", "ready", "--set", "a")
    assert "0 created, 0 replaced, 1 unchanged" in printed


def test_a_record_that_is_named_is_exported_in_its_state_only(silo: Silo, tmp_path: Path) -> None:
    silo["1"].set_version_state("1", "ready")
    out = str(tmp_path / "out")
    code, printed, _ = run(silo.path, out, "--state", "ready", "--item", "1", "--item", "3")
    assert code == 0
    assert "1 created, 0 replaced, 0 unchanged" in printed
