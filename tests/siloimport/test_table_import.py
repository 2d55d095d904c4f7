"""Rows of tables become records; what is wrong with a row is told with its line."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from importing import call, harvested, what_is_in

from recordsilo import HarvestedRecord, Silo
from recordsilo.cells import joined
from recordsilo.formats import Description, describe
from recordsilo.selection import Selection
from siloexport.targets.tables import write_csv
from siloimport.columns import Meaning, meanings, row_of
from siloimport.errors import ImportProblem

HEAD = "identifier,title,title[de],creator,date,files\n"
ROWS = (
    "oai:x:1,Waves,Wellen,\"Köhler, Hans||Ann Lee\",2016,\n"
    "oai:x:2,\"A, \"\"b\"\"\nover two lines\",,,,pdf/a.pdf\n"
)  # fmt: skip


def table(place: Path, text: str, encoding: str = "utf-8") -> Path:
    (place / "pdf").mkdir(exist_ok=True)
    (place / "pdf" / "a.pdf").write_bytes(b"%PDF")
    path = place / "table.csv"
    path.write_bytes(text.encode(encoding))
    return path


def description(record: HarvestedRecord) -> Description:
    found = describe("oai_dc", record.read("v1", "oai_dc"))
    assert found is not None
    return found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_rows_become_records_that_are_described(tmp_path: Path, encoding: str) -> None:
    path, back = table(tmp_path, HEAD + ROWS, encoding), tmp_path / "back"
    assert "2 records with 2 versions would be imported" in call("csv", path, back, "--dry-run")[1]
    assert not back.exists()
    code, said = call("csv", path, back, "--agent", "ann")
    assert (code, "2 records with 2 versions imported" in said) == (0, True), said
    with Silo(str(back), create=False) as silo:
        one, two = silo["oai:x:1"], silo["oai:x:2"]
        origin = one.state.current.origin
        assert (origin.kind, origin.agent, origin.message) == (
            "import",
            "ann",
            "line 2 of table.csv",
        )
        assert not one.is_curated
        assert one.state.current.metadata_files == ("oai_dc",)
        titles = [(one.text, one.lang) for one in description(one).titles]
        assert titles == [("Waves", ""), ("Wellen", "de")]
        assert [one.text for one in description(one).creators] == ["Köhler, Hans", "Ann Lee"]
        assert two.state.current.paths == ("oai_dc", "pdf/a.pdf")
        assert two.state.current.origin.message == "line 3 of table.csv"
        assert silo.search("wellen").total == 1
    before = what_is_in(Silo(str(back), create=False))
    assert "2 unchanged" in call("csv", path, back)[1]
    assert what_is_in(Silo(str(back), create=False)) == before


def test_columns_are_mapped_and_left_out(tmp_path: Path) -> None:
    text = "Nr;Titel;Autor;Notiz;Stand;Sammlung\n7;Waves;A; B ;x;2020-05-06;\n8;Tides;;x;;a:b\n"
    path = table(tmp_path, text.replace("A; B ;", "A| B ;"))
    options = [
        "--identifier", "Nr", "--prefix", "oai:x:", "--map", "Titel=title[en]",
        "--map", "Autor=creator", "--map", "Notiz=-", "--map", "Stand=datestamp",
        "--map", "Sammlung=sets", "--values", "|",
    ]  # fmt: skip
    assert call("csv", path, tmp_path / "back", *options)[0] == 0
    with Silo(str(tmp_path / "back"), create=False) as silo:
        record = silo["oai:x:7"]
        assert [one.text for one in description(record).creators] == ["A", "B"]
        assert description(record).titles[0].lang == "en"
        assert record.state.date == "2020-05-06T00:00:00"
        assert silo["oai:x:8"].state.metadata["setSpec"] == ["a:b"]


BAD = [
    ("oai:x:3,Title,,,,../secret\n", "'..' is not allowed"),
    ("oai:x:3,Title,,,,/etc/passwd\n", "begins with '/'"),
    ("oai:x:3,Title,,,,none.pdf\n", "line 2: none.pdf cannot be read: No such file"),
    ("oai:x:3,Title,,,,pdf\n", "pdf is not a file"),
    ("oai:x:3,Title,,,,link.pdf\n", "link.pdf is reached through a symbolic link"),
    ("oai:x:3,Title,,,,oai_dc\n", "its file oai_dc has the name of its description"),
    (",Title,,,,\n", "line 2: it has no identifier"),
    ("oai:x:3,,,,,\n", "it has nothing but an identifier"),
    ("oai:x:3,Title,,,,,more\n", "it has more cells than the first row"),
    ("oai:x:3,Ti\x01tle,,,,\n", "it has a control character"),
    ("oai:x:1,Title,,,,\n\noai:x:1,Other,,,,\n", "line 4: oai:x:1 is also in line 2"),
]


@pytest.mark.parametrize(("rows", "why"), BAD)
def test_bad_row_is_told_and_nothing_is_written(tmp_path: Path, rows: str, why: str) -> None:
    (tmp_path / "link.pdf").symlink_to("/etc/passwd")
    (tmp_path / "oai_dc").write_text("x")
    path, back = table(tmp_path, HEAD + rows + "oai:x:9,Good,,,,\n"), tmp_path / "back"
    for more in ([], ["--dry-run"]):
        code, said = call("csv", path, back, *more)
        assert (code, why in said, "1 row is bad, so nothing was stored" in said) == (2, True, True)
    assert not back.exists()
    code, said = call("csv", path, back, "--skip-bad")
    assert (code, "1 not imported" in said) == (1, True), said
    with Silo(str(back), create=False) as silo:
        assert "oai:x:9" in silo


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (HEAD.encode() + "oai:x:1,Größe,,,,\n".encode("latin-1"), "line 2 of {path} is not UTF-8"),
        ((HEAD + ROWS).encode("utf-16"), "line 1 of {path} is not UTF-8"),
        (HEAD.encode() + b"a\0,b,,,,\n", "line 2 of {path} has null characters"),
        (
            HEAD.encode() + b'oai:x:1,"open,,,,\nmore\n',
            "row that begins in line 2 of {path} is not",
        ),
        (HEAD.replace("\n", "\r").encode() + b"a,b,,,,\r", "a line ends in CR alone"),
        (b"", "has no first row with the names of its columns"),
        (HEAD.encode(), "has no rows to import, only the names of its columns"),
        (b"name,title\nx,y\n", "no column is named identifier"),
        (
            b"identifier,Titel\nx,y\n",
            "'Titel' is not an element of Dublin Core; say which by --map 'Titel=subject'",
        ),
        (b"identifier,title,title\nx,y,z\n", "the column 'title' is there twice"),
        (b"identifier,,title\nx,y,z\n", "column 2 has no name in the first row"),
    ],
)
def test_what_is_no_table_is_told_and_nothing_is_written(
    tmp_path: Path, content: bytes, why: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    code, said = call("csv", path, tmp_path / "back", "--skip-bad")
    assert (code, why.format(path=path) in said) == (2, True), said
    assert not (tmp_path / "back").exists()


def test_wrong_options_are_told(tmp_path: Path) -> None:
    path, back = table(tmp_path, HEAD + ROWS), tmp_path / "back"
    cases = {
        ("--map", "title"): "does not say COLUMN=ELEMENT",
        ("--map", "Title=title"): "there is no column 'Title'; did you mean 'title'",
        ("--map", "date=datum"): "'datum' is not an element of Dublin Core",
        ("--identifier", "id"): "there is no column 'id'",
        ("--delimiter", ";;"): "is more than one character",
    }
    for options, why in cases.items():
        code, said = call("csv", path, back, *options)
        assert (code, why in said) == (2, True), said
    assert "cannot be read: No such file" in call("csv", tmp_path / "none.csv", back)[1]
    assert "cannot be read: Is a directory" in call("csv", tmp_path, back)[1]
    assert not back.exists()


def test_records_that_exist_are_never_changed(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "myrepo")) as silo:
        harvested(silo, "oai:x:1", "Harvested")
        before = what_is_in(silo)["oai:x:1"]
        path = table(tmp_path, HEAD + ROWS)
        code, said = call("csv", path, silo.path)
        assert (code, "oai:x:1 was not imported: the Silo has a record of this" in said) == (
            1,
            True,
        )
        assert what_is_in(silo)["oai:x:1"] == before
        assert "oai:x:2" in silo


def test_an_exported_table_is_imported_as_it_is(tmp_path: Path) -> None:
    exported, back = tmp_path / "exported.csv", tmp_path / "back"
    with Silo(str(tmp_path / "myrepo")) as silo:
        for identifier, title in (("oai:x:1", "=Waves"), ("oai:x:2", "Tides")):
            harvested(silo, identifier, title)
        with exported.open("w", encoding="utf-8-sig", newline="") as stream:
            write_csv(silo, Selection(), stream)
    assert "version" in exported.read_text("utf-8-sig").partition("\n")[0].split(",")
    assert call("csv", exported, back)[0] == 0
    with Silo(str(back)) as silo:
        assert [description(silo[one]).title for one in silo] == ["=Waves", "Tides"]
        assert silo["oai:x:1"].date == "2024-05-01T00:00:00"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("title=de,-", [("title", "A", "de"), ("title", "B", ""), ("title", "C", "fr")]),
        ("subject=en title=-,en", [("title", "A", ""), ("title", "B", "en"), ("title", "C", "fr")]),
        ("", [("title", "A", ""), ("title", "B", ""), ("title", "C", "fr")]),
        ("title=de", "names 1 language of title, which has 2 values there; correct that cell"),
        ("title", "'title' does not name an element and languages"),
        ("title=de,de Title=en,en", "does not name an element and languages"),
        ("Title=de,en_US", [("title", "A", "de"), ("title", "B", "en_US"), ("title", "C", "fr")]),
        ("nosuch=de", "names 'nosuch', which is not an element of Dublin Core"),
        ("titel=de,de", "did you mean 'title'"),
        ("=de", "does not name an element and languages"),
        ("+title=de,de", r"names '\+title', which is not"),
        ("'title=de,de", r"names .'title.,"),
        ("title=%00,-", r"'\\x00' is not a language tag"),
        ("title=%0A%22%3E%3Cscript%3E,-", "is not a language tag"),
        ("title=%FF,-", "'%FF' is not percent-encoded UTF-8"),
        ("title=e%n,-", "'e%n' is not percent-encoded UTF-8"),
        ("title=de%2Cen,-", "'de,en' is not a language tag"),
        ("title=internationalised,-", "is not a language tag"),
    ],
)
def test_a_column_tells_the_languages_of_values(
    cell: str, expected: str | list[tuple[str, str, str]]
) -> None:
    columns = meanings(["record", "title", "title[fr]", "value_languages"], {})
    if isinstance(expected, str):
        with pytest.raises(ImportProblem, match=expected):
            row_of(2, ["oai:x:1", "A||B", "C", cell], columns, "||")
    else:
        found = row_of(2, ["oai:x:1", "A||B", "C", cell], columns, "||")
        assert list(found.values) == expected


@pytest.mark.parametrize("lang", ['"\\u0000"', '"\\ud800"', '"a b"', "5", '["de"]'])
def test_a_language_of_json_lines_is_named_with_its_line_if_it_is_no_tag(
    tmp_path: Path, lang: str
) -> None:
    (tmp_path / "t.jsonl").write_text(
        '{"record": "oai:x:1", "title": {"text": "A", "lang": ""}}\n'
        f'{{"record": "oai:x:2", "title": {{"text": "T", "lang": {lang}}}}}\n'
    )
    status, said = call("jsonl", tmp_path / "t.jsonl", tmp_path / "back")
    assert status == 2
    assert "line 2: " in said
    assert "is not a language tag" in said


TEXTS = st.text(st.characters(exclude_categories=["C"]), min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.lists(TEXTS, max_size=3), min_size=1, max_size=4))
def test_cells_come_back_as_the_values_that_were_written(values: Sequence[Sequence[str]]) -> None:
    heads = ["record", *("title", "creator", "subject[de]", "rights")[: len(values)]]
    columns = meanings(heads, {})
    assert columns[0] == Meaning("record")
    cells = ["oai:x:1", *(joined(one) for one in values)]
    expected = [
        (meaning.name, text.strip(), meaning.lang)
        for meaning, some in zip(columns[1:], values, strict=True)
        for text in some
    ]
    if any(text.startswith("'") for some in values for text in some):
        return  # an apostrophe before a formula is taken off
    if expected:
        assert list(row_of(2, cells, columns, "||").values) == expected
    else:
        with pytest.raises(ImportProblem, match="nothing but an identifier"):
            row_of(2, cells, columns, "||")
