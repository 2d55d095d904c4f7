"""What one command writes as a table, the others take as it is."""

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from recordsilo import Origin, Silo
from recordsilo.cli import _run
from recordsilo.formats import Description
from recordsilo.records.description import description_of

pytestmark = pytest.mark.long

DOCUMENT = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title xml:lang="en">Tides {0}</dc:title>
 <dc:title xml:lang="de">Gezeiten</dc:title><dc:creator>=Lee, Ann</dc:creator>
 <dc:creator>O|Neil</dc:creator><dc:date>2016</dc:date><dc:identifier>doi:10.5555/{0}</dc:identifier>
</oai_dc:dc>"""


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def call(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["silo", *arguments])
        code = _run()
        captured = capfdbinary.readouterr()
        return Result(int(code), captured.out.decode(), captured.err.decode())

    return call


@pytest.fixture
def tides(tmp_path: Path) -> str:
    path = str(tmp_path / "tides")
    names = [f"oai:tides:{number}" for number in range(3)]
    origin = Origin("harvest", prefixes={"oai_dc": "2026-01-01T00:00:00"})
    with Silo(path) as silo, silo.batch(names) as batch:
        for number, name in enumerate(names):
            edit = batch.edit(name)
            edit.add_version("1", date="2026-01-01T00:00:00", origin=origin, log="harvested")
            edit.put("1", "oai_dc", DOCUMENT.format(number).encode(), metadata=True)
    return path


def descriptions(path: str) -> dict[str, Description]:
    with Silo(path, create=False) as silo:
        return {
            one.item_id: description_of(one.state.current, one.read) for one in silo.iteritems()
        }


def test_a_table_of_export_is_imported_as_records(run: Run, tides: str, tmp_path: Path) -> None:
    table, copy = str(tmp_path / "t.csv"), str(tmp_path / "copy")
    assert run("export", "csv", tides, table, "-q").code == 0
    assert run("import", "csv", table, copy)[:2] == (
        0,
        f"{copy}: 3 records with 3 versions imported, 0 unchanged, 0 not imported\n",
    )
    assert descriptions(copy) == descriptions(tides)


def test_json_lines_of_export_are_imported_with_languages(
    run: Run, tides: str, tmp_path: Path
) -> None:
    table, copy = str(tmp_path / "t.jsonl"), str(tmp_path / "copy")
    assert run("export", "jsonl", tides, table, "-q").code == 0
    assert run("import", "jsonl", table, copy)[:2] == (
        0,
        f"{copy}: 3 records with 3 versions imported, 0 unchanged, 0 not imported\n",
    )
    assert descriptions(copy) == descriptions(tides)


def test_a_spreadsheet_is_imported_as_records(run: Run, tides: str, tmp_path: Path) -> None:
    sheet, copy = str(tmp_path / "s.csv"), str(tmp_path / "copy")
    assert run("sheet", "export", tides, sheet, "--all", "-q").code == 0
    assert run("import", "csv", sheet, copy).code == 0
    found, known = descriptions(copy), descriptions(tides)
    assert {name: sorted(one.titles) for name, one in found.items()} == {
        name: sorted(one.titles) for name, one in known.items()
    }  # a column is one language
    assert found["oai:tides:1"].creators == known["oai:tides:1"].creators


def test_a_table_of_export_is_imported_as_a_spreadsheet(
    run: Run, tides: str, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    assert run("export", "csv", tides, str(table), "-q").code == 0
    as_it_is = run("sheet", "import", tides, str(table))
    assert (as_it_is.code, "3 unchanged" in as_it_is.out) == (0, True)

    before = descriptions(tides)
    table.write_text(table.read_text("utf-8-sig").replace("Gezeiten", "Ebbe und Flut", 2))
    edited = run("sheet", "import", tides, str(table))
    assert (edited.code, "2 done, 1 unchanged" in edited.out) == (0, True)
    after = descriptions(tides)
    assert [one.text for one in after["oai:tides:0"].titles] == ["Tides 0", "Ebbe und Flut"]
    assert after["oai:tides:0"].titles[0].lang == "en"
    assert after["oai:tides:0"].creators == before["oai:tides:0"].creators
    assert "3 unchanged" in run("sheet", "import", tides, str(table)).out

    table.write_text(table.read_text().replace("Ebbe und Flut", "Flut"))
    late = run("sheet", "import", tides, str(table))
    assert (late.code, "2 skipped" in late.out) == (1, True)
    assert "may have been changed since the table was made" in late.out


def test_a_column_that_tables_do_not_have_is_refused(run: Run, tides: str, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("record,version,dc:titel\noai:tides:0,1,Waves\n")
    refused = run("sheet", "import", tides, str(table))
    assert refused.code == 2
    assert "has no column 'dc:titel'; did you mean 'dc:title'" in refused.err


@pytest.mark.parametrize("more", [(), ("--skip-bad",)])
def test_a_table_is_not_taken_for_json_lines(
    run: Run, tmp_path: Path, more: tuple[str, ...]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("identifier,title\na,Tides\nb,Waves\n")
    refused = run("import", "jsonl", str(table), str(tmp_path / "new"), *more)
    assert refused.code == 2
    assert f"none of its 3 lines is JSON. If it is a table: silo import csv {table}" in refused.err
    assert refused.err.count("\n") == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "it is not JSON"),
        ("[1]", "it is not a JSON object"),
        ('{"record": "a", "dc:title": 3}', "its 'dc:title' is no text, and no list of texts"),
        ('{"record": ["a", "b"], "dc:title": "x"}', "it has several values of record"),
        ('{"dc:title": "x"}', "no column is named identifier"),
    ],
)
def test_a_bad_line_of_json_is_told_and_nothing_is_stored(
    run: Run, tmp_path: Path, line: str, why: str
) -> None:
    table, copy = tmp_path / "t.jsonl", tmp_path / "copy"
    table.write_text(f'{{"record": "oai:x:1", "dc:title": "good"}}\n{line}\n')
    refused = run("import", "jsonl", str(table), str(copy))
    assert refused.code == 2
    assert f"silo: line 2: {why}" in refused.err
    assert not copy.exists()


def test_a_sheet_reads_back_what_a_table_has(run: Run, tides: str) -> None:
    rows = list(csv.DictReader(io.StringIO(run("export", "csv", tides, "-").out.lstrip("\ufeff"))))
    assert [one["dc:title"] for one in rows] == [f"Tides {n}||Gezeiten" for n in range(3)]
