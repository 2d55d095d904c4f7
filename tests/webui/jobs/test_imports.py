"""Imports as jobs: of what is in the directory beside the Silo, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from silowork.errors import JobRefused
from silowork.kinds import read_request
from silowork.running import run_job
from silowork.service import Jobs
from silowork.values import State

HTML = "text/html"


@pytest.fixture
def place(silo: Silo) -> Path:
    found = Path(f"{silo.path}.imports")
    found.mkdir()
    return found


def begun(client: Any, **fields: str) -> Any:
    return client.post("/jobs", {"kind": "import", **fields}, accept="application/json")


def done(silo: Silo, client: Any, **fields: str) -> Any:
    """The page of the job that a form began, when it is over."""
    job = begun(client, **fields)
    assert job.status in (201, 202), job.text
    job_id = job.json["job"]
    run_job(silo.path, job_id)
    return client.json(f"/jobs/{job_id}")


def test_form_offers_what_is_beside_the_silo(client: Any, silo: Silo, place: Path) -> None:
    page = client.get("/jobs/new/import", accept=HTML).text
    assert f"Put what is to be imported into the directory {place.name} beside the Silo" in page
    (place / "table.csv").write_text("identifier,title\noai:x:1,Waves\n")
    (place / "link").symlink_to("/etc")
    (place / ".hidden").write_text("x")
    page = client.get("/jobs/new/import", accept=HTML).text
    assert '<option value="table.csv"' in page
    assert "link" not in [one["name"] for one in client.json("/jobs/new/import")["fields"]]
    assert str(place.parent) not in page


def test_table_is_checked_then_imported_and_the_page_says_so(
    client: Any, silo: Silo, place: Path
) -> None:
    (place / "table.csv").write_text("Nr,Title\n1,Waves\n,Tides\n")
    form = {"source": "table.csv", "form": "csv", "identifier": "Nr", "prefix": "oai:x:"}
    before = silo.count()
    job = done(silo, client, **form)
    assert job["counts"] == {"records": 0, "failed": 1}
    assert job["failed"] == [{"identifier": "line 3", "reason": "it has no identifier"}]
    job = done(silo, client, **form, skip_bad="yes", dry_run="yes")
    assert (job["counts"]["records"], silo.count()) == (1, before)
    job = done(silo, client, **form, skip_bad="yes")
    assert (job["counts"]["records"], silo.count()) == (1, before + 1)
    assert silo["oai:x:1"].state.current.origin.kind == "import"
    assert str(place.parent) not in client.get(f"/jobs/{job['job']}", accept=HTML).text
    assert done(silo, client, **form, skip_bad="yes")["counts"]["unchanged"] == 1


def test_what_is_none_of_its_form_fails_in_a_sentence(client: Any, silo: Silo, place: Path) -> None:
    (place / "box").mkdir()
    (place / "box" / "a").mkdir()
    (place / "box" / "a" / "x.txt").write_text("x")
    for form in ("bag", "ocfl", "csv"):
        job = done(silo, client, source="box", form=form)
        assert job["state"] == State.FAILED or job["failed"]
        assert str(place) not in str(job)
    assert done(silo, client, source="box", form="files")["counts"]["records"] == 1
    assert done(silo, client, source="box", form="file", titles="yes")["counts"]["records"] == 1


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"source": "../x", "form": "csv"}, "there is no '../x' (source) in the directory"),
        ({"source": "table.csv", "form": "x"}, "form is 'x'; it may be bag, ocfl, csv"),
        ({"source": "table.csv", "form": "csv", "map": "a"}, "does not say COLUMN=ELEMENT"),
        ({"source": "table.csv", "form": "csv", "path": "/etc"}, "has no field 'path'"),
    ],
)
def test_wrong_fields_are_refused(
    silo: Silo, place: Path, fields: dict[str, str], why: str
) -> None:
    (place / "table.csv").write_text("identifier,title\noai:x:1,Waves\n")
    with pytest.raises(JobRefused) as refused:
        read_request("import", fields, silo.path, 3)
    assert why in str(refused.value)
    asked = read_request(
        "import", {"source": "table.csv", "form": "csv", "map": "A B=title; C=-"}, silo.path, 3
    )
    assert asked.arguments["map"] == {"A B": "title", "C": "-"}
    assert Jobs.of(silo.path) is not None
