"""A Silo as a repository: what is given of each record, since when, and in which lists."""

import errno
import random
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree
from provided_silo import EDIT, MODS, Clock, dc, given, harvest, headers
from provider_asker import Asker, validator
from silo_contents import contents

from oaipmhprovider import ProviderServer, Settings
from oaipmhscraper import OAIPMHScraper
from recordsilo import Silo
from recordsilo.records.manifest import Origin
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo")) as silo:
        yield silo


@pytest.fixture
def source(silo: Silo, clock: Clock) -> Iterator[SiloSource]:
    identity = Identity("A Silo", ("a@example.org",), "http://127.0.0.1:1/oai")
    with SiloSource(silo, identity, now=clock.now) as source:
        yield source


@pytest.fixture
def ask(source: SiloSource) -> Asker:
    return Asker(validator(), source, Settings(page_size=2))


def test_the_datestamp_is_when_a_record_was_changed_here(
    silo: Silo, ask: Asker, clock: Clock
) -> None:
    first = clock.tick()
    harvest(silo, "oai:x:1", oai_dc=dc("One"))
    second = clock.tick()
    harvest(silo, "oai:x:2", oai_dc=dc("Two"))
    assert headers(ask) == [("oai:x:1", first, False), ("oai:x:2", second, False)]
    third = clock.tick()
    silo["oai:x:1"].clone_version("1", "mine")
    assert headers(ask) == [("oai:x:2", second, False), ("oai:x:1", third, False)]
    assert headers(ask, **{"from": third}) == [("oai:x:1", third, False)]
    assert headers(ask, until=second) == [("oai:x:2", second, False)]


def test_the_current_version_is_given_with_where_it_was_harvested(
    silo: Silo, ask: Asker, clock: Clock
) -> None:
    clock.tick()
    silo.state["base_oai_url"] = "http://eprints.example.org/oai"
    harvest(silo, "oai:x:1", oai_dc=dc("One"))
    assert given(ask, "oai:x:1").xpath("string(//*[local-name()='title'])") == "One"
    about = given(ask, "oai:x:1").find(".//{*}about/{*}provenance/{*}originDescription")
    assert dict(about.attrib) == {"harvestDate": "2020-01-01T00:00:00Z", "altered": "false"}
    assert [one.text for one in about] == [
        "http://eprints.example.org/oai", "oai:x:1", "2020-01-01T00:00:00Z",
        "http://www.openarchives.org/OAI/2.0/oai_dc/",
    ]  # fmt: skip
    record = silo["oai:x:1"]
    record.clone_version("1", "mine")
    record.put_stream("notes.txt", "Not of the metadata")
    assert given(ask, "oai:x:1").find(".//{*}originDescription").get("altered") == "false"
    record.put_stream("oai_dc", dc("Better"))
    assert given(ask, "oai:x:1").xpath("string(//*[local-name()='title'])") == "Better"
    assert given(ask, "oai:x:1").find(".//{*}originDescription").get("altered") == "true"


def test_a_record_made_here_says_where_the_schema_of_its_dublin_core_is(
    silo: Silo, ask: Asker, clock: Clock
) -> None:
    for number, declared in enumerate(
        ("", ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"')
    ):
        with silo.editing(f"oai:x:{number}") as edit:
            edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("import"))
            text = dc("Own").replace(" xmlns:dc=", f"{declared} xmlns:dc=")
            edit.put("1", "oai_dc", text.encode(), metadata=True)
        root = given(ask, f"oai:x:{number}").find(".//{*}metadata/{*}dc")
        (where,) = (value for name, value in root.attrib.items() if "schemaLocation" in name)
        assert where.split() == [
            "http://www.openarchives.org/OAI/2.0/oai_dc/",
            "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
        ]


def test_each_record_is_given_as_dublin_core(silo: Silo, ask: Asker, clock: Clock) -> None:
    clock.tick()
    harvest(silo, "oai:x:1", mods=MODS.format("In MODS &amp; only"))
    harvest(silo, "oai:x:2", oai_dc=dc("Two"))
    made = given(ask, "oai:x:1")
    assert made.xpath("string(//*[local-name()='title'])") == "In MODS & only"
    assert b"<mods" in (ask.source.record("oai:x:1", "mods").metadata or b"")
    assert ask.codes(verb="GetRecord", identifier="oai:x:2", metadataPrefix="mods") == [
        "cannotDisseminateFormat"
    ]
    assert headers(ask, metadataPrefix="mods") == [("oai:x:1", "2026-03-01T00:00:01Z", False)]
    formats = ask(verb="ListMetadataFormats", identifier="oai:x:1")
    assert [one.text for one in formats.iter("{*}metadataPrefix")] == ["oai_dc", "mods"]
    spaces = [one.text for one in formats.iter("{*}metadataNamespace")]
    assert spaces[1] == "http://www.loc.gov/mods/v3"


@pytest.mark.parametrize("how", ["removed", "forgotten", "withheld", "deleted at the source"])
def test_what_is_not_given_any_more_is_given_as_deleted(
    silo: Silo, ask: Asker, clock: Clock, how: str
) -> None:
    clock.tick()
    harvest(silo, "oai:x:1", sets=("a:b",), oai_dc=dc("One"), mods=MODS.format("One"))
    harvest(silo, "oai:x:2", sets=("a",), oai_dc=dc("Two"))
    assert len(headers(ask)) == 2
    then = clock.tick(5)
    if how == "removed":
        silo.del_item("oai:x:1", remember=True)
    elif how == "forgotten":
        silo.del_item("oai:x:1")
    elif how == "withheld":
        silo["oai:x:1"].set_version_state("1", "withheld")
    else:
        with silo.editing("oai:x:1") as edit:
            edit.add_version("2", date="2020-02-01T00:00:00", origin=Origin("harvest"))
            edit.set_metadata("deleted_at_version", "2")
    if how == "removed":  # the removal has the time of this machine
        ((_, stamp, deleted),) = [one for one in headers(ask) if one[0] == "oai:x:1"]
        assert deleted
        then = stamp
    gone = ("oai:x:1", then, True)
    assert headers(ask)[-1] == gone
    assert headers(ask, set="a")[-1] == headers(ask, set="a:b")[0] == gone
    assert headers(ask, metadataPrefix="mods") == [gone]
    assert given(ask, "oai:x:1").find(".//{*}metadata") is None
    clock.tick()
    silo.reindex()
    assert headers(ask)[-1] == gone, "a new index has no say in that"


def test_removals_from_before_are_given_as_deleted_too(
    silo: Silo, ask: Asker, clock: Clock
) -> None:
    clock.tick()
    harvest(silo, "oai:x:1", oai_dc=dc("One"))
    silo.del_item("oai:x:1", remember=True)
    ((identifier, _, deleted),) = headers(ask)
    assert (identifier, deleted) == ("oai:x:1", True)


def test_what_the_source_had_deleted_before_the_first_harvest_is_given_as_deleted(
    silo: Silo, ask: Asker, clock: Clock
) -> None:
    clock.tick()
    harvest(silo, "oai:x:1")
    assert headers(ask) == [], "it has no metadata, and nobody deleted it"
    with silo.editing("oai:x:1") as edit:
        edit.set_metadata("deleted_at_version", "1")
    clock.tick(5)
    ((identifier, _, deleted),) = headers(ask)
    assert (identifier, deleted) == ("oai:x:1", True)
    assert given(ask, "oai:x:1").find(".//{*}metadata") is None


def test_only_what_is_ready(silo: Silo, clock: Clock) -> None:
    identity = Identity("A Silo", ("a@example.org",), "http://127.0.0.1:1/oai")
    clock.tick()
    harvest(silo, "oai:x:1", oai_dc=dc("One"))
    harvest(silo, "oai:x:2", oai_dc=dc("Two"))
    record = silo["oai:x:1"]
    record.clone_version("1", "mine")
    record.put_stream("oai_dc", dc("Better"))
    with SiloSource(silo, identity, only_ready=True, now=clock.now) as source:
        ask = Asker(validator(), source, Settings(page_size=2))
        assert headers(ask) == []
        clock.tick()
        record.set_version_state("mine", "ready")
        record.set_version_cursor("1")
        assert [one[0] for one in headers(ask)] == ["oai:x:1"]
        assert given(ask, "oai:x:1").xpath("string(//*[local-name()='title'])") == "Better"
        clock.tick()
        record.set_version_state("mine", "in work")
        assert [one[::2] for one in headers(ask)] == [("oai:x:1", True)]
    (Path(silo.path) / ".silo" / "provider-ready.sqlite").unlink()
    with SiloSource(silo, identity, only_ready=True, now=clock.now) as source:
        ask = Asker(validator(), source, Settings(page_size=2))
        assert [one[::2] for one in headers(ask)] == [("oai:x:1", True)], "the log knows it"


def test_what_was_not_visible_yet_is_not_missed_by_who_harvests_again(
    silo: Silo, ask: Asker, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.tick(100)
    harvest(silo, "oai:x:1", oai_dc=dc("One"))
    assert len(headers(ask)) == 1
    monkeypatch.setattr(EDIT, lambda: "2026-03-01T00:00:30.000000")  # a slow writer
    harvest(silo, "oai:x:2", oai_dc=dc("Two"))
    seen = clock.tick()
    assert headers(ask, **{"from": seen}) == [("oai:x:2", seen, False)]


def test_a_list_has_each_record_once_while_others_change(
    silo: Silo, ask: Asker, clock: Clock
) -> None:
    choice = random.Random(5)
    for number in range(30):
        clock.tick()
        harvest(silo, f"oai:x:{number:02}", sets=("a",) if number % 2 else (), oai_dc=dc("T"))
    listed: list[str] = []
    changed: set[str] = set()
    for page in ask.pages("ListRecords", metadataPrefix="oai_dc"):
        listed += [one.text for one in page.iter("{*}identifier") if one.text]
        clock.tick()
        some = f"oai:x:{choice.randrange(30):02}"
        if len(changed) < 8:
            changed.add(some)
            silo[some].set_version_state("1", choice.choice(["ready", "in work", None]))
    still = {f"oai:x:{number:02}" for number in range(30)} - changed
    assert still <= set(listed)
    assert all(listed.count(one) == 1 for one in still)


def test_a_record_that_cannot_be_read_stops_no_list(silo: Silo, ask: Asker, clock: Clock) -> None:
    clock.tick()
    for number in range(6):
        harvest(silo, f"oai:x:{number}", oai_dc=dc("T"), mods="no XML")
    Path(silo["oai:x:2"].to_dirpath("oai_dc", "1")).unlink()
    listed = [
        one.text
        for page in ask.pages("ListRecords", metadataPrefix="oai_dc")
        for one in page.iter("{*}identifier")
    ]
    assert listed == [f"oai:x:{number}" for number in (0, 1, 3, 4, 5)]
    assert ask.codes(verb="GetRecord", identifier="oai:x:0", metadataPrefix="mods") == [
        "cannotDisseminateFormat"
    ]


@pytest.mark.long
def test_a_harvest_of_it_has_the_same_content(
    silo: Silo, source: SiloSource, clock: Clock, tmp_path: Path
) -> None:
    for number in range(25):
        clock.tick()
        sets = ("a", "b:c") if number % 3 else ()
        harvest(silo, f"oai:x:{number}", sets=sets, oai_dc=dc(f"Nr &lt;{number}>"))
    source.items.catch_up()
    clock.tick()
    silo.del_item("oai:x:7")
    settings = Settings(page_size=4)
    with (
        ProviderServer(source, settings=settings, clock=clock.now) as server,
        OAIPMHScraper(str(tmp_path / "copy"), server.base_url) as scraper,
    ):
        clock.tick()
        assert scraper.harvest(["oai_dc"]).lists[0].complete
        assert len(scraper.store) == 25
        before = contents(str(tmp_path / "copy"))
        clock.tick()
        for number in range(0, 20, 4):
            silo[f"oai:x:{number}"].clone_version("1", "mine")
            silo[f"oai:x:{number}"].put_stream("oai_dc", dc(f"New {number}"))
        clock.tick(2)
        scraper.update()
    assert contents(str(tmp_path / "copy")) != before
    with Silo(str(tmp_path / "copy"), create=False) as copy:
        for number in range(25):
            mine, other = f"oai:x:{number}", copy[f"oai:x:{number}"]
            if number == 7:
                assert other.state.metadata["deleted_at_version"]
                continue
            with silo[mine].get_stream("oai_dc") as one, other.get_stream("oai_dc") as two:
                assert _canonical(one.read()) == _canonical(two.read())
            assert other.state.metadata["setSpec"] == silo[mine].state.metadata["setSpec"]


def _canonical(wrapped: bytes) -> bytes:
    parser = etree.XMLParser(resolve_entities=False)
    return etree.tostring(etree.fromstring(wrapped, parser)[0], method="c14n2")


# --------------------------------------------------------------------------- bad luck and enemies


def test_two_processes_that_begin_at_once_give_nothing_as_deleted(
    silo: Silo, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        clock.tick()
        harvest(silo, f"oai:x:{number}", oai_dc=dc("T"))
    identity = Identity("A Silo", ("a@example.org",), "http://127.0.0.1:1/oai")
    monkeypatch.setattr("siloprovider.items._TOGETHER", 2)
    with (
        SiloSource(silo, identity, now=clock.now) as one,
        SiloSource(silo, identity, now=clock.now) as other,
    ):
        threads: list[threading.Thread] = []

        def amid(_done: int) -> None:
            if not threads:
                threads.append(threading.Thread(target=other.items.catch_up))
                threads[0].start()
                threads[0].join(0.3)

        one.items.catch_up(amid)
        threads[0].join()
        ask = Asker(validator(), other, Settings(page_size=2))
        assert [one[::2] for one in headers(ask)] == [(f"oai:x:{n}", False) for n in range(4)]


def test_a_clock_that_was_put_back_hides_no_change(silo: Silo, ask: Asker, clock: Clock) -> None:
    clock.tick(100)
    harvest(silo, "oai:x:1", oai_dc=dc("One"))
    ((_, newest, _),) = headers(ask)
    clock.tick(-60)
    harvest(silo, "oai:x:2", oai_dc=dc("Two"))
    assert [one[0] for one in headers(ask, **{"from": newest})] == ["oai:x:1", "oai:x:2"]


HOSTILE = {
    'oai:x:<&">': dc("T"),
    "oai:x:\x01": dc("T"),
    "oai:x:dtd": f'<!DOCTYPE a [<!ENTITY x "{"y" * 99}">]><a>&x;</a>',
    "oai:x:utf-16": f'<?xml version="1.0" encoding="UTF-16"?>{dc("ü")}'.encode("utf-16"),
    "oai:x:utf-16-le": f'<?xml version="1.0" encoding="UTF-16"?>{dc("ü")}'.encode("utf-16-le"),
    "oai:x:latin": f'<?xml version="1.0" encoding="ISO-8859-1"?>{dc("ü")}'.encode("latin-1"),
    "oai:x:liar": "<a>ü</a>".encode("latin-1"),
    "oai:x:pdf": b"%PDF-1.4",
    "oai:x:nothing": b"",
}


def test_hostile_records_break_no_list(silo: Silo, ask: Asker, clock: Clock) -> None:
    silo.state["base_oai_url"] = "http://x.example.org/oai?a=<b>&\x01"
    about = (
        '<!DOCTYPE p [<!ENTITY x "y">]><p xmlns="http://www.openarchives.org/OAI/2.0/provenance">'
        "<originDescription>&x;&z;</originDescription></p>"
    )
    for identifier, content in HOSTILE.items():
        clock.tick()
        with silo.editing(identifier) as edit:
            edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("harvest"))
            body = content if isinstance(content, bytes) else content.encode()
            edit.put("1", "oai_dc", body, metadata=True)
            edit.put("1", "oai_dc.about", about.encode(), metadata=True)
            edit.set_metadata("setSpec", ["a b", "<s>", "", "::", "a\nb", "good:one"])
    listed = [
        (one.findtext("{*}header/{*}identifier"), [s.text for s in one.iter("{*}setSpec")])
        for page in ask.pages("ListRecords", metadataPrefix="oai_dc")
        for one in page.iter("{*}record")
    ]
    good = ['oai:x:<&">', "oai:x:\ufffd", "oai:x:utf-16", "oai:x:utf-16-le", "oai:x:latin"]
    assert listed == [(one, ["good:one"]) for one in good]
    sets = [one.text for one in ask(verb="ListSets").iter("{*}setSpec")]
    assert sets == ["good", "good:one"]


def test_a_document_without_a_namespace_does_not_get_that_of_the_response(
    silo: Silo, source: SiloSource, clock: Clock
) -> None:
    clock.tick()
    content = '<!-- <a> --><a b="&gt;"><c xmlns="urn:c"/></a>'
    harvest(silo, "oai:x:1", oai_dc=content, mods=f"<metadata>{content}</metadata>")
    for prefix in ("oai_dc", "mods"):
        found = source.record("oai:x:1", prefix).metadata
        assert found == b'<a xmlns="" b="&gt;"><c xmlns="urn:c"/></a>'


def test_while_the_disk_is_full_harvesters_are_told_to_come_later(
    silo: Silo, source: SiloSource, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.tick()
    harvest(silo, "oai:x:1", oai_dc=dc("One"))

    def full(_progress: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/secret/provider.sqlite")

    monkeypatch.setattr(source.items, "catch_up", lambda: full(None))
    with ProviderServer(source) as server:
        address = f"http://127.0.0.1:{server.port}/cgi/oai2?verb=Identify"
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address)
    assert (refused.value.code, refused.value.headers["Retry-After"]) == (503, "60")
    assert b"secret" not in refused.value.read()


def test_a_first_look_that_is_ended_in_the_middle_begins_again(
    silo: Silo, source: SiloSource, ask: Asker, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siloprovider.items._TOGETHER", 3)
    for number in range(10):
        clock.tick()
        harvest(silo, f"oai:x:{number}", oai_dc=dc("T"))

    def end(done: int) -> None:
        if done > 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        source.items.catch_up(end)
    silo.del_item("oai:x:1", remember=True)  # which the first look has seen
    found = {identifier: deleted for identifier, _, deleted in headers(ask)}
    assert found == {f"oai:x:{number}": number == 1 for number in range(10)}
