"""Tables and Fedora as jobs of the page: complete or failed, retried, and without passwords."""

import csv
import io
import itertools
import json
import os
import sqlite3
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fedora_server import serving
from fedora_simulator import Simulator

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from siloexport.fedora_places import FedoraPlace, fedora_place, fedora_places
from siloexport.jobs import export_of_preview, place_of
from siloexport.target_kinds import FormField, TargetKind
from silowork.errors import JobRefused
from silowork.forms import Input
from silowork.kinds import read_request
from silowork.running import run_job
from silowork.service import Jobs
from silowork.stop import Stop
from silowork.values import Job, JobAction, State
from silowork.work import Work
from webui.job_view import said_in_all

NAMES = [f"oai:example.org:{number}" for number in range(4)]
PASSWORD = "fedoraAdmin"  # the simulator's


def dublin_core(title: str) -> bytes:
    return (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></oai_dc:dc>'
    ).encode()


@pytest.fixture
def few(tmp_path: Path) -> str:
    """The directory of a Silo of a few records."""
    path = str(tmp_path / "few")
    date = "2004-06-24T00:00:00"
    with Silo(path) as silo, silo.batch(NAMES) as batch:
        for name in NAMES:
            edit = batch.edit(name)
            origin = Origin("harvest", prefixes={"oai_dc": date}, agent="test")
            edit.add_version("1", date=date, origin=origin, log="Harvested")
            edit.put("1", "oai_dc", dublin_core(f"Record {name}"), metadata=True)
    return path


def begun(path: str, **fields: str) -> Job:
    """A job as the form asks for it; nobody does it yet."""
    asked = read_request("export", fields, path, len(NAMES))
    return Jobs.of(path).begin("export", asked.title, asked.arguments, "ada")


def done(path: str, **fields: str) -> Job:
    job = begun(path, **fields)
    run_job(path, job.job_id)
    return Jobs.of(path).ledger.job(job.job_id)


def again(path: str, job: Job) -> Job:
    """The same job, tried again."""
    Jobs.of(path).act(job.job_id, JobAction.RETRY)
    run_job(path, job.job_id)
    return Jobs.of(path).ledger.job(job.job_id)


def test_the_counts_of_an_export_have_their_order_and_what_was_skipped(few: str) -> None:
    select = json.dumps({"identifiers": NAMES[:1]})
    assert done(few, form="files", name="out", select=select).counts == {"records": 1, "create": 1}
    with Silo(few) as silo:
        silo[NAMES[0]].clone_version("1", "workingcopy")
        silo[NAMES[0]].put_stream("note.txt", "changed here")
    (held,) = Path(f"{few}.exports/out").glob("*/oai_dc")
    held.write_text("changed by others")
    job = done(few, form="files", name="out", conflicts="skip")
    assert [*job.counts.items()] == [("records", 4), ("create", 3), ("skipped", 1)]
    select = json.dumps({"identifiers": NAMES[1:3]})
    assert done(few, form="files", name="other", select=select).counts["create"] == 2
    job = done(few, form="files", name="other")
    assert [*job.counts.items()] == [("records", 4), ("create", 2), ("nothing", 2)]


def test_a_receipt_counts_the_records_that_were_written(few: str) -> None:
    for form in ("files", "bag"):
        job = done(few, form=form, name=f"none-{form}", versions="curated")
        assert [*job.counts.items()] == [("records", 0), ("empty", 4)]
    job = done(few, form="zip", name="none", versions="curated")
    assert job.sentence == "no selected record has metadata in a curated version"
    with Silo(few) as silo:
        silo[NAMES[0]].clone_version("1", "workingcopy")
        silo[NAMES[1]].clone_version("1", "workingcopy")
        silo[NAMES[1]].put_stream("note.xml", "<note/>", metadata=True)
    for form, made in (("files", "create"), ("bag", "create"), ("zip", "files")):
        job = done(few, form=form, name=f"curated-{form}", versions="curated")
        assert job.counts["records"] == 2
        assert job.counts["empty"] == 2
        assert job.counts[made] == (3 if form == "zip" else 2)
        assert "2  with nothing to export" in job.text
    job = done(few, form="zip", name="notes", names="note.xml")
    assert [*job.counts.items()] == [("records", 1), ("files", 1), ("empty", 3)]
    with zipfile.ZipFile(f"{few}.exports/notes.zip") as archive:
        assert len(archive.namelist()) == 1
    job = done(few, form="links", name="links")
    lines = Path(f"{few}.exports/links.tsv").read_text().splitlines()[1:]
    assert job.counts.get("links", 0) == len(lines)
    assert job.counts["records"] == 4


def test_packages_are_made_as_the_boxes_say(client: Any, few: str) -> None:
    form = client.get("/jobs/new/export-sip").text
    assert '<input id="tar" name="tar" value="yes" type="checkbox">' in form
    assert "In bags (BagIt)" in form
    job = done(few, form="sip", name="packages", tar="yes", submitter="A library")
    assert job.counts["create"] == 4
    assert len([*Path(f"{few}.exports/packages").glob("*.tar.gz")]) == 4
    assert done(few, form="sip", name="packages").counts["nothing"] == 4


def test_tables_for_importers_have_forms_of_their_own(client: Any, few: str) -> None:
    form = client.get("/jobs/new/export-bulkrax").text
    assert "Sets that become collections" in form
    assert '<option value="restricted"' in form
    job = done(few, form="bulkrax", name="hyku", model="Etd", visibility="restricted")
    assert job.counts["create"] == 4
    assert "Etd" in Path(f"{few}.exports/hyku/bulkrax.csv").read_text()
    assert "Member of" in client.get("/jobs/new/export-workbench").text
    assert done(few, form="workbench", name="islandora").counts["create"] == 4
    assert "RO-Crate" in client.get("/jobs/new/export-rocrate").text
    assert done(few, form="rocrate", name="crates").counts["create"] == 4


def test_items_for_dspace_are_made_as_the_form_says(client: Any, few: str) -> None:
    form = client.get("/jobs/new/export-dspace").text
    assert 'name="collection"' in form
    job = done(few, form="dspace", name="saf", collection="123456789/2 123456789/3", group="Staff")
    assert (job.state, job.counts["create"]) == (State.DONE, 4)
    item = next(Path(f"{few}.exports/saf/items").iterdir())
    assert (item / "collections").read_text() == "123456789/2\n123456789/3\n"
    assert "permissions:-r 'Staff'" in (item / "contents").read_text()
    with pytest.raises(JobRefused, match="not a handle of a collection"):
        begun(few, form="dspace", name="other", collection="theses")
    assert 'name="collection"' in client.get("/jobs/new/export-dspace-zip").text
    job = done(few, form="dspace-zip", name="saf", collection="123456789/2")
    assert (job.counts["records"], job.counts["items"]) == (4, 4)
    with zipfile.ZipFile(f"{few}.exports/saf.zip") as archive:
        assert len([name for name in archive.namelist() if name.endswith("/dublin_core.xml")]) == 4


def test_documents_of_datacite_say_in_the_job_what_records_lack(client: Any, few: str) -> None:
    assert 'name="prefix"' in client.get("/jobs/new/export-datacite").text
    with Silo(few) as silo:
        content = dublin_core("Whole").replace(
            b"</oai_dc:dc>", b"<dc:creator>Ito</dc:creator><dc:date>2001</dc:date></oai_dc:dc>",
        )  # fmt: skip
        silo[NAMES[0]].clone_version("1", "workingcopy")
        silo[NAMES[0]].put_stream("oai_dc", content, metadata=True)
    fields = {"prefix": "10.5072", "publisher": "A library", "type": "Text", "format": "json"}
    job = done(few, form="datacite", name="dois", **fields)
    assert (job.counts["create"], job.counts["failed"]) == (1, 3)
    (_, problem), *_ = Jobs.of(few).ledger.problems(job.job_id, 10)
    assert "lacks what DataCite requires: a creator, a year of publication" in problem.reason
    (document,) = Path(f"{few}.exports/dois").glob("*.json")
    assert json.loads(document.read_text())["doi"] == "10.5072/example.org-0"
    with pytest.raises(JobRefused, match="not a prefix of DOIs"):
        begun(few, form="datacite", name="other", prefix="doi")


# -- tables -----------------------------------------------------------------------------


def test_a_table_is_a_file_beside_the_silo(few: str) -> None:
    job = done(few, form="csv", name="all", columns="record dc:title")
    assert (job.state, job.counts) == (State.DONE, {"records": 4})
    assert job.title == 'Export "all": CSV'
    assert job.advance.total == 4
    rows = list(csv.reader(io.StringIO(Path(few + ".exports/all.csv").read_text("utf-8-sig"))))
    assert rows == [["record", "dc:title"], *([name, f"Record {name}"] for name in NAMES)]


def test_databases_are_files_beside_the_silo(few: str) -> None:
    job = done(few, form="sqlite", name="all", query="Record")
    assert (job.state, job.counts) == (State.DONE, {"records": 4})
    with closing(sqlite3.connect(f"{few}.exports/all.db")) as database:
        assert database.execute("SELECT count(*) FROM record").fetchone() == (4,)
    job = done(few, form="parquet", name="all")
    assert (job.state, job.counts) == (State.DONE, {"records": 4})
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT count(*) FROM '{few}.exports/all.parquet'")
        assert found.fetchone() == (4,)


def test_an_export_has_the_records_of_a_moment(client: Any, few: str) -> None:
    assert 'name="as_of" type="datetime-local"' in client.get("/jobs/new/export-csv").text
    with Silo(few) as silo:
        silo[NAMES[0]].clone_version("1", "workingcopy")
        silo[NAMES[0]].put_stream("oai_dc", dublin_core("Changed"), metadata=True)
        silo.get_item("new").put_stream("oai_dc", dublin_core("New"), metadata=True)
    now = datetime.now(UTC).replace(tzinfo=None)
    at = (now + timedelta(seconds=1)).isoformat(timespec="seconds")
    time.sleep(1.01 - now.microsecond / 1_000_000)
    with Silo(few) as silo:
        silo[NAMES[1]].clone_version("1", "workingcopy")
        silo[NAMES[1]].put_stream("oai_dc", dublin_core("Later"), metadata=True)
    job = done(few, form="csv", name="then", as_of=at, columns="record version dc:title")
    assert (job.arguments["select"], job.counts) == ({"as_of": at}, {"records": 5})
    rows = Path(f"{few}.exports/then.csv").read_text("utf-8-sig")
    assert "New" in rows
    assert "Later" not in rows
    job = done(few, form="files", name="then", as_of=at, query="example.org")
    assert job.arguments["select"] == {"query": "example.org", "as_of": at}
    assert job.counts["create"] == 4
    with Silo(few) as silo:
        silo.del_item(NAMES[2], remember=True)
    for form in ("files", "csv"):
        job = done(few, form=form, name=f"later-{form}", as_of=at, query="example.org")
        assert (job.state, job.problems) == (State.DONE, 0)
        assert "so it cannot be selected" in job.report["notes"][-1]
    with pytest.raises(JobRefused, match="did not exist on 2000-01-01; it was made on"):
        begun(few, form="csv", name="all", as_of="2000-01-01")


def test_a_name_that_has_the_ending_of_its_kind_gets_no_second_one(few: str) -> None:
    job = done(few, form="csv", name="all.csv")
    assert (job.title, job.report["target"]) == ('Export "all": CSV', f"{few}.exports/all.csv")
    assert done(few, form="csv", name="all.csv.tsv").report["target"].endswith("/all.csv.tsv.csv")
    assert done(few, form="files", name="b.csv").report["target"].endswith(".exports/b.csv")


def test_elements_are_named_with_or_without_their_namespace(few: str) -> None:
    done(few, form="csv", name="short", columns="record,title date dc:creator")
    head, first, *_ = csv.reader(
        io.StringIO(Path(few + ".exports/short.csv").read_text("utf-8-sig"))
    )
    assert head == ["record", "dc:title", "date", "dc:creator"]
    assert first[:2] == [NAMES[0], f"Record {NAMES[0]}"]


def test_json_lines_hold_what_a_search_finds(few: str) -> None:
    assert done(few, form="jsonl", name="one", query='"example.org:2"').state is State.DONE
    lines = Path(few + ".exports/one.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["record"] for line in lines] == [NAMES[2]]


@pytest.mark.parametrize(("form", "ending"), [("csv", ".csv"), ("files", "")])
def test_a_job_follows_no_symbolic_link(few: str, tmp_path: Path, form: str, ending: str) -> None:
    place, outside = Path(f"{few}.exports/all{ending}"), tmp_path / "outside"
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    job = done(few, form=form, name="all")
    assert (job.state, "is a symbolic link" in job.sentence) == (State.FAILED, True)
    assert not outside.exists()


@pytest.mark.parametrize("form", ["csv", "files"])
def test_a_job_follows_no_symbolic_link_in_place_of_its_directory(
    few: str, tmp_path: Path, form: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(f"{few}.exports").symlink_to(outside)
    job = done(few, form=form, name="all")
    assert (job.state, "is a symbolic link" in job.sentence) == (State.FAILED, True)
    assert not os.listdir(outside)


def test_a_link_that_is_made_meanwhile_is_replaced_and_not_followed(
    few: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, place = tmp_path / "outside", Path(f"{few}.exports/all.csv")
    outside.write_text("mine")

    def link(*_far: object) -> None:
        if not place.is_symlink():
            place.symlink_to(outside)

    monkeypatch.setattr(Work, "advanced", link)
    done(few, form="csv", name="all", conflicts="overwrite")
    assert outside.read_text() == "mine"
    assert not place.is_symlink()


@pytest.mark.parametrize("form", ["csv", "files"])
def test_an_export_of_no_record_says_so(few: str, form: str) -> None:
    job = done(few, form=form, name="none", query="type:thesis")
    assert (job.state, job.counts) == (State.FAILED, {"records": 0})
    assert "0  records" in job.text
    assert "no record is selected" in job.sentence
    assert not Path(few + ".exports/none.csv").exists()


def manifest_of(path: str, name: str) -> Path:
    with Silo(path, create=False) as silo:
        return Path(silo[name].path_to_item()) / "__manifest.json"


def test_a_table_without_a_record_is_not_done_until_the_record_is_mended(
    few: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = manifest_of(few, NAMES[1])
    sound = manifest.read_bytes()
    with monkeypatch.context() as patch:  # damaged after the records were listed
        patch.setattr(Work, "advanced", lambda *_far: manifest.write_bytes(b"{"))
        job = done(few, form="csv", name="all")
    assert (job.state, job.counts["records"], job.counts["failed"]) == (State.FAILED, 3, 1)
    (_, problem), *_ = Jobs.of(few).ledger.problems(job.job_id, 10)
    assert problem.identifier == NAMES[1]
    manifest.write_bytes(sound)
    mended = again(few, job)
    assert (mended.state, mended.problems, mended.counts) == (State.DONE, 0, {"records": 4})


def test_a_table_that_is_stopped_leaves_the_one_before(
    few: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(few, form="csv", name="all", query='"example.org:2"')
    before = Path(few + ".exports/all.csv").read_bytes()
    job = begun(few, form="csv", name="all")
    asked = itertools.chain([False], itertools.repeat(True))
    monkeypatch.setattr(Stop, "asked", property(lambda _stop: next(asked)))
    assert run_job(few, job.job_id) is State.QUEUED
    monkeypatch.undo()
    assert os.listdir(few + ".exports") == ["all.csv"]
    assert Path(few + ".exports/all.csv").read_bytes() == before
    assert run_job(few, job.job_id) is State.DONE
    assert len(Path(few + ".exports/all.csv").read_bytes()) > len(before)


def test_a_table_that_others_changed_is_replaced_only_when_asked(few: str) -> None:
    table = Path(few + ".exports/all.csv")
    done(few, form="csv", name="all")
    exported = table.read_bytes()
    table.write_text("by hand")
    job = done(few, form="csv", name="all")
    assert job.state is State.FAILED
    assert "has changed since this Silo exported it" in job.sentence
    assert table.read_text() == "by hand"
    assert done(few, form="csv", name="all", conflicts="overwrite").state is State.DONE
    assert table.read_bytes() == exported


def test_a_table_is_had_from_the_page_of_its_job(client: Any, silo: Silo) -> None:
    job = done(silo.path, form="csv", name="all", columns="record")
    url = f"/jobs/{job.job_id}/file"
    assert f'href="{url}"' in client.get(f"/jobs/{job.job_id}").text
    table = client.get(url)
    assert table.headers["Content-Type"].startswith("text/csv")
    assert table.headers["Content-Disposition"] == 'attachment; filename="all.csv"'
    assert table.body == Path(silo.path + ".exports/all.csv").read_bytes()
    os.unlink(silo.path + ".exports/all.csv")
    os.symlink("/etc/hostname", silo.path + ".exports/all.csv")
    assert client.get(url, accept="application/json").status == 404
    os.unlink(silo.path + ".exports/all.csv")
    assert client.get(url, accept="application/json").status == 404
    files = done(silo.path, form="files", name="plain")
    assert client.get(f"/jobs/{files.job_id}/file", accept="application/json").status == 404
    assert "/file" not in client.get(f"/jobs/{files.job_id}").text


def test_the_page_of_an_export_names_its_place_without_the_path_of_the_silo(
    client: Any, silo: Silo
) -> None:
    job = done(silo.path, form="files", name="plain")
    page, twin = client.get(f"/jobs/{job.job_id}").text, client.get(f"/jobs/{job.job_id}.json")
    place = f"{os.path.basename(silo.path)}.exports/plain"
    assert f'<dd dir="auto">{place}</dd>' in page
    assert twin.json["report"]["target"] == place
    assert os.path.dirname(silo.path) not in page + twin.text + client.get("/jobs.json").text


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"form": "csv", "name": "../all"}, "the name of an export"),
        ({"form": "csv", "name": "all", "conflicts": "skip"}, "must be one of fail, overwrite"),
        ({"form": "csv", "name": "all", "columns": "record colour"}, "no field 'colour'"),
        ({"form": "files", "name": "all", "deletions": "burn"}, "status, delete, keep"),
        ({"form": "files", "name": "all", "conflicts": "win"}, "fail, skip, overwrite"),
        ({"name": "x", "query": "(((("}, "the query '\\(\\(\\(\\(' has no word"),
        ({"form": "fedora", "place": "nowhere"}, "no export place 'nowhere'; there are none"),
    ],
)
def test_an_export_that_means_nothing_is_refused(
    few: str, fields: dict[str, str], sentence: str
) -> None:
    with pytest.raises(JobRefused, match=sentence):
        read_request("export", fields, few, 4)


# -- Fedora -----------------------------------------------------------------------------


def name_places(path: str, text: str) -> None:
    os.makedirs(path + "/curation", exist_ok=True)
    Path(path + "/curation/fedora.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def login(tmp_path: Path) -> str:
    """A file of credentials that only its owner may read."""
    path = tmp_path / "fedora.login"
    path.write_text(f"fedoraAdmin:{PASSWORD}\n")
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def fedora() -> Iterator[str]:
    """The address of a simulated Fedora."""
    with serving(Simulator("6.5.1")) as root:
        yield root


def test_records_go_to_a_fedora_by_its_name_and_no_password_is_kept(
    few: str, fedora: str, login: str
) -> None:
    name_places(few, f'[eprints]\nurl = "{fedora}/eprints"\ncredentials = "{login}"\n')
    job = done(few, form="fedora", place="eprints", versions="all")
    assert (job.state, job.counts) == (State.DONE, {"records": 4, "create": 4}), job.sentence
    assert job.title == "Export to Fedora: eprints"
    same = done(few, form="fedora", place="eprints", versions="all")
    assert (same.state, same.counts) == (State.DONE, {"records": 4, "nothing": 4})
    kept = [Path(parent) / file for parent, _, files in os.walk(few) for file in files]
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]


def test_a_preview_of_an_export_writes_nothing_and_becomes_the_export(
    few: str, fedora: str, login: str
) -> None:
    name_places(few, f'[eprints]\nurl = "{fedora}/eprints"\ncredentials = "{login}"\n')
    select = json.dumps({"identifiers": NAMES[:2]})
    job = done(few, form="fedora", place="eprints", select=select, dry_run="yes")
    assert (job.state, job.counts) == (State.DONE, {"records": 2, "create": 2}), job.sentence
    assert job.title == "Preview: Export to Fedora: eprints"
    assert said_in_all(job) == "2 checked"
    assert job.report["notes"] == [
        "Preview: nothing was written. The numbers are what the export would do."
    ]
    assert not os.path.exists(few + "/curation/exports")
    real = done(few, **export_of_preview(job.arguments))
    assert (real.state, real.counts) == (State.DONE, {"records": 2, "create": 2}), real.sentence
    files = done(few, form="files", name="out", dry_run="yes")
    assert files.counts == {"records": 4, "create": 4}
    assert not os.path.exists(few + ".exports")
    with pytest.raises(JobRefused, match="has no preview"):
        begun(few, form="csv", name="t", dry_run="yes")


def test_the_page_of_a_preview_offers_its_export(client: Any, silo: Silo) -> None:
    fields = {"kind": "export", "form": "files", "name": "out", "dry_run": "yes", "when": "daily"}
    select = json.dumps({"identifiers": ["oai:example.org:1"]})
    job = client.post("/jobs", fields | {"select": select}).json
    run_job(silo.path, job["job"])
    page = client.get(f"/jobs/{job['job']}").text
    assert "Preview: nothing was written." in page
    assert '<input type="hidden" name="form" value="files">' in page
    assert "dry_run" not in page
    assert client.get("/jobs/new/export-csv").text.count('name="dry_run"') == 0
    assert client.get("/jobs/new/export-files").text.count('name="dry_run"') == 1


def test_a_fedora_that_lets_nobody_in_is_no_success(few: str, fedora: str, login: str) -> None:
    Path(login).write_text("fedoraAdmin:wrong\n")
    name_places(few, f'[eprints]\nurl = "{fedora}/eprints"\ncredentials = "{login}"\n')
    job = done(few, form="fedora", place="eprints")
    assert job.state is State.FAILED
    assert job.problems == 1
    assert "wrong" not in json.dumps(job.to_json())
    Path(login).write_text(f"fedoraAdmin:{PASSWORD}\n")
    assert again(few, job).state is State.DONE


def test_a_login_that_others_may_read_is_refused(few: str, fedora: str, login: str) -> None:
    os.chmod(login, 0o644)
    name_places(few, f'[eprints]\nurl = "{fedora}/eprints"\ncredentials = "{login}"\n')
    job = done(few, form="fedora", place="eprints")
    assert job.state is State.FAILED
    assert "other users may read" in job.sentence


def test_without_credentials_the_environment_is_asked(
    few: str, fedora: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEDORA_USER", "fedoraAdmin")
    monkeypatch.setenv("FEDORA_PASSWORD", PASSWORD)
    name_places(few, f'[eprints]\nurl = "{fedora}/eprints"\n')
    assert done(few, form="fedora", place="eprints").state is State.DONE


def test_a_crosswalk_may_lie_in_curation(few: str) -> None:
    name_places(few, '[a]\nurl = "http://h/rest"\ncrosswalk = "mine.toml"\n')
    assert fedora_places(few) == {
        "a": FedoraPlace("a", "http://h/rest", None, few + "/curation/mine.toml")
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[a", "curation/fedora.toml cannot be read"),
        ("a = 1", r"\[a\] it is not a table"),
        ("[a]\nport = 'x'", r"\[a\] there is no setting 'port'"),
        ("[a]\nurl = 'ftp://h'", "must begin with http:// or https://"),
        ("[a]\nurl = 'http://h'\ncredentials = 'login'", "must be an absolute path"),
        ("[a]\nurl = 'http://h'\ncredentials = '{silo}/curation/login'", "are inside the Silo"),
        ("[a]\nurl = 'http://h'", "no export place 'b'; there are a"),
    ],
)
def test_a_file_of_places_that_means_nothing_is_refused(few: str, text: str, sentence: str) -> None:
    name_places(few, text.replace("{silo}", few))
    with pytest.raises(JobRefused, match=sentence):
        fedora_place(few, "b")


def test_the_form_offers_the_fedoras_that_are_named(client: Any, silo: Silo) -> None:
    form = "/jobs/new/export-fedora"
    assert "No Fedora is configured for this Silo." in client.get(form).text
    name_places(silo.path, '[a]\nurl = "http://h/rest"\n[b]\nurl = "https://<b>/"\n')
    page = client.get(form)
    assert '<option value="a">a (http://h/rest)</option>' in page.text
    assert "<b>" not in page.text
    assert client.json("/jobs/new")["fedoras"] == [
        {"name": "a", "url": "http://h/rest"},
        {"name": "b", "url": "https://<b>/"},
    ]
    name_places(silo.path, "[a")
    assert "curation/fedora.toml cannot be read" in client.get(form).text


def test_a_table_has_its_form_as_ending() -> None:
    assert place_of("/silos/my", "a", "csv") == "/silos/my.exports/a.csv"
    assert place_of("/silos/my", "a", "bag") == "/silos/my.exports/a"


def test_the_forms_are_made_of_the_kinds_of_targets(client: Any, contribute: Any) -> None:
    fields = (
        FormField("mark", "Mark <b>", required=True, help="What to write."),
        FormField("colour", "Colour", Input.CHOICE, choices=(("red", "Red"), ("blue", "Blue"))),
    )
    kind = TargetKind("made-up", "Made up", "Export a list", "L.", fields, write=lambda *_: None)
    contribute("siloexport.targets", "made-up", kind)
    page = client.get("/jobs/new/export-files").text
    assert '<option value="files">files</option>' in page
    assert page.index('value="files">files<') < page.index('value="bag">bags (BagIt)<')
    table = client.get("/jobs/new/export-csv").text
    assert '<option value="csv">CSV</option>' in table
    assert "Separated by spaces. Leave empty for the usual ones.</small>" in table
    assert '<p dir="ltr">record datestamp version dc:title' in table
    assert '<a href="/jobs/new/export-made-up">Export a list</a>' in client.get("/jobs/new").text
    form = client.get("/jobs/new/export-made-up").text
    assert '<input type="hidden" name="form" value="made-up">' in form
    assert 'name="mark" type="text" value="" required' in form
    assert "Mark &lt;b&gt;" in form
    assert '<option value="blue">Blue</option>' in form
