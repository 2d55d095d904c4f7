"""The sample repository on a socket, harvested whole by two other harvesters."""

import contextlib
import http.client
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import oaipmh_scythe
import pytest
import requests
import sickle

from oaipmhprotocol import Granularity
from oaipmhprovider import ProviderServer, SampleServer, Selection, Settings
from oaipmhprovider.sample import SampleRepository


@pytest.fixture(scope="module")
def server() -> Iterator[SampleServer]:
    with SampleServer(settings=Settings(page_size=400)) as running:
        yield running


def listed(source: Any, prefix: str) -> list[tuple[str, str, bool]]:
    headers = source.headers(Selection(prefix), None, 10_000)
    return [(one.identifier, one.datestamp, one.deleted) for one in headers]


@pytest.mark.long
@pytest.mark.parametrize("prefix", ["oai_dc", "uketd_dc", "pmc_fm"])
def test_sickle_harvests_it_whole(server: SampleServer, prefix: str) -> None:
    client = sickle.Sickle(server.base_url)
    got = [
        (one.header.identifier, one.header.datestamp, one.header.deleted)
        for one in client.ListRecords(metadataPrefix=prefix)
    ]
    assert got == listed(server.source, prefix)


@pytest.mark.long
@pytest.mark.parametrize("prefix", ["oai_dc", "uketd_dc", "pmc_fm"])
def test_oaipmh_scythe_harvests_it_whole(server: SampleServer, prefix: str) -> None:
    with oaipmh_scythe.Scythe(server.base_url) as client:
        got = [
            (one.header.identifier, one.header.datestamp, one.header.deleted)
            for one in client.list_records(metadata_prefix=prefix)
        ]
    assert got == listed(server.source, prefix)


def test_sickle_reads_the_other_verbs(server: SampleServer) -> None:
    client = sickle.Sickle(server.base_url)
    assert client.Identify().baseURL == server.base_url
    assert [one.metadataPrefix for one in client.ListMetadataFormats()] == [
        "oai_dc",
        "uketd_dc",
        "pmc_fm",
    ]
    assert [one.setSpec for one in client.ListSets()] == [one.spec for one in server.source.sets()]
    record = client.GetRecord(identifier="oai:eprints.example.org:6102", metadataPrefix="oai_dc")
    assert record.metadata["title"]


def test_a_connection_is_kept_alive(server: SampleServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with contextlib.closing(connection):
        connection.connect()
        kept = connection.sock
        for _ in range(3):
            connection.request("GET", "/cgi/oai2?verb=Identify")
            assert connection.getresponse().read().endswith(b"</OAI-PMH>\n")
            assert connection.sock is kept


def test_it_listens_on_loopback_alone(server: SampleServer) -> None:
    assert server.base_url.startswith("http://127.0.0.1:")
    with socket.socket() as probe, pytest.raises(OSError, match="refused"):
        probe.connect(("127.0.0.2", server.port))


def test_many_harvesters_at_once_get_the_same(server: SampleServer) -> None:
    bodies: list[bytes] = []

    def harvest() -> None:
        query = {"verb": "ListIdentifiers", "metadataPrefix": "oai_dc", "set": "openaire"}
        bodies.append(requests.get(server.base_url, params=query, timeout=30).content)

    threads = [threading.Thread(target=harvest) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bodies) == 12
    lists = {body[body.index(b"<request") : body.index(b"<resumptionToken")] for body in bodies}
    assert len(lists) == 1


def test_closing_frees_the_port_and_the_threads(repository: SampleRepository) -> None:
    before = threading.active_count()
    with ProviderServer(repository) as first, requests.Session() as session:
        assert session.get(first.base_url, params={"verb": "Identify"}).ok
    with ProviderServer(repository, first.port) as second:
        assert second.base_url == first.base_url
    end = time.monotonic() + 30
    while threading.active_count() != before and time.monotonic() < end:
        time.sleep(0.01)  # Cheroot does not wait for its thread of surplus connections
    assert threading.active_count() == before


def test_closing_twice_does_no_harm(repository: SampleRepository) -> None:
    server = ProviderServer(repository)
    server.close()
    server.close()


def test_a_port_that_is_taken_is_an_error(server: SampleServer) -> None:
    with pytest.raises(OSError, match=str(server.port)):
        SampleServer(server.port, size=1)


def test_the_address_given_to_harvesters_may_be_another(repository: SampleRepository) -> None:
    settings = Settings(base_url="https://eprints.example.org/oai")
    with ProviderServer(repository, settings=settings) as server:
        url = f"http://127.0.0.1:{server.port}/cgi/oai2?verb=Identify"
        text = requests.get(url, timeout=60).text
    assert "<baseURL>https://eprints.example.org/oai</baseURL>" in text


class Broken(SampleRepository):
    """A source that fails."""

    def sets(self) -> Any:
        raise RuntimeError("the shelf fell down")


def test_a_failing_source_is_http_500_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    source = Broken(5, "http://x.example.org/", Granularity.SECOND, "x.example.org")
    with caplog.at_level(logging.ERROR), ProviderServer(source) as server:
        answer = requests.get(server.base_url, params={"verb": "ListSets"}, timeout=60)
    assert answer.status_code == 500
    assert "shelf" not in answer.text
    assert "the shelf fell down" in caplog.text


def start(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "oaipmhprovider", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_as_a_process_of_its_own_it_prints_its_address_and_stops_quietly(number: int) -> None:
    with start("--size", "20", "--granularity", "day", "--page-size", "5") as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        query = {"verb": "ListIdentifiers", "metadataPrefix": "oai_dc"}
        answer = requests.get(base_url, params=query, timeout=60).text
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert answer.count("<header") == 5
    assert 'completeListSize="20"' in answer
    assert (process.returncode, out, err) == (0, "", "")


def test_as_a_process_it_says_that_the_port_is_taken(server: SampleServer) -> None:
    with start("--port", str(server.port), "--size", "1") as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert out == ""
    assert err.startswith(f"port {server.port} of 127.0.0.1 is taken by another program; ")
    assert err.count("\n") == 1
