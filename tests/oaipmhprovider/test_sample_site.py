"""The sample repository's page, and the changes that its button publishes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
import sickle

from oaipmhprovider import SampleServer, Selection, sample_repository
from oaipmhprovider.sample.site import ChangingSample
from oaipmhprovider.wsgi import utc_now


@pytest.fixture
def server() -> Iterator[SampleServer]:
    with SampleServer(size=40) as running:
        yield running


def titles(server: SampleServer) -> dict[str, list[str]]:
    records = sickle.Sickle(server.base_url).ListRecords(
        metadataPrefix="oai_dc", ignore_deleted=True
    )
    return {one.header.identifier: one.metadata.get("title", []) for one in records}


def test_the_page_names_the_base_url_and_has_the_button(server: SampleServer) -> None:
    page = requests.get(server.page_url, timeout=30)
    assert server.base_url in page.text
    assert 'action="/changes"' in page.text
    assert "None yet" in page.text


def test_the_button_changes_five_records_for_harvesters(server: SampleServer) -> None:
    before = titles(server)
    page = requests.post(f"{server.page_url}changes", timeout=30)
    after = titles(server)
    changed = [one for one in after if after[one] != before[one]]
    assert len(changed) == 5
    assert all(one in page.text for one in changed)
    assert "oai:eprints.example.org:3000" in changed
    assert all(after[one][0] == f"{before[one][0]} (edition 2)" for one in changed)


def test_a_form_of_another_site_changes_nothing(server: SampleServer) -> None:
    answer = requests.post(
        f"{server.page_url}changes", headers={"Origin": "https://other.example"}, timeout=30
    )
    assert answer.status_code == 403
    assert "None yet" in requests.get(server.page_url, timeout=30).text


def test_changes_begin_again_after_the_last_record() -> None:
    source = ChangingSample(sample_repository(7))
    live = [one.identifier for one in source.headers(Selection("oai_dc"), None, 7)]
    found = [one for _ in range(3) for one in source.change(utc_now())]
    assert found == [*live, *live[:5]]
    again = source.record(live[0], "oai_dc").metadata
    assert again is not None
    assert b"(edition 3)</dc:title>" in again


def test_requests_at_once_change_different_records() -> None:
    source = ChangingSample(sample_repository(400))
    with ThreadPoolExecutor(8) as threads:
        changed = threads.map(lambda _: source.change(utc_now()), range(8))
        found = [one for some in changed for one in some]
    assert len(found) == len(set(found)) == 40
    assert sorted(found) == sorted(source.changed)
