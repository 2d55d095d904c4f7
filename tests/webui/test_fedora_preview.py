"""What a record becomes in Fedora, on a page."""

import os
import sys
from typing import Any

import pytest

from recordsilo import Silo

RECORD = "/records/oai+example,org+1"
URL = "/fedora-preview/oai+example,org+1"


@pytest.fixture
def places(silo: Silo) -> None:
    os.makedirs(f"{silo.path}/curation", exist_ok=True)
    with open(f"{silo.path}/curation/fedora.toml", "w", encoding="utf-8") as file:
        file.write('[a]\nurl = "http://h/rest"\n[b]\nurl = "http://h/b"\ncrosswalk = "dcterms-1"\n')
        file.write('[c]\nurl = "http://h/rest"\ncrosswalk = "none.toml"\n')


@pytest.mark.usefixtures("places")
def test_a_record_leads_to_what_it_becomes_in_each_fedora(client: Any) -> None:
    page = client.get(RECORD).text
    assert f'href="{URL}?place=a"' in page
    text = client.get(f"{URL}?place=a").text
    assert "dc:creator" in text
    assert "pcdm:Object" in text
    assert "Nothing was sent" in text
    assert "dcterms:creator" in client.get(f"{URL}?place=b&layout=plain").text


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("place=x", "no export place x"),
        ("layout=x", "must be pcdm or plain"),
        ("place=c", "curation/none.toml cannot be read"),
    ],
)
def test_what_cannot_be_previewed_is_said(client: Any, silo: Silo, query: str, said: str) -> None:
    answer = client.get(f"{URL}?{query}")
    assert answer.status == 400
    assert said in answer.text.replace("&#39;", "'").replace("’", "'")
    assert silo.path not in answer.text


def test_without_a_fedora_a_record_does_not_lead_there(client: Any) -> None:
    assert "/fedora-preview/" not in client.get(RECORD).text


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.usefixtures("places")
def test_long_addresses_leave_room_for_the_other_columns(open_page: Any) -> None:
    page = open_page("/fedora-preview/oai+example,org+1", viewport={"width": 1280, "height": 800})
    wide, there = page.evaluate(
        "(() => { const box = document.querySelector('.scroll');"
        " return [box.scrollWidth, box.clientWidth]; })()"
    )
    assert wide <= there


@pytest.mark.usefixtures("places")
def test_the_form_of_an_export_has_the_layout(client: Any) -> None:
    assert '<option value="pcdm"' in client.get("/jobs/new/export-fedora").text
    job = client.post(
        "/jobs", {"kind": "export", "form": "fedora", "place": "a", "layout": "pcdm"}
    ).json
    assert job["arguments"]["layout"] == "pcdm"


@pytest.mark.usefixtures("places")
def test_without_the_extra_pages_say_what_to_install(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    said = "The export as Fedora needs the package rdflib; install it on the server: pip "
    answer = client.get(f"{URL}?place=a")
    assert (answer.status, said in answer.text) == (400, True)
    assert said in client.get(RECORD).text
    assert said in client.get("/jobs/new").text
    form = client.get("/jobs/new/export-fedora").text
    assert said in form
    assert '<option value="pcdm"' not in form
    refused = client.post("/jobs", {"kind": "export", "form": "fedora", "place": "a"})
    assert (refused.status, said in refused.text) == (400, True)


def test_parquet_has_no_part_in_a_form_without_its_package(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert '<option value="parquet"' in client.get("/jobs/new/export-sqlite").text
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert '<option value="parquet"' not in client.get("/jobs/new/export-sqlite").text
    assert "needs the package duckdb" in client.get("/jobs/new/export-parquet").text
