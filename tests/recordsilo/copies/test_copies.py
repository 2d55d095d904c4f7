"""Silos out of Silos: copied, merged, divided, renamed; killed, refused, and continued."""

import errno
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recordsilo import Origin, Silo
from recordsilo.audit.check import Audit
from recordsilo.cli import silo_command
from recordsilo.copies import new_silo, record_copy
from recordsilo.copies.agreement import Agreement, agreement_of
from recordsilo.copies.copying import CopyReport, copy_silo
from recordsilo.copies.errors import CopyRefused, MergeConflicts
from recordsilo.copies.merging import OnConflict, merge_silos
from recordsilo.copies.renaming import rename_prefix
from recordsilo.copies.splitting import split_silo
from recordsilo.errors import NotASilo, StateUnreadable
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.selection import Selection, filters_from

DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s</dc:title>'
    "<dc:date>%d</dc:date></oai_dc:dc>"
)
EVERYTHING = Selection()


def quiet(_done: int) -> None:
    """Show nothing."""


def harvest(silo: Silo, number: int, title: str = "", *, day: str = "2020-01-01") -> None:
    identifier = f"oai:a:{number}"
    with silo.batch([identifier], agent="silo harvest") as batch:
        edit = batch.edit(identifier)
        name = str(len(edit.manifest.versions) + 1)
        stamp = f"{day}T00:00:00"
        origin = Origin("harvest", prefixes={"oai_dc": stamp}, agent="silo harvest")
        edit.add_version(name, date=stamp, origin=origin)
        xml = DC % (title or f"Title {number}", 2000 + number % 3)
        edit.put(name, "oai_dc", xml.encode(), metadata=True)
        edit.set_metadata("identifier", identifier)
        edit.set_metadata("setSpec", [f"s{number % 2}:x"] if number else [])


@pytest.fixture
def silo(tmp_path: Path) -> Silo:
    made = Silo(str(tmp_path / "s"), identifier_uri_prefix="oai:a:", base_oai_url="http://a/oai")
    for number in range(6):
        harvest(made, number)
    made["1"].clone_version("1", "mine", agent="ann", message="to correct")
    made["1"].put_stream("docs/note.txt", b"a note", agent="ann")
    made["2"].clone_version_delta("1", "linked", agent="ben")
    made.get_item("oai:a:1/nested").put_stream("oai_dc", DC % ("Nested", 1999), metadata=True)
    (tmp_path / "s/curation/rules").mkdir(parents=True)
    (tmp_path / "s/curation/rules/r.toml").write_text('[select]\nidentifiers = ["oai:a:1"]\n')
    (tmp_path / "s/curation/secrets").mkdir(mode=0o700)
    (tmp_path / "s/curation/secrets/x.login").touch(mode=0o600)
    (tmp_path / "s/harvests").mkdir()
    (tmp_path / "s/harvests/h.warc.gz").write_bytes(b"warc")
    (tmp_path / "s/oaipmh_harvester.json").write_text(
        '{"harvested": {"x": 1}, "sets": {"s0": "S"}}'
    )
    with closing(sqlite3.connect(tmp_path / "s/curation/exports.sqlite")) as ledger:
        ledger.execute("PRAGMA journal_mode = WAL")
        ledger.execute("CREATE TABLE t (x)")
        ledger.execute("INSERT INTO t VALUES (1)")
        ledger.commit()
    return made


def manifests(path: str) -> dict[str, bytes]:
    found = Path(path, "pairtree_root").rglob("__manifest.json")
    return {str(one.relative_to(path)): one.read_bytes() for one in found}


def is_sound(path: str) -> bool:
    return not list(Audit(path, without=None).findings())


def content(record: HarvestedRecord, path: str, version: str) -> bytes:
    with record.get_stream(path, version) as file:
        return file.read()


def run(*given: str) -> tuple[int, str]:
    result = CliRunner().invoke(silo_command, given, standalone_mode=False)
    return result.return_value or result.exit_code, result.output + str(result.exception or "")


# -- copies ------------------------------------------------------------------------------


def test_a_copy_is_the_same_byte_for_byte(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "c")
    report = copy_silo(silo, out, EVERYTHING, quiet)
    assert (report.records, report.is_whole) == (7, True)
    assert manifests(out) == manifests(silo.path)
    assert is_sound(out)
    with Silo(out, create=False) as copied:
        assert list(copied) == list(silo)
        assert content(copied["1"], "docs/note.txt", "mine") == b"a note"
        assert copied.state["base_oai_url"] == "http://a/oai"
    for name in ("harvests/h.warc.gz", "curation/rules/r.toml", "oaipmh_harvester.json"):
        assert (tmp_path / "c" / name).read_bytes() == (tmp_path / "s" / name).read_bytes()
    assert (tmp_path / "c/curation/secrets").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "c/curation/secrets/x.login").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(tmp_path / "c/curation/exports.sqlite")) as ledger:
        assert ledger.execute("SELECT x FROM t").fetchall() == [(1,)]
    frozen = next(Path(out, "pairtree_root").rglob("__1/oai_dc"))
    assert frozen.stat().st_mode & 0o222 == 0


@pytest.mark.long
def test_a_part_has_no_more_than_its_records_and_rules(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "c")
    select = Selection(filters=filters_from(["agent=ann", "year=2000"]))
    report = copy_silo(silo, out, Selection(filters=filters_from(["agent=ann"])), quiet)
    assert report.records == 1
    assert report.left == ["curation/exports.sqlite", "curation/secrets", "harvests"]
    assert (tmp_path / "c/curation/rules/r.toml").exists()
    assert "harvested" not in (tmp_path / "c/oaipmh_harvester.json").read_text()
    assert is_sound(out)
    assert copy_silo(silo, str(tmp_path / "d"), select, quiet, dry_run=True).records == 0
    assert not (tmp_path / "d").exists()


def killed(work: Callable[[], Any], module: Any, name: str, calls: int) -> bool:
    """Do work in a child that is killed before the nth call of a function."""
    child = os.fork()
    if child == 0:
        left = [calls]
        original = getattr(module, name)

        def dying(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*given, **named)

        setattr(module, name, dying)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        pytest.param("copy_new", 3, marks=pytest.mark.long),
        pytest.param("write_over", 2, marks=pytest.mark.long),
        ("move", 3),
    ],
)
def test_a_killed_copy_is_no_silo_and_continues(
    silo: Silo, tmp_path: Path, name: str, calls: int
) -> None:
    out = str(tmp_path / "c")
    silo.close()
    assert killed(lambda: copy_silo(silo, out, EVERYTHING, quiet), record_copy, name, calls)
    with pytest.raises(NotASilo, match="was not finished; run the same command again"):
        Silo(out)
    with pytest.raises(NotASilo, match="was not finished"):  # a repair would make it a Silo
        Audit(out)
    with pytest.raises(CopyRefused, match=r"not finished: copy of .*s; finish it"):
        copy_silo(silo, out, Selection(identifiers=("1",)), quiet)
    harvest(silo, 3, "Changed meanwhile")
    report = copy_silo(silo, out, EVERYTHING, quiet)
    assert (report.records, report.there) == (7, 2 if name == "move" else 0)
    assert manifests(out) == manifests(silo.path)
    assert is_sound(out)
    assert not [*Path(out).rglob("*.new"), *Path(out).rglob("*.tmp")]


def test_what_was_removed_after_a_kill_is_not_in_the_copy(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "c"
    silo.close()
    assert killed(lambda: copy_silo(silo, str(out), EVERYTHING, quiet), record_copy, "move", 4)
    staged = [out / "harvests/h.warc.gz.1-ab.tmp", out / ".silo/copy-ab/snapshot"]
    for path in staged:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    for identifier in list(silo):
        if identifier != "oai:a:5":
            silo.del_item(identifier, remember=True)
    assert copy_silo(silo, str(out), EVERYTHING, quiet).records == 1
    assert list(Silo(str(out))) == ["oai:a:5"]
    assert is_sound(str(out))
    assert not any(path.exists() for path in staged)


def test_what_is_removed_meanwhile_is_not_in_the_copy(silo: Silo, tmp_path: Path) -> None:
    known, out = list(silo), tmp_path / "c"

    def remove(done: int) -> None:
        if done == len(known) - 1:
            silo.del_item(known[0], remember=True)

    assert copy_silo(silo, str(out), EVERYTHING, remove).records == len(known) - 1
    with Silo(str(out)) as copied:
        assert list(copied) == known[1:]
        assert copied.removed() == {known[0]}
    assert is_sound(str(out))


def test_what_is_removed_meanwhile_is_in_no_part(silo: Silo, tmp_path: Path) -> None:
    known, out = list(silo), tmp_path / "parts"

    def remove(done: int) -> None:
        if done == len(known):
            silo.del_item(known[0], remember=True)

    parts = split_silo(silo, str(out), "prefix", EVERYTHING, remove)
    assert sum(one.records for one in parts.values()) == len(known) - 1
    for name in parts:
        with Silo(str(out / name)) as part:
            assert known[0] not in part
            assert part.removed() == {known[0]}
        assert is_sound(str(out / name))


def test_a_record_behind_a_link_is_named(silo: Silo, other: Silo, tmp_path: Path) -> None:
    place = Path(silo["3"].to_dirpath("", "1")).parent
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    report = copy_silo(silo, str(tmp_path / "c"), EVERYTHING, quiet)
    assert report.records == 6
    assert "is a link; replace it" in report.failed[str(place)]
    with pytest.raises(CopyRefused, match="is a link"):
        merge_silos([silo, other], str(tmp_path / "m"), OnConflict.FIRST, quiet)


def test_damaged_files_are_named(silo: Silo, other: Silo, tmp_path: Path) -> None:
    (tmp_path / "s/oaipmh_harvester.json").write_bytes(b"\xbd{")
    with pytest.raises(StateUnreadable, match=r"s/oaipmh_harvester.json cannot be read"):
        merge_silos([silo, other], str(tmp_path / "m"), OnConflict.FIRST, quiet)


@pytest.mark.long
@pytest.mark.parametrize("name", ["replace_file", "remove_file"])
def test_a_copy_killed_at_its_end_is_finished(silo: Silo, tmp_path: Path, name: str) -> None:
    out = str(tmp_path / "c")
    silo.close()
    calls = 5 if name == "replace_file" else 1
    if killed(lambda: copy_silo(silo, out, EVERYTHING, quiet), new_silo, name, calls):
        assert copy_silo(silo, out, EVERYTHING, quiet).records == 7
    assert is_sound(out)
    assert not (tmp_path / "c/copying.json").exists()


@pytest.mark.long
def test_a_full_disk_leaves_no_half_record(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, copies = str(tmp_path / "c"), [0]
    original = record_copy.copy_new

    def full(*given: Any) -> Any:
        copies[0] += 1
        if copies[0] == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), given[1])
        return original(*given)

    monkeypatch.setattr(record_copy, "copy_new", full)
    with pytest.raises(OSError, match="No space"):
        copy_silo(silo, out, EVERYTHING, quiet)
    assert copy_silo(silo, out, EVERYTHING, quiet).records == 7
    assert is_sound(out)


def test_a_damaged_record_is_named_and_the_others_are_copied(silo: Silo, tmp_path: Path) -> None:
    place = Path(silo["3"].path_to_item())
    (place / "__1/oai_dc").chmod(0o644)
    (place / "__1/oai_dc").write_bytes(b"other")
    (Path(silo["4"].path_to_item()) / "__manifest.json").write_bytes(b"{")
    code, said = run("copy", silo.path, str(tmp_path / "c"))
    assert code == 1
    assert "oai:a:3 was not copied: oai_dc of version 1 is not the file that its manifest" in said
    assert "oai:a:4 was not copied" in said
    with Silo(str(tmp_path / "c"), create=False) as copied:
        assert len(copied) == 5


@pytest.mark.long
def test_a_record_that_changes_while_it_is_copied_is_copied_again(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, changes = record_copy.copy_new, [3]

    def meanwhile(*given: Any) -> Any:
        if changes[0]:
            changes[0] -= 1
            for number in range(6):
                harvest(silo, number, f"Again {changes[0]}")
        return original(*given)

    monkeypatch.setattr(record_copy, "copy_new", meanwhile)
    assert copy_silo(silo, str(tmp_path / "c"), EVERYTHING, quiet).records == 7
    assert manifests(str(tmp_path / "c")) == manifests(silo.path)


@pytest.mark.long
def test_wrong_places_are_refused(silo: Silo, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(silo.path)
    for out, why in {
        silo.path: "same directory", f"{silo.path}/x": "one inside the other",
        str(tmp_path): "one inside the other", str(tmp_path / "link"): "same directory",
        str(tmp_path / "file"): "is a file", str(tmp_path / "no/where"): "there is no directory",
        "/proc/x": "no directory can be created",
    }.items():  # fmt: skip
        for command in (("copy", silo.path), ("split", silo.path, "--by", "year")):
            code, said = run(*command[:2], out, *command[2:])
            assert code
            assert why in said
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x").touch()
    assert "exists; choose a new directory" in run("copy", silo.path, str(tmp_path / "other"))[1]
    assert "same directory" in run("merge", silo.path, silo.path, str(tmp_path / "m"))[1]
    assert "at least two" in run("merge", silo.path, str(tmp_path / "m"))[1]
    assert len(silo) == 7


# -- merges ------------------------------------------------------------------------------


@pytest.fixture
def other(silo: Silo, tmp_path: Path) -> Silo:
    """A copy, in which 1 was curated further and 5 is new."""
    copy_silo(silo, str(tmp_path / "o"), EVERYTHING, quiet)
    made = Silo(str(tmp_path / "o"))
    made["1"].put_stream("more.txt", b"more", agent="eve")
    harvest(made, 7)
    (tmp_path / "o/curation/rules/o.toml").write_text("[select]\n")
    (tmp_path / "o/harvests/i.warc.gz").write_bytes(b"other")
    return made


def test_the_longer_history_is_taken(silo: Silo, other: Silo, tmp_path: Path) -> None:
    harvest(silo, 0, "New at the source", day="2021-01-01")
    report = merge_silos([silo, other], str(tmp_path / "m"), OnConflict.REFUSE, quiet)
    assert (report.records, report.common, report.conflicts) == (8, 7, {})
    with Silo(str(tmp_path / "m"), create=False) as merged:
        assert content(merged["1"], "more.txt", "mine") == b"more"
        assert merged["0"].versions == ["1", "2"]
        assert merged.state["base_oai_url"] == "http://a/oai"
    assert is_sound(str(tmp_path / "m"))
    assert {one.name for one in (tmp_path / "m/harvests").iterdir()} == {"h.warc.gz", "i.warc.gz"}
    assert (tmp_path / "m/curation/rules/o.toml").exists()


@pytest.mark.long
def test_conflicts_are_named_and_nothing_is_written(
    silo: Silo, other: Silo, tmp_path: Path
) -> None:
    silo["1"].put_stream("mine.txt", b"mine", agent="ann")
    other.del_item("oai:a:2", remember=True)
    out = str(tmp_path / "m")
    with pytest.raises(MergeConflicts) as caught:
        merge_silos([silo, other], out, OnConflict.REFUSE, quiet)
    assert len(caught.value.conflicts) == 2
    assert not Path(out).exists()
    code, said = run("merge", silo.path, other.path, out, "--dry-run")
    assert code == 1
    assert "oai:a:1: version mine has other files" in said
    assert f"oai:a:2: it was removed from {other.path} for good" in said
    first = merge_silos([silo, other], out, OnConflict.FIRST, quiet)
    assert (first.records, len(first.conflicts)) == (8, 2)
    with Silo(out, create=False) as merged:
        assert "mine.txt" in merged["1"].paths("mine")
        assert "2" in merged
        assert not merged.removed()
    newest = merge_silos([silo, other], str(tmp_path / "n"), OnConflict.NEWEST, quiet)
    assert newest.records == 7
    with Silo(str(tmp_path / "n"), create=False) as merged:
        assert "2" not in merged
        assert merged.removed() == {"oai:a:2"}


@pytest.mark.long
def test_silos_of_two_repositories_have_no_common_address(silo: Silo, tmp_path: Path) -> None:
    other = Silo(str(tmp_path / "o"), identifier_uri_prefix="oai:b:", base_oai_url="http://b/oai")
    other.get_item("oai:b:1").put_stream("oai_dc", DC % ("B", 1), metadata=True)
    merge_silos([silo, other], str(tmp_path / "m"), OnConflict.REFUSE, quiet)
    with Silo(str(tmp_path / "m"), create=False) as merged:
        assert "base_oai_url" not in merged.state
        assert "oai:b:1" in merged
        assert len(merged) == 8
    parts = split_silo(merged, str(tmp_path / "p"), "prefix", EVERYTHING, quiet)
    assert {name: one.records for name, one in parts.items()} == {"oai+a": 7, "oai+b": 1}


def test_two_harvests_of_the_same_agree(tmp_path: Path) -> None:
    one, two = Silo(str(tmp_path / "1")), Silo(str(tmp_path / "2"))
    for made in (one, two):
        harvest(made, 1)
    states = [made["oai:a:1"].state for made in (one, two)]
    assert agreement_of(*states)[0] is Agreement.SECOND
    harvest(one, 1, "More")
    assert agreement_of(one["oai:a:1"].state, states[1])[0] is Agreement.FIRST
    harvest(two, 1, "Different")
    found = agreement_of(one["oai:a:1"].state, two["oai:a:1"].state)
    assert found == (Agreement.CONFLICT, "version 2 has other files")


def test_a_conflict_says_which_silo_has_which_version(tmp_path: Path) -> None:
    places = [str(tmp_path / name) for name in ("n1", "n2", "n3")]
    for place, name in zip(places, ("x", "y", "x"), strict=True):
        with Silo(place) as made:
            harvest(made, 1)
            made["oai:a:1"].clone_version("1", name)
    said = run("merge", *places, str(tmp_path / "m"))[1]
    assert f"version y is only in {places[1]}; version x is only in {places[0]} (in " in said


def test_messages_of_people_are_not_lost(tmp_path: Path) -> None:
    one, two = Silo(str(tmp_path / "1")), Silo(str(tmp_path / "2"))
    for made, message in ((one, "licence"), (two, "")):
        harvest(made, 1)
        made["oai:a:1"].clone_version("1", "mine", message=message)
    states = [made["oai:a:1"].state for made in (one, two)]
    assert agreement_of(*states)[0] is Agreement.FIRST
    two["oai:a:1"].clone_version("1", "other", message="spelling")
    found = agreement_of(one["oai:a:1"].state, two["oai:a:1"].state)
    assert found[0] is Agreement.CONFLICT
    assert "version mine has another message" in found[1]


# -- divisions ----------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("by", "counts"),
    [
        ("set", {"s0": 2, "s1": 3, "rest": 2}),
        ("year", {"1999": 1, "2000": 2, "2001": 2, "2002": 2}),
        ("language", {"rest": 7}),
    ],
)
def test_a_silo_is_divided(silo: Silo, tmp_path: Path, by: str, counts: dict[str, int]) -> None:
    parts = split_silo(silo, str(tmp_path / "p"), by, EVERYTHING, quiet)
    assert {name: one.records for name, one in parts.items()} == counts
    assert sorted(os.listdir(tmp_path / "p")) == sorted(counts)
    assert all(is_sound(str(tmp_path / "p" / name)) for name in counts)


@pytest.mark.long
def test_a_killed_division_continues(silo: Silo, tmp_path: Path) -> None:
    def work() -> dict[str, CopyReport]:
        return dict(split_silo(silo, str(tmp_path / "p"), "year", EVERYTHING, quiet))

    silo.close()
    assert killed(work, new_silo, "remove_file", 2)
    assert {name: one.records for name, one in work().items()} == {
        "1999": 1, "2000": 2, "2001": 2, "2002": 2,
    }  # fmt: skip
    assert all(is_sound(str(tmp_path / "p" / name)) for name in os.listdir(tmp_path / "p"))


@pytest.mark.long
def test_the_selected_records_and_the_others(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "p")
    assert "select the records" in run("split", silo.path, out, "--by", "selection")[1]
    code, said = run("split", silo.path, out, "--by", "set", "--filter", "year=1900")
    assert (code, f"no record of {silo.path} is selected by year 1900" in said) == (0, True)
    code, said = run("split", silo.path, out, "--by", "selection", "--filter", "agent=ann")
    assert code == 0
    assert f"{out}/rest: 6 records copied\n{out}/selected: 1 record copied" in said


# -- renaming -----------------------------------------------------------------------------


def test_a_prefix_is_renamed_and_renamed_back(silo: Silo, tmp_path: Path) -> None:
    before = {one: silo[one].state for one in silo}
    silo.del_item("oai:a:5", remember=True, message="why")
    record = silo["3"]
    record.metadata["duplicate_of"] = "oai:a:4"
    record.sync()
    report = rename_prefix(silo, "oai:a:", "oai:new:", quiet)
    assert (report.records, report.removals, report.failed) == (6, 1, {})
    assert report.files == ["curation/rules/r.toml"]
    assert list(silo) == [one.replace(":a:", ":new:") for one in before if one != "oai:a:5"]
    assert silo.state["identifier_uri_prefix"] == "oai:new:"
    record = silo["1"]
    assert record.versions == ["1", "mine"]
    assert content(record, "docs/note.txt", "mine") == b"a note"
    assert silo["3"].metadata["duplicate_of"] == "oai:new:4"
    assert silo["3"].metadata["identifier"] == "oai:new:3"
    assert "oai:new:5" in silo.removed()
    assert 'identifiers = ["oai:new:1"]' in (tmp_path / "s/curation/rules/r.toml").read_text()
    assert is_sound(silo.path)
    rename_prefix(silo, "oai:new:", "oai:a:", quiet)
    assert is_sound(silo.path)
    for one, state in before.items():
        if one != "oai:a:5":
            now = silo[one].state
            assert now.versions == state.versions
            assert now.current_version == state.current_version
    assert 'identifiers = ["oai:a:1"]' in (tmp_path / "s/curation/rules/r.toml").read_text()


@pytest.mark.long
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_killed_renaming_loses_nothing(silo: Silo, calls: int) -> None:
    silo.close()
    assert killed(lambda: rename_prefix(silo, "oai:a:", "oai:n:", quiet), Silo, "del_item", calls)
    with Silo(silo.path) as opened:
        assert len(opened) == 14 - calls + 1
        assert {one.rpartition(":")[2] for one in opened} == {*"012345", "1/nested"}
        assert rename_prefix(opened, "oai:a:", "oai:n:", quiet).records == 7 - calls + 1
        assert len(opened) == 7
    assert is_sound(silo.path)


@pytest.mark.long
def test_what_was_changed_after_a_kill_is_not_lost(silo: Silo) -> None:
    silo.close()
    assert killed(lambda: rename_prefix(silo, "oai:a:", "oai:n:", quiet), Silo, "del_item", 1)
    silo["oai:a:1"].put_stream("late.txt", b"late", version="mine")
    report = rename_prefix(silo, "oai:a:", "oai:n:", quiet)
    assert report.failed == {"oai:a:1": "oai:n:1 exists, and lacks some of it"}
    assert content(silo["oai:a:1"], "late.txt", "mine") == b"late"


@pytest.mark.long
def test_wrong_prefixes_are_refused(silo: Silo) -> None:
    silo.get_item("oai:b:1").put_stream("oai_dc", DC % ("B", 1), metadata=True)
    for old, new, why in (
        ("oai:a:", "oai:a:b:", "begin alike"), ("oai:a:", "", "empty"),
        ("oai:a:", "oai:b:", "has the new prefix already"), ("oai:a:", "x\0", "NUL"),
    ):  # fmt: skip
        code, said = run("rename-prefix", silo.path, old, new, "--yes")
        assert code
        assert why in said
    code, said = run("rename-prefix", silo.path, "oai:z:", "oai:c:", "--yes")
    assert code
    assert "begins with oai:z:; the first of this Silo begins with oai:a:" in said
    silo.del_item("oai:b:1")
    said = run("rename-prefix", silo.path, "oai:z:", "oai:c:", "--dry-run")[1]
    assert "begins with oai:z:; those of this Silo begin with oai:a:" in said
    said = run("rename-prefix", silo.path, "oai:z:", "oai:c:")[1]  # before anybody is asked
    assert "begins with oai:z:; those of this Silo begin with oai:a:" in said
    assert "give --yes" in run("rename-prefix", silo.path, "oai:a:", "oai:c:")[1]
    assert (
        "7 records would be renamed"
        in run("rename-prefix", silo.path, "oai:a:", "oai:c:", "--dry-run")[1]
    )
    assert len(silo) == 7


def test_a_copy_of_nothing_makes_no_silo(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "c")
    code, said = run("copy", silo.path, out, "--filter", "agent=nobody")
    assert code == 0
    assert "is selected by" in said
    assert not os.path.exists(out)


def test_records_whose_new_paths_would_be_too_long_are_named_and_stay(silo: Silo) -> None:
    long, new = f"oai:a:{'x' * 1000}", f"oai:{'n' * 1000}:"
    silo.get_item(long).put_stream("f", b"x")
    planned = rename_prefix(silo, "oai:a:", new, quiet, dry_run=True)
    assert (planned.records, [*planned.failed]) == (7, [long])
    assert "too long for a path" in planned.failed[long]
    done = rename_prefix(silo, "oai:a:", new, quiet)
    assert (done.records, done.failed) == (planned.records, planned.failed)
    assert long in silo
    assert sum(one.startswith(new) for one in silo) == 7


@pytest.mark.long
@pytest.mark.parametrize("change", ["", "write", "remove"])
def test_a_split_that_goes_on_after_a_change_says_what_its_parts_lack(
    silo: Silo, tmp_path: Path, change: str
) -> None:
    out = str(tmp_path / "p")

    def split() -> dict[str, CopyReport]:
        return dict(split_silo(silo, out, "year", EVERYTHING, quiet))

    silo.close()
    assert killed(split, new_silo, "remove_file", 2)
    (done,) = (one for one in os.listdir(out) if "." not in one and "copying.json" not in
               os.listdir(f"{out}/{one}"))  # fmt: skip
    time.sleep(1.1)  # times of changes are whole seconds
    if change == "write":
        silo[next(iter(silo))].create_new_version("later")
    elif change == "remove":
        silo.del_item(next(iter(silo)), remember=True)
    notes = [note for part in split().values() for note in part.notes if "split began" in note]
    assert len(notes) == bool(change)
    if change:
        assert notes[0].startswith("1 record changed since this split began")
        assert f"({done})" in notes[0]
        assert f"delete {out} and split again" in notes[0]
