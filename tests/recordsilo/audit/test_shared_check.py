"""An audit describes records again only if necessary, and shares its work with a second process."""

import contextlib
import shutil
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.audit import Audit, check, index_check
from recordsilo.audit.check import AuditStep
from recordsilo.index import projection, rows
from recordsilo.second_process import SecondProcess

Box = Any
XML = "<dc><title>Part %d</title><date>%d</date></dc>"


@pytest.fixture
def silo_dir(tmp_path: Path) -> str:
    path = str(tmp_path / "silo")
    with Silo(path) as silo:
        for number in range(30):
            silo.get_item(f"r{number}").put_stream("oai_dc", XML % (number, 1990 + number), True)
    return path


def codes_of(path: str) -> list[str]:
    return [one.code.number for one in Audit(path).findings()]


def no_description(*_given: object) -> None:
    raise AssertionError("the record was described again")


def test_a_record_as_it_was_indexed_is_not_described_again(
    silo_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_check, "described", no_description)
    assert codes_of(silo_dir) == []
    with pytest.raises(AssertionError):
        list(Audit(silo_dir).steps(hashing=False))  # the files were not compared


def test_a_description_by_other_code_is_compared_though_its_text_is_the_same(
    silo_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older, Silo(silo_dir) as silo:
        older.setattr(rows, "code_digest", lambda: b"older")
        older.setattr(projection, "year_of", lambda _dates: ())
        record = silo["r7"]
        before = index_rows(silo, "r7")
        record.set_version_state("1", "ready")
        assert index_rows(silo, "r7") == before
    assert codes_of(silo_dir) == ["S114"]


def test_a_file_that_was_away_when_its_record_was_indexed_is_looked_at_again(
    silo_dir: str,
) -> None:
    (place,) = Path(silo_dir, "pairtree_root", "r7").rglob("oai_dc")
    content = place.read_bytes()
    place.unlink()
    shutil.rmtree(f"{silo_dir}/.silo")
    with Silo(silo_dir) as silo:
        assert silo.search("Part").total == 29
    place.write_bytes(content)
    assert codes_of(silo_dir) == ["S114"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("entry SET title = 'Another'", "S114"),
        ("entry SET title = CAST(x'ff' AS TEXT)", "S110"),
        ("entry SET packed = x'00'", "S110"),
        ("entry SET packed = x''", "S110"),
        ("entry SET versions = 'x'", "S110"),
        ("entry SET facets = 'x'", "S110"),
        ("entry SET facets = x'ff'", "S110"),
        ("entry SET seconds = 1 << 60, datestamp = NULL", "S110"),
        ("entry SET name = x'00'", "S110"),
    ],
)
def test_a_damaged_value_of_the_index_is_reported(silo_dir: str, damage: str, code: str) -> None:
    with contextlib.closing(sqlite3.connect(f"{silo_dir}/{index_check.PATH}")) as connection:
        connection.execute(f"UPDATE {damage} WHERE rowid = 7")
        connection.commit()
    assert code in codes_of(silo_dir)


def index_rows(silo: Silo, identifier: str) -> Any:
    with silo._catalogue._index.reading() as connection:
        sql = "SELECT id, packed FROM record WHERE identifier = ?"
        return connection.execute(sql, (identifier,)).fetchone()


def test_the_code_that_describes_records_has_a_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    facets = (("year", "1990"),)
    one = rows.described_digest(("T", "t", 1, 0), facets, b"")
    monkeypatch.setattr(rows, "code_digest", lambda: b"older")
    assert rows.described_digest(("T", "t", 1, 0), facets, b"") != one


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few records need a second process, which does all the rest."""
    monkeypatch.setattr(check, "SECOND_FROM", 4)
    monkeypatch.setattr(check, "_CHUNK", 5)
    monkeypatch.setattr(check, "cores", lambda: 2)
    monkeypatch.setattr(SecondProcess, "is_listening", lambda _self: True)
    monkeypatch.setattr(SecondProcess, "has_answer", lambda _self: True)


def broken(silo_dir: str) -> None:
    for number, damage in ((3, b"{"), (12, b"{"), (20, b"")):
        with Silo(silo_dir) as silo:
            path = Path(silo[f"r{number}"].path_to_item())
        (path / "__manifest.json").write_bytes(damage)
    (Path(silo_dir) / "pairtree_root/r2/9/__1/oai_dc").write_text("changed")
    (Path(silo_dir) / "pairtree_root/r1/5/xx").mkdir()


def steps(silo_dir: str) -> list[AuditStep]:
    return list(Audit(silo_dir).steps())


@pytest.mark.usefixtures("small")
def test_two_processes_find_what_one_finds(silo_dir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = noted_answers(monkeypatch)
    broken(silo_dir)
    together = steps(silo_dir)
    assert len(answers) > 4
    assert all(answer is not None for answer in answers)
    monkeypatch.setattr(check, "cores", lambda: 1)
    assert steps(silo_dir) == together
    found = {one.code.number for step in together for one in step.findings}
    assert found == {"S024", "S033", "S034", "S088"}
    assert sum(step.records for step in together) == 30


@pytest.mark.long
@pytest.mark.usefixtures("small")
def test_a_second_process_that_ends_is_done_without(
    silo_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(silo_dir)
    monkeypatch.setattr(check, "cores", lambda: 1)
    alone = steps(silo_dir)
    monkeypatch.setattr(check, "cores", lambda: 2)
    real, answers = SecondProcess.answer, []

    def killing(self: SecondProcess) -> object:
        if len(answers) == 1:
            assert self._process is not None
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        answers.append(real(self))
        return answers[-1]

    monkeypatch.setattr(SecondProcess, "answer", killing)
    assert steps(silo_dir) == alone
    assert None in answers


@pytest.mark.long
@pytest.mark.usefixtures("small")
def test_a_check_is_resumed_after_any_step(silo_dir: str) -> None:
    broken(silo_dir)
    whole = steps(silo_dir)
    places = [step.place for step in whole if step.place is not None]
    for number in (0, 7, len(places) - 2):
        with contextlib.closing(Audit(silo_dir).steps(places[number])) as rest:
            assert [one.place for one in rest if one.place is not None] == places[number + 1 :]


def noted_answers(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    real, answers = SecondProcess.answer, []

    def noted(self: SecondProcess) -> object:
        answers.append(real(self))
        return answers[-1]

    monkeypatch.setattr(SecondProcess, "answer", noted)
    return answers
