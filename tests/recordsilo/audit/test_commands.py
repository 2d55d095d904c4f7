"""`silo check`, `silo repair` and `silo accept`, as a person or a script calls them."""

import json
import os
import sys
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

import pytest

from recordsilo import Origin, Silo
from recordsilo.audit.plain_record import plain_record
from recordsilo.audit.record_check import RecordCheck
from recordsilo.cli import main
from recordsilo.sampling import share_of

Box = Any


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["silo", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, captured.out, captured.err)

    return call


def fill(box: Box, count: int) -> None:
    with Silo(str(box.silo), create=False) as silo:
        names = [f"more:{number:03}" for number in range(count)]
        with silo.batch(names) as batch:
            for name in names:
                edit = batch.edit(name)
                edit.add_version("1", date="2004-06-24", origin=Origin("local"))
                edit.put("1", "a.txt", b"a")


# -- check --------------------------------------------------------------------------------


def test_a_clean_silo_exits_with_0(box: Box, run: Run) -> None:
    assert run("check", box.silo) == Done(0, "2 records checked: no findings\n", "")


def test_warnings_exit_with_1_and_say_what_to_do(box: Box, run: Run) -> None:
    (box.record / "__workingcopy/notes.txt").write_text("edited")
    done = run("check", box.silo)
    assert done.code == 1
    assert done.out == (
        "S088 warning: a file of a curated version was edited outside the store\n"
        "  path      pairtree_root/oa/i+/ex/am/pl/e,/or/g+/12/__workingcopy/notes.txt\n"
        "  record    oai:example.org:12\n"
        f"  expected  10 bytes, sha256 {sha256(b'as curated').hexdigest()}\n"
        "  found     6 bytes\n"
        "  to do     `silo accept` keeps the edit, with author and reason; or restore the file.\n"
        "2 records checked: 1 warning\n"
    )


def test_damage_exits_with_2(box: Box, run: Run) -> None:
    (box.record / "__1/oai_dc").unlink()
    (box.record / "__2").mkdir()
    done = run("check", box.silo)
    assert done.code == 2
    assert done.err == ""
    assert done.out.endswith("2 records checked: 1 damage, 1 warning\n")


def test_json_has_a_finding_a_line_and_a_summary(box: Box, run: Run) -> None:
    (box.record / "__1/oai_dc").unlink()
    finding, summary = run("check", box.silo, "--json").objects
    assert finding["code"] == "S085"
    assert finding["severity"] == "damage"
    assert finding["identifier"] == "oai:example.org:12"
    assert finding["found"] == "nothing"
    assert summary["summary"]["records"] == 2
    assert summary["summary"]["damage"] == 1
    assert summary["summary"]["finished"] is True


def test_a_name_that_is_no_text_is_printed_escaped(box: Box, run: Run) -> None:
    os.mkdir(os.fsencode(box.record.parent) + b"/\xff\xfe")
    (finding, _) = run("check", box.silo, "--json").objects
    assert finding["path"].endswith("/\\udcff\\udcfe")
    assert run("check", box.silo).code == 2


def test_wrong_input_exits_with_2_and_a_sentence(box: Box, tmp_path: Any, run: Run) -> None:
    for path in (tmp_path / "none", tmp_path, __file__):
        done = run("check", path)
        assert done.code == 2
        assert done.err.startswith("silo: ")
        assert done.out == ""


@pytest.mark.parametrize("share", ["0", "101%", "1.5", "-1%", "half", "nan", "%"])
def test_a_share_that_is_none_is_refused(box: Box, run: Run, share: str) -> None:
    assert run("check", box.silo, "--sample", share).code == 2


@pytest.mark.parametrize(("text", "share"), [("10%", 0.1), ("0.1", 0.1), ("100%", 1), ("1", 1)])
def test_a_share_is_a_percentage_or_a_fraction(text: str, share: float) -> None:
    assert share_of(text) == pytest.approx(share)


@pytest.mark.long
def test_a_sample_reads_the_bytes_of_a_share_that_the_seed_draws(box: Box, run: Run) -> None:
    fill(box, 200)
    first = run("check", box.silo, "--json", "--sample", "20%", "--seed", "a").objects[-1]
    again = run("check", box.silo, "--json", "--sample", "0.2", "--seed", "a").objects[-1]
    other = run("check", box.silo, "--json", "--sample", "0.2").objects[-1]
    assert first == again
    assert first["summary"]["records"] == 202
    assert 20 < first["summary"]["hashed"] < 65
    assert other["summary"]["seed"] != "a"


def test_a_sample_misses_no_size_and_no_name(box: Box, run: Run) -> None:
    (box.record / "__1/oai_dc").write_bytes(b"")
    (box.record / "02/__1/oai_dc").unlink()
    done = run("check", box.silo, "--json", "--sample", "0.0000001")
    assert [one["code"] for one in done.objects[:-1]] == ["S086", "S085"]


def test_a_check_out_of_time_stops_and_goes_on_where_it_stopped(box: Box, run: Run) -> None:
    fill(box, 30)
    (box.record / "__2").mkdir()
    (box.silo / "pairtree_prefix").unlink()
    codes, told = [], []
    options: tuple[str, ...] = ()
    while True:
        done = run("check", box.silo, "--json", "--budget", "0", *options)
        codes.append(done.code)
        told += [one["code"] for one in done.objects[:-1]]
        options = ("--resume",)
        if done.code != 75:
            break
    assert codes == [75] * (len(codes) - 1) + [1]
    assert len(codes) > 30
    assert told == ["S003", "S081"]
    assert done.objects[-1]["summary"]["records"] == 32
    assert not (box.silo / ".silo/check.json").exists()


def test_damage_is_told_by_the_exit_of_each_part_that_follows(box: Box, run: Run) -> None:
    fill(box, 3)
    (box.silo / "oaipmh_harvester.json").write_text("{")
    assert run("check", box.silo, "--budget", "0").code == 2
    assert run("check", box.silo, "--resume").code == 2
    (box.silo / "oaipmh_harvester.json").unlink()
    assert run("check", box.silo, "--resume").code == 0


def test_a_resumed_check_keeps_its_share(box: Box, run: Run) -> None:
    assert run("check", box.silo, "--budget", "0", "--sample", "50%", "--seed", "x").code == 75
    refused = run("check", box.silo, "--resume", "--sample", "10%")
    assert refused.code == 2
    assert "--sample 0.5 --seed x" in refused.err
    assert run("check", box.silo, "--resume", "--sample", "50%").code == 0


def test_an_interrupted_check_goes_on(box: Box, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def interrupted(check: RecordCheck) -> Any:
        looked.append(check.place)
        if len(looked) == 2:
            raise KeyboardInterrupt
        return plain_record(check)

    monkeypatch.setattr("recordsilo.audit.check.plain_record", interrupted)
    assert run("check", box.silo).code == 130
    done = run("check", box.silo, "--resume", "--json")
    assert done.objects[-1]["summary"]["records"] == 2
    assert len(looked) == 3


def test_a_note_that_cannot_be_read_begins_anew(box: Box, run: Run) -> None:
    for text in ("{", "[]", '{"seed": 1}'):
        (box.silo / ".silo/check.json").write_text(text)
        assert run("check", box.silo, "--resume").out.startswith("2 records checked")


# -- repair -------------------------------------------------------------------------------


def test_repair_tells_what_it_did_and_what_is_left(box: Box, run: Run) -> None:
    (box.record / "__2").mkdir()
    (box.record / "__1/oai_dc").unlink()
    done = run("repair", box.silo, "--dry-run")
    assert done.code == 2
    assert "S081 would be repaired: " in done.out
    assert done.out.endswith("1 would be repaired, left: 1 damage\n")
    assert (box.record / "__2").exists()
    done = run("repair", box.silo)
    assert done.code == 2
    assert "S081 repaired: " in done.out
    assert "S085 damage: " in done.out
    assert not (box.record / "__2").exists()


def test_repair_exits_with_0_when_nothing_is_left(box: Box, run: Run) -> None:
    (box.record / "__2").mkdir()
    mended, summary = run("repair", box.silo, "--json").objects
    assert mended["code"] == "S081"
    assert mended["done"].startswith("moved to lost+found/")
    assert summary == {"summary": {"mended": 1, "warnings": 0, "damage": 0, "dry_run": False}}
    assert run("repair", box.silo).code == 0


# -- accept -------------------------------------------------------------------------------


def test_accept_takes_every_edit_but_not_what_was_added(box: Box, run: Run) -> None:
    version = box.record / "__workingcopy"
    (version / "notes.txt").write_text("edited")
    (version / "docs/licence.txt").write_text("edited too")
    (version / "added.txt").write_text("added")
    done = run("accept", box.silo, box.identifier, "--agent", "ann", "-m", "typos")
    assert done.code == 0
    assert done.out == (
        "oai:example.org:12: accepted in version workingcopy: docs/licence.txt, notes.txt\n"
    )
    assert run("check", box.silo).out.startswith("S097 ")
    assert run("accept", box.silo, box.identifier, "added.txt").code == 0
    assert run("check", box.silo).code == 0
    with Silo(str(box.silo), create=False) as silo:
        log = silo[box.identifier].version_log("workingcopy")
    assert log[-2].endswith(" ann: typos]")


def test_accept_with_nothing_to_accept_says_so(box: Box, run: Run) -> None:
    assert run("accept", box.silo, box.identifier) == Done(
        0, "oai:example.org:12: nothing was edited outside\n", ""
    )


def test_accept_names_what_it_does_not_accept(box: Box, run: Run) -> None:
    (box.record / "__1/oai_dc").write_text("edited " * 99)
    done = run("accept", box.silo, box.identifier)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("silo: not accepted: pairtree_root/")
    assert "/__1/oai_dc: a harvested file was changed. Restore the file" in done.err
    (box.record / "__workingcopy/notes.txt").write_text("edited")
    (box.record / "__workingcopy/added.txt").write_text("added")
    done = run("accept", box.silo, box.identifier)
    assert (done.code, done.err.count("not accepted: ")) == (1, 2)
    assert done.out == "oai:example.org:12: accepted in version workingcopy: notes.txt\n"


def test_accept_refuses_harvested_versions_and_files_that_were_not_edited(
    box: Box, run: Run
) -> None:
    (box.record / "__1/oai_dc").write_text("edited")
    before = box.manifest.read_bytes()
    for arguments in (("oai_dc",), ("--version", "1"), ("notes.txt",), ("none",)):
        done = run("accept", box.silo, box.identifier, *arguments)
        assert done.code == 2, arguments
        assert done.err.startswith("silo: ")
    assert box.manifest.read_bytes() == before
    assert run("accept", box.silo, "no such record").code == 2
