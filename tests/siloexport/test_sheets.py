"""Tables with files pass the suite of all targets, and say what the importers have to read."""

import csv
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conformance import ODD, Change, Content, DiskTargetContract
from sheet_readers import by_bulkrax, by_workbench

from recordsilo import Silo
from siloexport import Deletions, Export, Policy, Target, Versions
from siloexport.commands.export import export
from siloexport.errors import TargetUnusable
from siloexport.sheet_kinds import BULKRAX, WORKBENCH
from siloexport.target_kinds import Opening
from siloexport.targets.bulkrax import BulkraxTable
from siloexport.targets.rocrate import CrateTarget
from siloexport.targets.sheet import SheetTarget
from siloexport.targets.sheet_facts import record_name, set_name

TWO = "oai:example.org:2"
NAME = record_name(TWO)
RICH = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>=1+1|2</dc:title>'
    "<dc:creator>Köhler, Hans-Jörg</dc:creator><dc:creator>Ek; Bo: the elder</dc:creator>"
    "<dc:subject>Physics: theory</dc:subject><dc:subject>1990</dc:subject>"
    "<dc:description>“Quoted” a|b</dc:description><dc:publisher>Press</dc:publisher>"
    "<dc:date>2016-05</dc:date><dc:type>Article</dc:type><dc:language>deu</dc:language>"
    "<dc:identifier>http://example.org/2/</dc:identifier>"
    "<dc:rights>https://creativecommons.org/licenses/by/4.0</dc:rights>"
    "<dc:rights>Ask &lt;us&gt;</dc:rights>"
    "<dc:rights>http://rightsstatements.org/page/InC-EDU/1.0/?language=en</dc:rights>"
    "%s</oai_dc:dc>"
)
EMBARGO = (
    "<dc:rights>info:eu-repo/semantics/embargoedAccess</dc:rights>"
    "<dc:date>info:eu-repo/date/embargoEnd/2030-01-01</dc:date>"
)


class SheetRig:
    versions = Versions.CURRENT

    def __init__(self, directory: Path, day: date = date(2026, 1, 1)) -> None:
        self.directory, self.day = directory, day

    def target(self) -> SheetTarget:
        return SheetTarget(
            str(self.directory), "bulkrax", lambda _settings: BulkraxTable(), {}, {},
            today=lambda: self.day,
        )  # fmt: skip

    def target_probed(self) -> SheetTarget:
        target = self.target()
        target.probe()
        return target

    def path(self, identifier: str) -> Path:
        return self.directory / "files" / record_name(identifier)

    def holds(self, identifier: str) -> Content:
        if not self.path(identifier).exists():
            return []
        about = json.loads((self.path(identifier) / "silo.json").read_text("utf-8"))
        files = {one["path"]: (self.path(identifier) / one["place"]).read_bytes()
                 for one in about["files"]}  # fmt: skip
        return [(about["version"], files)]

    def spoil(self, identifier: str) -> None:
        place = self.path(identifier) / "metadata" / "oai_dc"
        content = bytearray(place.read_bytes())
        content[len(content) // 2] ^= 1
        place.write_bytes(bytes(content))


@pytest.mark.long
class TestSheets(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> SheetRig:
        return SheetRig(tmp_path / "hyku")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def rich(silo: Silo) -> Silo:
    """The Silo, whose second record has what importers stumble over."""
    record = silo[TWO]
    record.put_stream("oai_dc", RICH % EMBARGO, metadata=True)
    record.put_stream("100% sure; (a b).pdf", "x")
    return silo


def run(silo: Silo, target: Target, **policy: Any) -> None:
    report = Export(silo, target, Policy(**policy)).run()
    assert report.whole, (report.problems, report.stopped)


def opened(kind: Any, silo: Silo, out: Path, **values: Any) -> Target:
    with kind.open(Opening(silo.path, values, str(out))) as target:
        found: Target = target
    return found


def test_bulkrax_reads_collections_works_and_files(rich: Silo, out: Path) -> None:
    run(rich, opened(BULKRAX, rich, out, model="Etd"))
    found = by_bulkrax(out)
    assert set(found.collections) == {set_name(one) for one in ("a", "a:b", "ab")}
    assert found.collections[set_name("a:b")]["parents"] == [set_name("a")]
    work = found.works[NAME]
    assert (work["model"], work["parents"]) == (["Etd"], [set_name("a:b")])
    assert work["title"] == ["=1+1¦2"]  # nothing can be escaped
    assert work["creator"] == ["Köhler, Hans-Jörg", "Ek; Bo: the elder"]
    assert work["subject"] == ["Physics: theory", "1990"]
    assert work["identifier"] == [TWO, "http://example.org/2/"]
    assert work["license"] == ["https://creativecommons.org/licenses/by/4.0/"]
    assert work["rights_statement"] == ["http://rightsstatements.org/vocab/InC-EDU/1.0/"]
    assert work["rights_notes"] == ["Ask <us>"]
    assert (work["visibility"], work["embargo_release_date"]) == (["embargo"], ["2030-01-01"])
    titles = {one["title"][0]: one for one in found.file_sets.values()}
    assert set(titles) == {"100% sure; (a b).pdf", "docs/licence.txt"}
    assert titles["docs/licence.txt"]["parents"] == [NAME]
    assert titles["docs/licence.txt"]["visibility"] == ["embargo"]
    assert found.works[record_name("oai:example.org:1")]["visibility"] == ["open"]


@pytest.mark.parametrize("split", [r"\s*[:;|]\s*", r"\|", r"\s*[;|]\s*"])
def test_names_and_relations_stand_any_mapping(
    rich: Silo, out: Path, harvest: Change, split: str
) -> None:
    """The stock mapping of Bulkrax also splits at colons and semicolons."""
    for identifier in (*ODD, "#a;b", "=x", "-y"):
        harvest(rich, identifier, "Odd", "a:b;c")
    run(rich, opened(BULKRAX, rich, out))
    found = by_bulkrax(out, split)
    assert len(found.works) == 3 + len(ODD) + 3
    assert len(found.file_sets) == 2


def test_workbench_reads_parents_before_children_and_files(rich: Silo, out: Path) -> None:
    run(rich, opened(WORKBENCH, rich, out, member_of="12", host="https://islandora.example.org"))
    nodes = by_workbench(out)
    node = nodes[NAME]
    assert (node.title, node.parent, node.file) == ("=1+1¦2", set_name("a:b"), None)
    assert node.fields["field_linked_agent"] == [
        "relators:aut:person:Köhler, Hans-Jörg", "relators:aut:person:Ek; Bo: the elder",
    ]  # fmt: skip
    assert node.fields["field_subject"] == ["subject:Physics: theory", "subject:1990"]
    assert node.fields["field_language"] == ["German"]
    assert node.fields["field_edtf_date_issued"] == ["2016-05"]
    assert node.fields["field_abstract"] == ["“Quoted” a¦b"]
    children = [one for one in nodes.values() if one.parent == NAME]
    assert [one.title for one in children] == ["docs/licence.txt", "100% sure; (a b).pdf"]
    assert [one.fields["field_weight"] for one in children] == [["1"], ["2"]]
    assert children[1].model == "https://schema.org/DigitalDocument"
    assert children[0].file is not None
    assert children[0].file.read_text() == "CC BY 4.0"
    assert nodes[set_name("a")].fields["field_member_of"] == ["12"]
    assert nodes[set_name("a:b")].parent == set_name("a")
    assert (out / "workbench.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert not (out / "workbench.csv").read_bytes().startswith(b"\xef\xbb\xbf\xef")


def test_no_cell_is_a_formula(rich: Silo, out: Path, harvest: Change) -> None:
    for identifier in ("=x", "+y", "@z", "oai:a:=1"):
        harvest(rich, identifier, "-1", "=s")
    run(rich, opened(BULKRAX, rich, out / "hyku"))
    run(rich, opened(WORKBENCH, rich, out / "islandora"))
    for place in out.glob("*/*.csv"):
        with place.open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [one for one in cells if one.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert by_bulkrax(out / "hyku").works[record_name("=x")]["title"] == ["-1"]


def test_embargo_ends_with_its_day(rich: Silo, out: Path) -> None:
    rig = SheetRig(out)
    run(rich, rig.target())
    for day, visibility in ((date(2029, 12, 31), "embargo"), (date(2030, 1, 1), "open")):
        rig.day = day
        run(rich, rig.target())  # nothing else changed
        assert by_bulkrax(out).works[NAME]["visibility"] == [visibility]
        assert Export(rich, rig.target()).verify().differences == 0


def test_table_follows_what_was_withdrawn_and_rolled_back(
    silo: Silo, out: Path, harvest: Change, delete_at_source: Change
) -> None:
    rig = SheetRig(out)
    run(silo, rig.target())
    delete_at_source(silo, "oai:example.org:1")
    run(silo, rig.target(), deletions=Deletions.DELETE)
    assert set(by_bulkrax(out).works) == {NAME, record_name("oai:example.org:3")}
    harvest(silo, "oai:example.org:5", "Five")
    last = Export(silo, rig.target()).run()
    assert len(by_bulkrax(out).works) == 3
    Export(silo, rig.target()).rollback(last.run_id)
    assert len(by_bulkrax(out).works) == 2


def test_table_that_a_killed_run_did_not_write_is_written_by_the_next(
    silo: Silo, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_arguments: Any) -> None:
        raise Killed

    rig = SheetRig(out)
    run(silo, rig.target())
    before = (out / "bulkrax.csv").read_bytes()
    silo[TWO].put_stream("more.txt", "x")
    for moment in ("finish", "_looked_through"):
        with monkeypatch.context() as patched:
            patched.setattr(SheetTarget, moment, killed)
            with pytest.raises(Killed):
                Export(silo, rig.target()).run()
        assert (out / "bulkrax.csv").read_bytes() == before
    with monkeypatch.context() as patched:
        patched.setattr("recordsilo.disk.whole_file.os.rename", killed)
        with pytest.raises(Killed):
            rig.target_probed().finish()
    assert Export(silo, rig.target()).verify().differences == 1
    run(silo, rig.target())
    assert len(by_bulkrax(out).file_sets) == 2
    assert not list(out.glob("*.tmp"))
    assert Export(silo, rig.target()).verify().differences == 0


def test_sets_that_are_asked_for_stand_for_those_in_them(silo: Silo, out: Path) -> None:
    run(silo, opened(BULKRAX, silo, out, collections=["a"]))
    found = by_bulkrax(out)
    assert set(found.collections) == {set_name("a")}
    assert found.works[NAME]["parents"] == [set_name("a")]
    run(silo, opened(BULKRAX, silo, out, collections=["a:b"]))
    found = by_bulkrax(out)
    assert set(found.collections) == {set_name("a:b")}
    assert found.collections[set_name("a:b")]["parents"] == []
    assert found.works[record_name("oai:example.org:1")]["parents"] == []


def test_long_names_and_odd_texts_are_no_failure(silo: Silo, out: Path, harvest: Change) -> None:
    harvest(silo, "oai:example.org:" + ";" * 120, "Long")
    silo[TWO].create_new_version("odd", message="half a pair: \ud800")
    names = ["a b " * 50 + f"{number}.pdf" for number in range(2)]
    for name in names:
        silo[TWO].put_stream(name, "x")
    run(silo, opened(BULKRAX, silo, out))
    files = by_bulkrax(out).file_sets.values()
    assert {one["title"][0] for one in files} == {" ".join(name.split()) for name in names}
    assert all(one["file"][0].endswith(".pdf") for one in files)
    run(silo, CrateTarget(str(out / "crates")))


def test_other_sets_change_the_table(silo: Silo, out: Path) -> None:
    rig = SheetRig(out)
    run(silo, rig.target())
    with silo.batch([TWO]) as batch:
        batch.edit(TWO).set_metadata("setSpec", ["c"])
    run(silo, rig.target())
    found = by_bulkrax(out)
    assert set(found.collections) == {set_name(one) for one in ("a", "ab", "c")}
    assert found.works[NAME]["parents"] == [set_name("c")]


def test_table_that_others_changed_is_kept(silo: Silo, out: Path) -> None:
    rig = SheetRig(out)
    run(silo, rig.target())
    table = out / "bulkrax.csv"
    edited = table.read_bytes().replace(b",Two,", b",Second,")
    table.write_bytes(edited)
    silo[TWO].put_stream("more.txt", "x")
    found = {one.detail for one in Export(silo, rig.target()).verify().first}
    assert found == {"others changed bulkrax.csv"}
    said = CliRunner().invoke(export, ["verify", silo.path, str(out)], standalone_mode=False).stderr
    assert said == f"silo: rename {table}, and the same export writes it again\n"
    with pytest.raises(TargetUnusable, match="was changed since it was exported; rename it, and"):
        Export(silo, rig.target()).run()
    assert table.read_bytes() == edited
    table.rename(out / "edited.csv")
    run(silo, rig.target())
    assert by_bulkrax(out).works[NAME]["title"] == ["Two"]


def test_command_keeps_its_settings_and_refuses_in_sentences(silo: Silo, out: Path) -> None:
    def call(command: str, *options: str) -> tuple[int, str]:
        arguments = [command, silo.path, str(out), *options]
        result = CliRunner().invoke(export, arguments, standalone_mode=False)
        code = getattr(result.exception, "exit_code", None) or result.return_value or 0
        return code, result.output + str(result.exception or "")

    code, said = call("bulkrax", "--model", "not a class")
    assert (code, "is the name of a class, such as GenericWork" in said) == (2, True)
    assert not out.exists()
    code, said = call("bulkrax", "--visibility", "restricted", "--collection", "ab")
    assert (code, "3 created" in said) == (0, True)
    assert set(by_bulkrax(out).collections) == {set_name("ab")}
    assert call("verify") == (0, f"{out}: 3 versions of 3 records compared, 0 differences\n")
    assert call("bulkrax", "--model", "Etd")[0] == 0
    work = by_bulkrax(out).works[NAME]
    assert (work["model"], work["visibility"]) == (["Etd"], ["restricted"])
    code, said = call("workbench")
    assert (code, "holds an export as bulkrax; name another directory" in said) == (3, True)
    for options in (("--member-of", "x"), ("--host", "islandora"), ("--collection", "c")):
        code, said = call("workbench", *options)
        assert (code, said.count("\n") <= 1) == (2, True)
    assert "no record is in the set c" in said
