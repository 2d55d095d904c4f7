"""A command to run, and a Silo to run it on."""

import io
import sys
from pathlib import Path

import pytest
from cli_results import Harvest, Result, Run

from recordsilo import Silo
from recordsilo.cli import _run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "argv", ["silo", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = _run()
        captured = capfdbinary.readouterr()
        return Result(int(code), captured.out.decode(), captured.err.decode())

    return call


@pytest.fixture
def myrepo(tmp_path: Path, harvest: Harvest) -> str:
    path = str(tmp_path / "myrepo")
    with Silo(path, identifier_uri_prefix="oai:x:") as silo:
        harvest(silo, "oai:x:1", sets=("a:b",), title="Möwen")
        harvest(silo, "oai:x:2", sets=("ab",), title="Terns")
        harvest(silo, "oai:x:3/4", title="Auks")
        silo["2"].clone_version("1", "workingcopy")
        silo.get_item("local").put_stream("note.txt", "x")
    return path
