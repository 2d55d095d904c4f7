"""Each rule: a Silo damaged in one way yields the code of that rule and no other.

One directory for each case, named by its code and its function in `damage`.
"""

import contextlib
import json
import os
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from damage import CASES, OF_2010, OF_INDEX, Box, Break
from damage.index import facets_of_a_row_lost
from damage.manifest_keys import pending

from recordsilo import Silo
from recordsilo.audit import Audit, Code, Severity
from recordsilo.audit.findings import table
from recordsilo.index import words
from recordsilo.index.packing import pack_bits

DOCS = Path(__file__).parents[3] / "docs"
BY_NUMBER = {code.number: code for code in Code}


def codes_of(silo: Path) -> list[str]:
    return sorted(finding.code.number for finding in Audit(str(silo)).findings())


def apply(case: Break, box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = case.__code__.co_varnames[: case.__code__.co_argcount]
    case(box, monkeypatch) if "monkeypatch" in wanted else case(box)


def assert_only(case: str, silo: Path) -> None:
    findings = list(Audit(str(silo)).findings())
    assert {finding.code.number for finding in findings} == {case[:4]}, findings
    for finding in findings:
        told = finding.as_json()
        assert all(told[key] for key in ("expected", "found", "what_to_do")), told
        assert told["path"].isprintable()


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_a_silo_broken_in_one_way_has_the_code_of_that_and_no_other(
    case: str, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = type(box)(box.silo.rename(box.silo.with_name(case)))
    named.drop_index()
    apply(CASES[case], named, monkeypatch)
    assert_only(case, named.silo)


@pytest.mark.parametrize("case", OF_2010)
def test_a_silo_of_2010_broken_in_one_way_has_the_code_of_that(case: str, box_2010: Box) -> None:
    OF_2010[case](box_2010)
    assert_only(case, box_2010.silo)


@pytest.mark.long
@pytest.mark.parametrize("case", OF_INDEX)
def test_an_index_out_of_step_has_the_code_of_that(case: str, box: Box) -> None:
    OF_INDEX[case](box)
    assert_only(case, box.silo)


@pytest.mark.long
@pytest.mark.parametrize("case", OF_INDEX)
def test_an_index_that_had_seen_these_manifests_has_it_too(case: str, box: Box) -> None:
    with Silo(str(box.silo)) as silo:
        silo.reindex()  # the copied manifests have other stamps
    OF_INDEX[case](box)
    assert_only(case, box.silo)


def test_an_index_of_a_silo_of_2010_is_as_its_records_are(box_2010: Box) -> None:
    with Silo(str(box_2010.silo)) as silo:
        assert silo.reindex() == 5
    assert [
        one for one in Audit(str(box_2010.silo)).findings() if one.path.startswith(".silo")
    ] == []


def test_descriptions_in_the_index_are_compared_for_the_records_that_are_drawn(box: Box) -> None:
    facets_of_a_row_lost(box)
    told = set()
    for seed in range(12):
        found = list(Audit(str(box.silo), share=0.4, seed=str(seed)).findings())
        told.add(tuple(one.code.number for one in found))
    assert told == {(), ("S114",)}


def test_a_bitmap_of_frequent_words_is_compared_with_the_full_text(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "BLOCK", 8)
    box.drop_index()
    with Silo(str(box.silo)) as silo:
        for number in range(20):
            silo.get_item(f"more:{number}").put_stream("oai_dc", "<dc><title>gulls</title></dc>",
                                                       None, True)  # fmt: skip
        silo.reindex()
    assert list(Audit(str(box.silo)).findings()) == []
    with contextlib.closing(sqlite3.connect(box.silo / ".silo/index.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM frequent").fetchone()[0]
        connection.execute("UPDATE bitmap SET part = ?", (pack_bits(b"\0"),))
        connection.commit()
    assert {one.code.number for one in Audit(str(box.silo)).findings()} == {"S115"}


def test_a_record_whose_files_were_edited_is_not_told_of_twice(box: Box) -> None:
    (box.record / "__workingcopy/oai_dc").write_text("<dc><title>edited</title></dc>")
    assert [one.code.number for one in Audit(str(box.silo)).findings()] == ["S088"]


def test_every_code_has_a_case() -> None:
    cases = Counter(name[:4] for name in (*CASES, *OF_2010, *OF_INDEX))
    contributed = {"S120"}  # a check of another package that fails: test_contributed.py
    assert {code.number for code in Code} == set(cases) | contributed


def test_there_are_more_than_sixty_cases_of_damage() -> None:
    names = (*CASES, *OF_2010, *OF_INDEX)
    damage = [name for name in names if BY_NUMBER[name[:4]].severity is Severity.DAMAGE]
    assert len(damage) >= 60
    assert len(names) - len(damage) >= 30


def test_numbers_are_unique_and_in_order() -> None:
    numbers = [code.number for code in Code]
    assert numbers == sorted(set(numbers))


def test_the_documentation_has_the_table_of_codes() -> None:
    pages = [DOCS / "audit-codes.md", DOCS / "audit-codes-files.md"]
    rows = [row for page in pages for row in page.read_text("utf-8").splitlines() if row[:1] == "|"]
    assert [row for row in rows if "| S" in row[:3]] == table().splitlines()[2:]


# -- what is as it should be --------------------------------------------------------------

GOOD: dict[str, Break] = {}


def good(function: Break) -> Break:
    GOOD[function.__name__.replace("_", "-")] = function
    return function


@good
def as_built(box: Box) -> None:
    pass


@good
def without_its_index(box: Box) -> None:
    box.drop_index()


@good
def with_files_of_somebody_beside_the_records(box: Box) -> None:
    (box.silo / "README").write_text("")
    (box.silo / "lost+found/2026-01-01").mkdir(parents=True)


@good
def without_a_copy_of_the_previous_manifest(box: Box) -> None:
    (box.record / "__manifest.json.prev").unlink()


@good
def with_a_copy_that_is_the_manifest_itself(box: Box) -> None:
    (box.record / "__manifest.json.prev").unlink()
    os.link(box.manifest, box.record / "__manifest.json.prev")


@good
def with_a_state_file_being_written(box: Box) -> None:
    (box.silo / "persisted_state.json.4711-00ff00ff.tmp").write_text("{")


@good
def with_a_link_within_the_silo(box: Box) -> None:
    (box.record / "__workingcopy/oai_dc").unlink()
    (box.record / "__workingcopy/oai_dc").symlink_to("../__1/oai_dc")


@good
def with_tags_of_2010_in_a_version(box: Box) -> None:
    (box.record / "__1/3=2004-06-24T00+00+00").write_text("2004-06-24T00:00:00")


@good
def with_what_was_pending_done(box: Box) -> None:
    box.drop_index()
    pending(
        box,
        renames=[["__workingcopy/.silo-1-2.tmp", "__workingcopy/notes.txt"], ["__a", "__1"]],
        unlinks=[["__workingcopy/oai_dc", 1, 1], ["__1", -1, -1], ["__gone", -1, -1]],
    )


@good
def with_versions_numbered_as_2010_did(box: Box) -> None:
    box.set(versions=[1, "workingcopy", "empty"])


@good
def with_every_change_made(box: Box) -> None:
    with Silo(str(box.silo)) as silo:
        record = silo[box.identifier]
        record.clone_version("workingcopy", "a")
        record.clone_version_delta("a", "b")
        record.rename_version("a", "c")
        record.del_version("c")
        record.put_stream("deep/er/file", b"x", "b")
        record.rename_stream("deep/er/file", "flat", "b")
        record.del_stream("docs/licence.txt", "b")
        record.increment_version(clone_previous_version=True)
        silo.get_item("x").sync()
        silo.del_item("x", remember=True)


@pytest.mark.parametrize("case", GOOD)
def test_what_is_as_it_should_be_has_no_finding(case: str, box: Box) -> None:
    GOOD[case](box)
    assert codes_of(box.silo) == []


def test_an_empty_silo_has_no_finding(tmp_path: Path) -> None:
    Silo(str(tmp_path / "silo")).close()
    assert codes_of(tmp_path / "silo") == []


def test_the_silo_of_2010_has_no_finding(box_2010: Box) -> None:
    assert codes_of(box_2010.silo) == []


def test_the_silo_of_2010_has_no_finding_once_it_is_written(box_2010: Box) -> None:
    with Silo(str(box_2010.silo), create=False) as silo:
        for record in list(silo.iteritems()):
            record.metadata["seen"] = True
            record.sync()
    assert codes_of(box_2010.silo) == []


def test_an_rdf_manifest_of_2010_that_was_listed_and_never_written_is_no_finding(
    box_2010: Box,
) -> None:
    members = box_2010.members
    members["rdffilename"] = "manifest.rdf"
    members["files"]["1"].append("manifest.rdf")
    box_2010.manifest.write_text(json.dumps(members))
    assert codes_of(box_2010.silo) == []
    with Silo(str(box_2010.silo), create=False) as silo:
        silo[box_2010.identifier].sync(message="written anew")
        silo[box_2010.identifier].create_new_version("new")
    assert codes_of(box_2010.silo) == []
