"""Records exported to a spreadsheet are imported as a batch edit, whatever program edited it."""

import csv
import io
from collections.abc import Callable
from xml.sax.saxutils import escape, quoteattr

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsilo import Silo
from silocuration.batch.job import create_job, preview, run_job, undo_job
from silocuration.batch.journal import Doing
from silocuration.batch.specs import sheet_job
from silocuration.batch.spreadsheet import (
    Column,
    SheetRow,
    columns_of,
    read_csv,
    write_csv,
)
from silocuration.editing.fields import Field, Fields, read_fields, said, sound_text
from silocuration.errors import SpreadsheetRefused

Fill = Callable[..., list[str]]


def exported(silo: Silo, identifiers: list[str], **how: object) -> list[list[str]]:
    out = io.StringIO(newline="")
    write_csv(silo, identifiers, out, **how)  # type: ignore[arg-type]
    return list(csv.reader(io.StringIO(out.getvalue(), newline="")))


DC = '<dc xmlns:dc="http://purl.org/dc/elements/1.1/">{}</dc>'


def say(silo: Silo, identifier: str, fields: Fields) -> None:
    """Give a record a working copy with these fields, also some that its format does not have."""
    record = silo[identifier]
    if not record.is_curated:
        record.clone_version("1", "workingcopy")
    lines = [
        f"<dc:{one.name} xml:lang={quoteattr(one.lang)}>{escape(one.text)}</dc:{one.name}>"
        for one in fields
    ]
    record.put_stream("oai_dc", DC.format("".join(lines)).encode(), metadata=True)


def as_csv(rows: list[list[str]], delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode()


def fields_of(silo: Silo, identifier: str) -> tuple[tuple[str, str, str], ...]:
    with silo[identifier].get_stream("oai_dc") as stream:
        return said(read_fields(stream.read()))


def test_a_row_is_a_record_and_a_column_a_field_in_a_language(silo: Silo, fill: Fill) -> None:
    identifiers = fill(2, subject=["tides", "a||b", "=SUM(1)"], date="1999")
    head, first, _ = exported(silo, identifiers)
    assert head == ["identifier", "mark", "title", "subject", "date"]
    assert first[2:] == ["Record 0", "tides||a|\\|b||=SUM(1)", "1999"]
    assert columns_of(silo, identifiers) == [Column("title"), Column("subject"), Column("date")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_an_unchanged_spreadsheet_changes_nothing(
    silo: Silo, fill: Fill, delimiter: str, mark: bytes
) -> None:
    identifiers = fill(3, subject=["tides; moon", "-1", "'quoted", "@home", "a||b"])
    rows = read_csv(mark + as_csv(exported(silo, identifiers), delimiter))
    assert [row.identifier for row in rows] == identifiers
    assert preview(silo, sheet_job(rows)).changed == 0
    report = run_job(silo, create_job(silo, sheet_job(rows), agent="ada"))
    assert report.counts == {Doing.UNCHANGED: 3}


texts = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="|\\a'=＝ \n\x85", max_size=8),
    st.lists(st.sampled_from(["||", "|", "\\", "a", "'", "-", ",", ";", '"']), max_size=5).map(
        "".join
    ),
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=examples(50),
)
@given(st.lists(st.tuples(st.sampled_from(["title", "identifier", "mark"]), texts), max_size=6))
def test_rows_that_nobody_edited_change_nothing_whatever_their_values(
    silo: Silo, fill: Fill, values: list[tuple[str, str]]
) -> None:
    (identifier,) = list(silo) or fill(1)
    fields: Fields = tuple(Field(name, sound_text(text)) for name, text in values)
    say(silo, identifier, fields)
    sheet = exported(silo, [identifier])
    assert preview(silo, sheet_job(read_csv(as_csv(sheet)))).changed == 0
    assert [said for said in fields_of(silo, identifier) if said[1]] == [
        (one.name, one.folded, "") for one in fields if one.folded
    ]


def test_empty_elements_are_not_shown_and_stay(silo: Silo, fill: Fill) -> None:
    (identifier,) = fill(1, subject=["tides", "", "moon"])
    sheet = exported(silo, [identifier])
    assert sheet[1][3] == "tides||moon"
    sheet[1][3] = "tides||sun"
    run_job(silo, create_job(silo, sheet_job(read_csv(as_csv(sheet))), agent="ada"))
    assert sorted(fields_of(silo, identifier)[1:]) == [
        ("subject", "", ""), ("subject", "sun", ""), ("subject", "tides", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("head", ["dc:identifier", "identifier"])
def test_the_field_identifier_has_a_column_of_its_own(silo: Silo, fill: Fill, head: str) -> None:
    (identifier,) = fill(1, identifier="http://a.example/")
    sheet = exported(silo, [identifier])
    assert sheet[0] == ["identifier", "mark", "title", "dc:identifier"]
    sheet[0][3], sheet[1][3] = head, "http://b.example/"
    run_job(silo, create_job(silo, sheet_job(read_csv(as_csv(sheet))), agent="ada"))
    assert fields_of(silo, identifier)[1:] == (("identifier", "http://b.example/", ""),)


def test_any_language_that_a_record_states_is_a_column(silo: Silo, fill: Fill) -> None:
    (identifier,) = fill(1)
    fields = (Field("title", "Gezeiten", "de_AT"), Field("title", "Tides", "[en], x"))
    say(silo, identifier, fields)
    rows = read_csv(as_csv(exported(silo, [identifier])))
    assert preview(silo, sheet_job(rows)).changed == 0
    assert rows[0].cells == {"title[de_AT]": "Gezeiten", "title[[en], x]": "Tides"}


def test_a_sheet_of_the_earlier_release_is_read_as_it_was_meant(silo: Silo, fill: Fill) -> None:
    identifiers = fill(1, subject=["a||b", "=1", "'q"])
    sheet = exported(silo, identifiers)
    sheet[1][3] = "a|\\|b||=1||'q"
    assert preview(silo, sheet_job(read_csv(as_csv(sheet)))).changed == 0


def test_what_was_edited_is_changed_and_can_be_undone(silo: Silo, fill: Fill) -> None:
    identifiers = fill(3, subject=["tides", "moon"], date="1999")
    sheet = exported(silo, identifiers)
    sheet[1][3] = "moon||sun"
    sheet[2][4] = ""
    rows = read_csv(as_csv(sheet))
    found = preview(silo, sheet_job(rows))
    assert (found.records, found.changed, found.values) == (3, 2, 2)
    job = create_job(silo, sheet_job(rows), agent="ada")
    run_job(silo, job)
    assert fields_of(silo, identifiers[0])[1:] == (
        ("subject", "moon", ""), ("subject", "sun", ""), ("date", "1999", ""),
    )  # fmt: skip
    assert [name for name, *_ in fields_of(silo, identifiers[1])] == ["title", "subject", "subject"]
    assert not silo[identifiers[2]].is_curated
    undo_job(silo, job, agent="ada")
    assert not any(silo[one].is_curated for one in identifiers)


def test_a_new_column_adds_a_field_in_its_language(silo: Silo, fill: Fill) -> None:
    (identifier,) = fill(1)
    sheet = exported(silo, [identifier])
    sheet[0].append("title[de]")
    sheet[1].append("Datensatz")
    run_job(silo, create_job(silo, sheet_job(read_csv(as_csv(sheet))), agent="ada"))
    assert fields_of(silo, identifier) == (("title", "Record 0", ""), ("title", "Datensatz", "de"))


def test_columns_left_out_are_left_alone(silo: Silo, fill: Fill) -> None:
    identifiers = fill(1, subject="tides")
    sheet = exported(silo, identifiers, columns=[Column("title")])
    sheet[1][2] = "New"
    run_job(silo, create_job(silo, sheet_job(read_csv(as_csv(sheet))), agent="ada"))
    assert fields_of(silo, identifiers[0]) == (("title", "New", ""), ("subject", "tides", ""))


def test_a_record_changed_since_is_a_conflict_only_where_the_row_differs(
    silo: Silo, fill: Fill
) -> None:
    identifiers = fill(2, date="1999")
    sheet = exported(silo, identifiers)
    for one in identifiers:
        silo[one].clone_version("1", "workingcopy")
        silo[one].put_stream("note.txt", "mine")
    sheet[1][3] = "2001"
    report = run_job(silo, create_job(silo, sheet_job(read_csv(as_csv(sheet))), agent="ada"))
    assert report.skipped == ((identifiers[0], "was changed since the spreadsheet was made"),)
    assert report.counts == {Doing.SKIPPED: 1, Doing.UNCHANGED: 1}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"identifier,mark,title\n\n", "has no records, only the names of its columns"),
        (b"title\nx\n", "must name the columns"),
        (b"identifier,mark,title\n,m,x\n", "row 2 has no identifier"),
        (b"identifier,mark,title\na,m,x\na,m,y\n", "in two rows"),
        (b"identifier,mark,title\na,m,x,y\n", "more cells"),
        (b"identifier,mark,title,title\n", "appears twice"),
        (b"identifier,mark,ti[t]le\n", "does not name a field"),
        ("identifier,mark,title\na,m,é\n".encode("latin-1"), "not UTF-8"),
        (b'identifier,mark,title\na,m,"x\n', "not CSV"),
        (b"identifier\0", "null characters"),
    ],
)
def test_a_spreadsheet_that_cannot_be_understood_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(SpreadsheetRefused, match=sentence):
        read_csv(content)


def test_a_row_of_no_record_is_passed_over(silo: Silo, fill: Fill) -> None:
    fill(1)
    rows = [SheetRow("oai:repo.example:99", "x", {"title": "y"})]
    assert preview(silo, sheet_job(rows)).changed == 0
    report = run_job(silo, create_job(silo, sheet_job(rows), agent="ada"))
    assert report.skipped == (("oai:repo.example:99", "was not found in this Silo"),)
