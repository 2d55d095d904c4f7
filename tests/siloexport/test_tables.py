"""Tables, lists and zips: their content, and that they are complete or missing."""

import csv
import io
import json
import os
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recordsilo import Silo
from recordsilo.cells import languages_joined, languages_split
from recordsilo.cli import CommandFailure
from siloexport import Selection, Versions
from siloexport.commands.exit_codes import ExportExit
from siloexport.commands.export import export
from siloexport.errors import FileChanged
from siloexport.targets.bag import write_bag
from siloexport.targets.bag_settings import BagSettings
from siloexport.targets.tables import (
    FIELDS,
    USUAL,
    TableReport,
    exported_file,
    write_csv,
    write_deposits_zip,
    write_jsonl,
    write_links,
    write_zip,
)

Change = Callable[..., None]
BAGS = partial(write_bag, settings=BagSettings(), day="2026-11-29")
RICH = (
    b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xml="http://www.w3.org/XML/1998/namespace">'
    b'<dc:title xml:lang="de">=SUM(A1)</dc:title><dc:creator>A || B|</dc:creator>'
    b"<dc:creator>M\xc3\xbcller, J.</dc:creator>"
    b"<dc:identifier>https://example.org/1</dc:identifier>"
    b"<dc:relation>https://example.org/1</dc:relation>"
    b"<dc:relation>http://example.org/2?a=1&amp;b=2</dc:relation></oai_dc:dc>"
)


@pytest.fixture
def rich(silo: Silo) -> Silo:
    silo["2"].put_stream("oai_dc", RICH, metadata=True)
    return silo


def rows(silo: Silo, selection: Selection, *columns: str) -> list[list[str]]:
    out = io.StringIO(newline="")
    write_csv(silo, selection, out, columns or USUAL)
    return list(csv.reader(io.StringIO(out.getvalue(), newline="")))


def test_table_has_a_row_for_each_live_record(silo: Silo) -> None:
    assert rows(silo, Selection(), "record", "version", "sets", "dc:title") == [
        ["record", "version", "sets", "dc:title"],
        ["oai:example.org:1", "1", "a", "One"],
        ["oai:example.org:2", "workingcopy", "a:b", "Two"],
        ["oai:example.org:3", "1", "ab", "Three"],
    ]


def test_values_are_set_apart_and_formulas_are_disarmed(rich: Silo) -> None:
    found = rows(rich, Selection(identifiers=("oai:example.org:2",)), "dc:title", "dc:creator")
    assert found[1] == ["'=SUM(A1)", r"A |\| B\|||Müller, J."]


def test_json_lines_keep_languages_and_leave_out_what_is_empty(rich: Silo) -> None:
    out = io.StringIO()
    columns = ("record", "dc:title", "dc:date", "value_languages")
    write_jsonl(rich, Selection("title:sum"), out, columns)
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {"record": "oai:example.org:2", "dc:title": [{"text": "=SUM(A1)", "lang": "de"}]}
    ]


def test_the_languages_of_values_have_a_column(rich: Silo) -> None:
    head, *found = rows(rich, Selection("title:sum"))
    assert head[-1] == "value_languages"
    assert found[0][-1] == "title=de"
    content = RICH.replace(b"<dc:creator>M", b'<dc:creator xml:lang="en_US">M')
    rich["2"].put_stream("oai_dc", content, metadata=True)
    _, (cell,) = rows(rich, Selection("title:sum"), "value_languages")
    assert cell == "title=de creator=-,en_US"
    odd = {"title": ["de"], "creator": ["", "x-a b,-="]}
    assert languages_joined(odd) == "title=de creator=-,x-a%20b%2C-%3D"
    assert languages_split(languages_joined(odd)) == odd
    assert languages_split(languages_joined({"title": ["-", "", "%2D"]})) == {
        "title": ["-", "", "%2D"]
    }


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
def test_languages_that_are_no_tags_are_left_out_and_named(
    rich: Silo, write: Callable[..., TableReport]
) -> None:
    content = RICH.replace(b"<dc:creator>M", b'<dc:creator xml:lang="French; English">M')
    rich["2"].put_stream("oai_dc", content, metadata=True)
    out = io.StringIO(newline="")
    report = write(rich, Selection("title:sum"), out)
    assert "French" not in out.getvalue()
    (note,) = report.notes
    assert note.startswith("1 language left out, because an import takes only language tags")
    assert note.endswith("such as en: 'French; English'")
    report = write(rich, Selection("title:sum"), io.StringIO(), ("record", "dc:title"))
    assert report.notes == []


def test_every_field_there_is_can_be_a_column(rich: Silo) -> None:
    found = rows(rich, Selection(), *FIELDS)
    assert {len(row) for row in found} == {len(FIELDS)}


def test_links_come_once_for_each_field(rich: Silo) -> None:
    out = io.StringIO()
    report = write_links(rich, Selection(), out)
    assert out.getvalue().splitlines() == [
        "url\tidentifier\tfield",
        "http://example.org/2?a=1&b=2\toai:example.org:2\tdc:relation",
        "https://example.org/1\toai:example.org:2\tdc:identifier",
        "https://example.org/1\toai:example.org:2\tdc:relation",
    ]
    assert (report.rows, report.records, report.deleted) == (3, 3, 1)


def test_zip_holds_metadata_files_as_they_are(rich: Silo) -> None:
    out = io.BytesIO()
    write_zip(rich, Selection(), out, ("oai_dc",), Versions.ALL)
    with zipfile.ZipFile(io.BytesIO(out.getvalue())) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "oai+example,org+1/1/oai_dc",
            "oai+example,org+2/1/oai_dc",
            "oai+example,org+2/workingcopy/oai_dc",
            "oai+example,org+3/1/oai_dc",
        ]
        assert archive.read("oai+example,org+2/workingcopy/oai_dc") == RICH
    again = io.BytesIO()
    write_zip(rich, Selection(), again, ("oai_dc",), Versions.ALL)
    assert again.getvalue() == out.getvalue()


@pytest.mark.parametrize("write", [write_zip, partial(write_deposits_zip, write=BAGS)])
def test_records_whose_identifiers_differ_in_case_only_stay_apart_in_a_zip(
    silo: Silo, write: Callable[..., TableReport]
) -> None:
    for identifier in ("oai:example.org:Ab", "oai:example.org:aB", "oai:example.org:STRASSE"):
        silo.get_item(identifier).put_stream("oai_dc", RICH, metadata=True)
    out = io.BytesIO()
    write(silo, Selection(), out)
    with zipfile.ZipFile(out) as archive:
        names = archive.namelist()
    directories = {name.partition("/")[0] for name in names}
    assert {one[:17] for one in directories} >= {"oai+example,org+A", "oai+example,org+a"}
    assert len({one.casefold() for one in directories}) == len(directories) == 6
    assert len({name.casefold() for name in names}) == len(names)
    assert sum("~" in one for one in directories) == 1


@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_links])
def test_record_that_cannot_be_read_is_named_and_has_no_row(
    silo: Silo, write: Callable[..., TableReport]
) -> None:
    whole = write(silo, Selection(), io.StringIO())
    os.unlink(silo["1"].to_dirpath("oai_dc"))
    out = io.StringIO()
    report = write(silo, Selection(), out)
    assert list(report.failed) == ["oai:example.org:1"]
    assert report.records == whole.records - 1
    assert "oai:example.org:1" not in out.getvalue()


def test_record_without_a_readable_manifest_is_named_where_all_are_asked_for(silo: Silo) -> None:
    path = silo["1"].path_to_item()
    whole = write_csv(silo, Selection(), io.StringIO())
    Path(path, "__manifest.json").write_bytes(b"")
    for name in os.listdir(path):
        if name.startswith("__manifest.json."):
            os.unlink(os.path.join(path, name))
    with Silo(silo.path, create=False) as anew:
        report = write_csv(anew, Selection(), io.StringIO())
        assert report.records == whole.records - 1
        assert list(report.failed) == ["oai:example.org:1"]
        assert "cannot be read" in report.failed["oai:example.org:1"]
        assert not write_csv(
            anew, Selection(identifiers=("oai:example.org:2",)), io.StringIO()
        ).failed


@pytest.mark.parametrize("form", ["csv", "jsonl", "links", "zip"])
def test_each_form_is_a_command(silo: Silo, tmp_path: Path, form: str) -> None:
    path = tmp_path / "out.file"
    result = CliRunner().invoke(
        export, [form, silo.path, str(path), "--set", "a"], standalone_mode=False
    )
    assert result.return_value == 0, result.exception
    assert "of 2 records; 0 deleted at the source left out" in result.stdout
    assert path.stat().st_size > 0


def test_without_a_file_the_table_goes_to_standard_output(silo: Silo) -> None:
    arguments = ["csv", silo.path, "--item", "1", "--field", "record"]
    result = CliRunner().invoke(export, arguments, standalone_mode=False)
    assert result.stdout_bytes == b"\xef\xbb\xbfrecord\r\noai:example.org:1\r\n"


def test_field_that_there_is_not_is_named(silo: Silo) -> None:
    arguments = ["csv", silo.path, "--field", "dc:titel"]
    result = CliRunner().invoke(export, arguments, standalone_mode=False)
    assert isinstance(result.exception, CommandFailure)
    assert "no field 'dc:titel'" in str(result.exception)
    assert result.exception.exit_code == 2


FORMS = ("csv", "jsonl", "links", "zip")


def run(form: str, silo: Silo, out: Path, *options: str) -> Result:
    return CliRunner().invoke(export, [form, silo.path, str(out), *options])


@pytest.mark.parametrize("form", FORMS)
def test_file_that_others_changed_is_replaced_only_when_asked(
    silo: Silo, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "out"
    assert run(form, silo, out).exit_code == 0
    silo["1"].clone_version("1", "workingcopy")
    silo["1"].put_stream("oai_dc", RICH, metadata=True)
    assert run(form, silo, out).exit_code == 0
    exported = out.read_bytes()
    out.write_bytes(exported + b"by hand")
    for _ in range(2):
        result = run(form, silo, out)
        assert result.exit_code == ExportExit.CONFLICTS
        assert "--on-conflict overwrite" in result.output
        assert out.read_bytes() == exported + b"by hand"
    assert run(form, silo, out, "--on-conflict", "overwrite").exit_code == 0
    assert out.read_bytes() == exported
    assert run(form, silo, out).exit_code == 0
    assert sorted(os.listdir(tmp_path)) == ["myrepo", "out"]


def test_file_of_somebody_else_is_not_replaced(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "thesis.csv"
    out.write_text("mine")
    refused = run("csv", silo, out)
    assert refused.exit_code == ExportExit.CONFLICTS
    assert "thesis.csv was not exported by this Silo, and was left as it is" in refused.stderr
    assert out.read_text() == "mine"


def test_file_of_another_kind_is_not_replaced(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "x.db"
    assert run("sqlite", silo, out).exit_code == 0
    held = out.read_bytes()
    for kind in ("csv", "jsonl", "links", "zip"):
        refused = run(kind, silo, out)
        assert refused.exit_code == ExportExit.CONFLICTS
        assert "x.db holds an export as sqlite, and was left as it is" in refused.stderr
        assert out.read_bytes() == held
    assert run("sqlite", silo, out).exit_code == 0
    assert run("csv", silo, out, "--on-conflict", "overwrite").exit_code == 0
    assert "holds an export as csv" in run("sqlite", silo, out).stderr


def test_file_whose_kind_an_earlier_release_did_not_note_is_replaced(
    silo: Silo, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    with exported_file(silo.path, str(out)) as file:
        file.write(b"record\n")
    assert run("csv", silo, out).exit_code == 0


def test_file_that_was_taken_away_is_written_again(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run("csv", silo, out)
    out.unlink()
    assert run("csv", silo, out).exit_code == 0


def test_file_changed_while_it_is_exported_stays(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    run("csv", silo, out)
    writing = ExitStack()
    writing.enter_context(exported_file(silo.path, str(out))).write(b"new")
    out.write_text("by hand")
    with pytest.raises(FileChanged, match=r"overwrite it, or choose another name$"):
        writing.close()
    assert out.read_text() == "by hand"
    assert sorted(os.listdir(tmp_path)) == ["myrepo", "out.csv"]


class Killed(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_export_killed_at_the_renaming_can_be_made_again(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    out = tmp_path / "out.csv"
    run("csv", silo, out)
    silo["1"].clone_version("1", "workingcopy")
    rename = os.rename

    def killed(old: str, new: str) -> None:
        if new == str(out):
            if after:
                rename(old, new)
            raise Killed
        rename(old, new)

    for content in (b"second", b"third"):
        with monkeypatch.context() as patched:
            patched.setattr(os, "rename", killed)
            with pytest.raises(Killed), exported_file(silo.path, str(out)) as file:
                file.write(content)
    assert run("csv", silo, out).exit_code == 0


def test_standard_output_and_devices_keep_no_ledger(silo: Silo) -> None:
    for out in (Path("-"), Path("/dev/null"), Path("/dev/null")):
        assert run("csv", silo, out).exit_code == 0
    assert not Path(silo.path, "curation/exports").exists()
