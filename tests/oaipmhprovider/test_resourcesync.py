"""ResourceSync beside OAI-PMH: the lists, their parts, the packages and the documents."""

import gzip
import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from oaipmhprotocol import Header
from oaipmhprovider import Position, Selection
from oaipmhprovider.limits import ClientLimit
from oaipmhprovider.resourcesync import dumps
from oaipmhprovider.resourcesync.addresses import (
    AskedDocument,
    DocumentKind,
    ListPart,
    asked_at,
    path_of,
)
from oaipmhprovider.resourcesync.app import ResourceSyncApp
from oaipmhprovider.resourcesync.parts import Parts
from oaipmhprovider.sample import SampleRepository, sample_repository
from oaipmhprovider.source import SourceUnavailable
from oaipmhprovider.wsgi import ProviderApp

BASE = "http://x.example.org/oai2"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SIZE = 230


class Answer:
    def __init__(self, status: str, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def root(self) -> etree._Element:
        return etree.fromstring(self.body)


class Asker:
    """Asks by addresses, as a client."""

    def __init__(self, source: Any, largest: int) -> None:
        provider = ProviderApp(source, path="/oai2", clock=lambda: NOW)
        self.source = source
        self.app = ResourceSyncApp(provider, largest=largest)

    def __call__(self, address: str, method: str = "GET", **more: str) -> Answer:
        path = address.removeprefix("http://x.example.org")
        environ = {"REQUEST_METHOD": method, "REQUEST_URI": path, "PATH_INFO": path, **more}
        told: list[Any] = []
        pieces: Any = self.app(environ, lambda *given: told.extend(given))
        body = b"".join(pieces)
        if hasattr(pieces, "close"):
            pieces.close()
        headers = dict(told[1])
        if headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return Answer(told[0], headers, body)

    def entries(self, kind: DocumentKind, prefix: str = "oai_dc") -> Iterator[etree._Element]:
        """Of a list, through its index if it has one."""
        root = self(f"{BASE}/resourcesync/{prefix}/{kind}.xml").root
        if etree.QName(root).localname == "urlset":
            yield from root.iter("{*}url")
            return
        for part in root.iter("{*}sitemap"):
            found = self(part.findtext("{*}loc")).root
            assert found.find("{*}ln[@rel='index']").get("href").endswith(f"/{kind}.xml")
            yield from found.iter("{*}url")


class BasedSample:
    """The sample, with an address."""

    def __init__(self, sample: SampleRepository) -> None:
        self._sample = sample

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sample, name)


@pytest.fixture(scope="module")
def sample() -> SampleRepository:
    return sample_repository(SIZE)


@pytest.fixture(params=[50_000, 40], ids=["whole", "in parts"])
def ask(request: pytest.FixtureRequest, sample: SampleRepository) -> Asker:
    asker = Asker(sample, request.param)
    asker.app._app.settings = type(asker.app._app.settings)(base_url=BASE)
    return asker


def headers(ask: Asker, prefix: str = "oai_dc") -> list[Header]:
    return [*ask.source.headers(Selection(prefix), None, 10_000)]


def address(prefix: str, identifier: str) -> str:
    return f"{BASE}/{path_of(AskedDocument(DocumentKind.RECORD, prefix, identifier=identifier))}"


def test_from_the_well_known_address_to_every_list(ask: Asker) -> None:
    description = ask("/.well-known/resourcesync").root
    assert description.find("{*}md").get("capability") == "description"
    found = [one.text for one in description.iter("{*}loc")]
    assert found[0] == f"{BASE}/resourcesync/oai_dc/capabilitylist.xml"
    assert len(found) == len(ask.source.formats())
    for one in found:
        capabilities = ask(one).root
        assert capabilities.find("{*}md").get("capability") == "capabilitylist"
        assert (
            capabilities.find("{*}ln").get("href")
            == "http://x.example.org/.well-known/resourcesync"
        )
        for entry in capabilities.iter("{*}url"):
            linked = ask(entry.findtext("{*}loc")).root
            capability = entry.find("{*}md").get("capability")
            assert linked.find("{*}md").get("capability") == capability
            assert linked.find("{*}ln[@rel='up']").get("href") == one


@pytest.mark.parametrize("prefix", ["oai_dc", "uketd_dc"])
def test_the_resource_list_has_what_is_not_deleted(ask: Asker, prefix: str) -> None:
    found = [
        (one.findtext("{*}loc"), one.findtext("{*}lastmod"))
        for one in ask.entries(DocumentKind.RESOURCES, prefix)
    ]
    assert found == [
        (address(prefix, one.identifier), one.datestamp)
        for one in headers(ask, prefix)
        if not one.deleted
    ]
    document = ask(found[0][0])
    assert document.headers["Content-Type"].startswith("application/xml")
    assert document.headers["Last-Modified"].endswith(" GMT")
    identifier = next(one.identifier for one in headers(ask, prefix) if not one.deleted)
    assert ask.source.record(identifier, prefix).metadata.strip() in document.body


def test_the_change_list_has_the_last_change_of_each_in_order(ask: Asker) -> None:
    found = [
        (one.findtext("{*}loc"), *(one.find("{*}md").get(name) for name in ("datetime", "change")))
        for one in ask.entries(DocumentKind.CHANGES)
    ]
    assert found == [
        (address("oai_dc", one.identifier), one.datestamp, "deleted" if one.deleted else "updated")
        for one in headers(ask)
    ]


def test_parts_of_a_change_list_say_their_time(sample: SampleRepository) -> None:
    ask = Asker(sample, 40)
    index = ask(f"{BASE}/resourcesync/oai_dc/changelist.xml").root
    times = [(one.get("from"), one.get("until")) for one in index.findall("{*}sitemap/{*}md")]
    assert len(times) == -(-len(headers(ask)) // 40)
    assert times[0][0] == index.find("{*}md").get("from") == sample.identify().earliest_datestamp
    assert [one for one, _ in times[1:]] == [until for _, until in times[:-1]]
    assert times[-1][1] is None


def test_packages_have_the_documents_and_say_which(ask: Asker) -> None:
    root = ask(f"{BASE}/resourcesync/oai_dc/resourcedump.xml").root
    listed: list[str] = []
    for one in root.iter("{*}loc"):
        answer = ask(one.text)
        assert answer.headers["Content-Type"] == "application/zip"
        with zipfile.ZipFile(io.BytesIO(answer.body)) as package:
            manifest = etree.fromstring(package.read("manifest.xml"))
            assert manifest.find("{*}md").get("capability") == "resourcedump-manifest"
            for entry in manifest.iter("{*}url"):
                said, place = entry.find("{*}md"), entry.findtext("{*}loc")
                content = package.read(said.get("path").removeprefix("/"))
                assert said.get("hash") == f"sha-256:{hashlib.sha256(content).hexdigest()}"
                assert int(said.get("length")) == len(content)
                listed.append(place)
            assert len(package.namelist()) == 1 + len(list(manifest.iter("{*}url")))
    assert ask(listed[0]).body == content or len(listed) > 1
    assert listed == [one.findtext("{*}loc") for one in ask.entries(DocumentKind.RESOURCES)]


WRONG = [
    "/oai2/resourcesync/nope/resourcelist.xml", "/oai2/resourcesync/oai_dc/nope.xml",
    "/oai2/resourcesync/oai_dc/", "/oai2/resourcesync/oai_dc", "/oai2/resourcesyncs",
    "/oai2/resourcesync/oai_dc/package.zip", "/oai2/resourcesync/oai_dc/records/oai:x:nope",
    "/oai2/resourcesync/oai_dc/resourcelist-%25.xml",
    "/oai2/resourcesync/oai_dc/resourcelist-W10.xml",
    "/oai2/resourcesync/oai_dc/changelist-W1sxLDJdLG51bGxd.xml",
    "/oai2/resourcesync/oai_dc/resourcedump-W251bGwsbnVsbF0.xml",
]  # fmt: skip


@pytest.mark.parametrize("path", WRONG)
def test_what_is_nowhere_is_not_found(sample: SampleRepository, path: str) -> None:
    answer = Asker(sample, 40)(path)
    assert (answer.status, answer.body) == ("404 Not Found", b"There is no such document.\n")


def test_deleted_records_have_no_document(ask: Asker) -> None:
    gone = next(one.identifier for one in headers(ask) if one.deleted)
    assert ask(address("oai_dc", gone)).status == "404 Not Found"


def test_the_provider_answers_all_other_addresses(sample: SampleRepository) -> None:
    answer = Asker(sample, 40)(f"{BASE}", QUERY_STRING="verb=Identify")
    assert b"<Identify>" in answer.body
    assert Asker(sample, 40)("/nope").status == "404 Not Found"


def test_addresses_that_nobody_listed_lead_nowhere(
    ask: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "SIZE", 50)
    for part in (
        ListPart(),
        ListPart(Position("1", "x")),
        ListPart(Position("2014-01-01", "x" * 9000)),
    ):
        package = f"{BASE}/{path_of(AskedDocument(DocumentKind.PACKAGE, 'oai_dc', part))}"
        assert ask(package).status == "404 Not Found"


def test_the_limit_of_a_client_is_that_of_oai_pmh() -> None:
    provider = ProviderApp(sample_repository(3), path="/oai2", limit=ClientLimit(2))
    asked = ResourceSyncApp(provider)
    told: list[str] = []
    for _ in range(3):
        environ = {"REQUEST_METHOD": "GET", "REMOTE_ADDR": "192.0.2.1"}
        path = {"REQUEST_URI": "/oai2/resourcesync", "PATH_INFO": "/oai2/resourcesync"}
        b"".join(asked(environ | path, lambda status, _headers: told.append(status)))
    assert told == ["200 OK", "200 OK", "503 Service Unavailable"]


def test_heads_methods_and_compression(ask: Asker) -> None:
    place = f"{BASE}/resourcesync/oai_dc/changelist.xml"
    whole = ask(place)
    assert ask(place, "HEAD").body == b""
    last = Position("2014-01-01T00:00:00Z", "x")
    package = (
        f"{BASE}/{path_of(AskedDocument(DocumentKind.PACKAGE, 'oai_dc', ListPart(None, last)))}"
    )
    assert (ask(package, "HEAD").status, ask(package, "HEAD").body) == ("200 OK", b"")
    assert ask(place, "POST").status == "405 Method Not Allowed"
    packed = ask(place, HTTP_ACCEPT_ENCODING="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.body == whole.body


def test_a_source_that_cannot_be_asked_now_is_asked_later(sample: SampleRepository) -> None:
    class Unavailable(BasedSample):
        def headers(self, *_: Any) -> Any:
            raise SourceUnavailable("the disk is full")

    answer = Asker(Unavailable(sample), 40)(f"{BASE}/resourcesync/oai_dc/resourcelist.xml")
    assert (answer.status, answer.headers["Retry-After"]) == ("503 Service Unavailable", "60")


def test_bounds_are_looked_for_again_after_an_hour(sample: SampleRepository) -> None:
    class Watched(BasedSample):
        looked = 0

        def headers(self, *given: Any) -> Any:
            self.looked += 1
            return self._sample.headers(*given)

    seconds, source = [0.0], Watched(sample)
    parts = Parts(source, lambda: seconds[0])
    first = parts.of("oai_dc", 40)
    assert len(first) == -(-len([*sample.headers(Selection("oai_dc"), None, 1000)]) // 40)
    before = source.looked
    assert parts.of("oai_dc", 40) == first
    assert source.looked > before, "at what follows the last bound"
    seconds[0] = 4000.0
    assert parts.of("oai_dc", 40) == first


texts = st.text(st.characters(codec="utf-8"), min_size=1)
stamps = st.datetimes().map(lambda one: f"{one.isoformat(timespec='seconds')}Z")
places = st.none() | st.builds(Position, stamps, texts)
lists = st.sampled_from([DocumentKind.RESOURCES, DocumentKind.CHANGES])


@given(st.builds(AskedDocument, lists, texts, st.none() | st.builds(ListPart, places, places)))
def test_an_address_says_what_is_asked(asked: AskedDocument) -> None:
    assert asked_at(path_of(asked)) == asked


@given(st.builds(AskedDocument, st.just(DocumentKind.RECORD), texts, st.none(), texts))
def test_an_address_of_a_record_has_any_identifier(asked: AskedDocument) -> None:
    path = path_of(asked)
    assert asked_at(path) == asked
    assert re.fullmatch(r"[A-Za-z0-9_.~:%/-]+", path)


@given(st.text())
def test_any_text_is_an_address_or_is_none(path: str) -> None:
    assert asked_at(f"resourcesync/{path}") is None or path
