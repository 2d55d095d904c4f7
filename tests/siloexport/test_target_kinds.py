"""Targets that other packages contribute: their command, their form and their job."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click
import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.selection import Selection
from siloexport.commands.export import export
from siloexport.errors import ExportError
from siloexport.jobs import EXPORT, place_of
from siloexport.target_kinds import (
    GROUP,
    FieldAvailability,
    FormField,
    Opening,
    TargetKind,
    Values,
    checked,
    kind_named,
)
from siloexport.targets import Target
from siloexport.targets.files import FilesTarget
from siloexport.targets.tables import TableReport
from silowork.errors import JobRefused
from silowork.forms import Input
from silowork.kinds import read_request
from silowork.running import run_job
from silowork.service import Jobs

Contribute = Callable[[str, str, Any], None]
FIELDS = (
    FormField("mark", "Mark", required=True, example="x"),
    FormField("least", "At least", Input.NUMBER, default="1"),
    FormField("colour", "Colour", Input.CHOICE, choices=(("red", "Red"), ("blue", "Blue"))),
    FormField("names", "Names", Input.TEXTS),
)


def write(
    silo: Silo,
    selection: Selection,
    out: BinaryIO,
    values: Values,
    progress: Callable[[int], None],
) -> TableReport:
    for number, identifier in enumerate(selection.iterate(silo), 1):
        out.write(f"{values['mark']}{values['least']}{values['names']} {identifier}\n".encode())
        progress(number)
    return TableReport(number, number)


LIST = TargetKind(
    "made-up", "Made up", "Export a list", "Write a list.", FIELDS,
    ("silo export made-up myrepo list.txt --mark x",), write=write, ending="txt",
    media_type="text/plain",
)  # fmt: skip


@pytest.fixture
def few(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "myrepo"), uri_base="http://x.org/") as silo:
        for name in ("a", "b"):
            silo.get_item(name).put_stream("oai_dc", "<dc><title>T</title></dc>", None, True)
        yield silo


@pytest.fixture(autouse=True)
def _commands(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(export, click.Group)
    monkeypatch.setattr(export, "commands", dict(export.commands))


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(export, arguments, standalone_mode=False)
    assert (done.return_value or 0) == code, done.output
    return done.output


def test_a_contributed_file_is_a_command(few: Silo, contribute: Contribute, tmp_path: Path) -> None:
    contribute(GROUP, "made-up", LIST)
    out = tmp_path / "list.txt"
    run("made-up", few.path, str(out), "--mark", "x", "--names", "p", "--names", "q", "-q")
    assert out.read_text() == "x1['p', 'q'] a\nx1['p', 'q'] b\n"
    assert "made-up" in run("--help")


def test_a_contributed_file_is_a_job_with_the_same_fields(
    few: Silo, contribute: Contribute
) -> None:
    contribute(GROUP, "made-up", LIST)
    fields = {"form": "made-up", "name": "l", "mark": "y", "least": "2.5", "names": "p q"}
    asked = read_request("export", fields, few.path, 2)
    job = Jobs.of(few.path).begin("export", asked.title, asked.arguments, "ada")
    run_job(few.path, job.job_id)
    path = place_of(few.path, "l", "made-up")
    assert path.endswith("/myrepo.exports/l.txt")
    assert Path(path).read_text() == "y2.5['p', 'q'] a\ny2.5['p', 'q'] b\n"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, r"the field mark \(Mark\) is required"),
        ({"mark": "x", "least": "many"}, r"the field least \(At least\) must be a number"),
        ({"mark": "x", "colour": "green"}, r"the field colour \(Colour\) must be one of red, blue"),
    ],
)
def test_what_is_wrong_in_a_form_is_said_with_the_field(
    few: Silo, contribute: Contribute, fields: dict[str, str], sentence: str
) -> None:
    contribute(GROUP, "made-up", LIST)
    with pytest.raises(ExportError, match=sentence):
        checked(LIST, fields, few.path, FieldAvailability.PAGE)
    with pytest.raises(JobRefused, match=sentence):
        read_request("export", {"form": "made-up", "name": "l", **fields}, few.path, 2)
    of_command = re.sub(r"the field (\w+) \S+ ?\S*\)", r"--\1", sentence)
    assert of_command.startswith("--")
    with pytest.raises(ExportError, match=of_command):
        checked(LIST, fields, few.path, FieldAvailability.COMMAND)


def test_a_contributed_place_has_a_group_of_commands(
    few: Silo, contribute: Contribute, tmp_path: Path
) -> None:
    @contextmanager
    def opened(opening: Opening) -> Iterator[Target]:
        yield FilesTarget(opening.values["where"], opening.versions)

    field = FormField("where", "Where", required=True, option="--to", example="/mnt/archive")
    kind = TargetKind("archive", "Archive", "Export to an archive", "Keep.", (field,), open=opened)
    contribute(GROUP, "archive", kind)
    to = ("--to", str(tmp_path / "out"))
    assert "silo export archive plan myrepo --to /mnt/archive" in run("archive", "plan", "--help")
    run("archive", "run", few.path, *to, "-q")
    assert (tmp_path / "out/a").is_dir()
    run("archive", "verify", few.path, *to, "-q")
    (tmp_path / "out/a/oai_dc").write_text("changed")
    run("archive", "verify", few.path, *to, "-q", code=4)


def test_a_broken_target_is_named_and_the_others_work(
    few: Silo, contribute: Contribute, tmp_path: Path
) -> None:
    contribute(GROUP, "broken", "no kind")
    assert "(cannot be loaded)" in run("--help")
    with pytest.raises(JobRefused, match=r"'broken' of the package .* is not a TargetKind"):
        read_request("export", {"form": "broken", "name": "x"}, few.path, 2)
    out = tmp_path / "table.csv"
    run("csv", few.path, str(out), "-q")
    assert len(out.read_text(encoding="utf-8-sig").splitlines()) == 3
    assert EXPORT.name == "export"
    assert kind_named("files").is_directory


@pytest.mark.parametrize("name", ["search", "q", "counted", "name"])
def test_a_field_cannot_have_a_name_that_every_export_uses(name: str) -> None:
    with pytest.raises(ValueError, match=f"cannot be called '{name}'"):
        FormField(name, "Mine")
