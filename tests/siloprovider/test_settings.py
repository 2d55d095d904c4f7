"""The settings of a provider: their file, and what they make of what is given."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from provided_silo import Clock, dc, given, harvest, headers
from provider_asker import Asker, validator

from recordsilo import Silo
from siloprovider.errors import SettingInvalid, SettingsUnreadable
from siloprovider.identifiers import check_prefix, mapped, original
from siloprovider.providing import own_address, provided
from siloprovider.settings import (
    Branding,
    ProviderSettings,
    read_settings,
    settings_path,
    store_settings,
)

MINE = "oai:mine.example.org:"
CC0 = "https://creativecommons.org/publicdomain/zero/1.0/"
FULL = ProviderSettings(
    page=True,
    name="Ours",
    emails=("a@example.org", "b@example.org"),
    base_url="https://data.example.org/oai",
    state="ready",
    identifiers=MINE,
    rights=CC0,
    friends=("https://other.example.org/oai",),
    searches=("solar",),
    page_size=7,
    per_minute=0,
    branding=Branding("https://example.org/i.png", "https://example.org/", "Ours", 88, 31),
)


def test_settings_are_read_as_they_were_stored(tmp_path: Path) -> None:
    assert read_settings(str(tmp_path)) == ProviderSettings()
    for settings in (FULL, ProviderSettings(), replace(FULL, branding=None, all_searches=True)):
        store_settings(str(tmp_path), settings)
        assert read_settings(str(tmp_path)) == settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("page = 1", "page is true or false"),
        ("pages = true", "there is no setting 'pages'"),
        ("state = 'draft'", "it is current or ready"),
        ("emails = 'a@example.org'", "emails is a list of texts"),
        ("emails = ['root@localhost']", "is not an address of mail"),
        ("identifiers = 'mine'", "cannot begin identifiers"),
        ("rights = 'CC0'", "is not a web address"),
        ("friends = ['http://u:p@example.org/']", "without a password"),
        ("page_size = 0", "1 to 1,000"),
        ("page_size = true", "page_size is a number"),
        ("per_minute = -1", "0 for any number"),
        ("branding = 'x'", "branding is a table"),
        ("[branding]\nlink = 'https://example.org/'", "needs the address of the icon"),
        ("[branding]\nicon = 1", "icon is a text"),
        ("name = ", "not valid TOML"),
        ('name = "a\\u0000b"', "no text on one line"),
    ],
)
def test_malformed_settings_are_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    place = Path(settings_path(str(tmp_path)))
    place.parent.mkdir()
    place.write_text(text)
    with pytest.raises(SettingsUnreadable, match=r"provider\.toml cannot be used") as refused:
        read_settings(str(tmp_path))
    assert said in str(refused.value)


def test_nothing_malformed_is_stored(tmp_path: Path) -> None:
    store_settings(str(tmp_path), FULL)
    with pytest.raises(SettingInvalid):
        store_settings(str(tmp_path), replace(FULL, rights="x"))
    assert read_settings(str(tmp_path)) == FULL


def test_the_own_address_is_one_that_the_schema_allows() -> None:
    ProviderSettings(emails=(own_address(),)).check()


# --------------------------------------------------------------------------- identifiers


@pytest.mark.parametrize(
    "prefix",
    ["", "oai:", "oai:x:", "oai:example.org", "mine.example.org:", "oai:a b.org:", "oai:x.org:y:",
     "OAI:example.org:", "oai:example.org:\n", "oai:1.example:"],
)  # fmt: skip
def test_a_malformed_prefix_is_refused(prefix: str) -> None:
    with pytest.raises(SettingInvalid, match="such as oai:mine"):
        check_prefix(prefix)


@for_all(st.text(min_size=1), st.text(min_size=1))
def test_identifiers_are_mapped_both_ways_and_never_clash(one: str, other: str) -> None:
    there = mapped(MINE, one)
    assert original(MINE, there) == one
    assert (there == mapped(MINE, other)) == (one == other)
    assert there.removeprefix(MINE).isascii()


@for_all(st.text(alphabet="oai:%2Ff3aA~ü /", max_size=12))
def test_an_identifier_leads_back_only_if_it_is_one_that_is_given(text: str) -> None:
    found = original(MINE, MINE + text)
    assert found is None or mapped(MINE, found) == MINE + text


def test_an_identifier_that_looks_mapped_is_mapped_too() -> None:
    assert mapped(MINE, f"{MINE}1") == f"{MINE}{MINE}1"
    assert original(MINE, "oai:mine.example.org:%31") is None, "the same written otherwise"


# --------------------------------------------------------------------------- what is given


@pytest.fixture
def silo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Silo]:
    clock = Clock(monkeypatch)
    with Silo(str(tmp_path / "silo")) as silo:
        silo.state["base_oai_url"] = "http://eprints.example.org/oai"
        for number in range(5):
            clock.tick()
            harvest(silo, f"oai:x:{number}~ü", sets=("a",), oai_dc=dc("T"))
        yield silo


@pytest.fixture
def asked(silo: Silo) -> Iterator[Any]:
    opened: list[Any] = []

    def ask(settings: ProviderSettings) -> Asker:
        opened.append(provided(silo, settings))
        one = opened[-1].__enter__()
        base_url = settings.base_url or "http://127.0.0.1:1/oai"
        return Asker(validator(), one.source, replace(one.settings, base_url=base_url))

    yield ask
    for one in opened:
        one.__exit__(None, None, None)


def test_records_have_identifiers_of_ones_own(silo: Silo, asked: Any) -> None:
    ask = asked(ProviderSettings(identifiers=MINE, page_size=2))
    listed = [one[0] for one in headers(ask)]
    assert listed == [f"{MINE}oai:x:{number}~%C3%BC" for number in range(5)]
    record = given(ask, listed[3])
    assert record.findtext(".//{*}header/{*}identifier") == listed[3]
    assert record.findtext(".//{*}originDescription/{*}identifier") == "oai:x:3~ü"
    formats = ask(verb="ListMetadataFormats", identifier=listed[3])
    assert formats.find(".//{*}metadataPrefix") is not None
    unknown = ask(verb="GetRecord", identifier="oai:x:3~ü", metadataPrefix="oai_dc")
    assert unknown.find("{*}error").get("code") == "idDoesNotExist"
    assert f"begins with {MINE}" in unknown.findtext("{*}error")
    said = ask(verb="Identify").find(".//{*}oai-identifier")
    assert said.findtext("{*}repositoryIdentifier") == "mine.example.org"
    assert said.findtext("{*}sampleIdentifier") in listed


def test_a_prefix_that_all_identifiers_share_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    with Silo(str(tmp_path / "one")) as silo, provided(silo, ProviderSettings()) as one:
        settings = replace(one.settings, base_url="http://127.0.0.1:1/oai")
        ask = Asker(validator(), one.source, settings)

        def told() -> tuple[str, str] | None:
            said = ask(verb="Identify").find(".//{*}oai-identifier")
            names = "repositoryIdentifier", "sampleIdentifier"
            return None if said is None else tuple(said.findtext(f"{{*}}{name}") for name in names)

        assert told() is None
        for identifier in ("oai:example.org:b", "oai:example.org:a"):
            clock.tick()
            harvest(silo, identifier, oai_dc=dc("T"))
            assert told() == ("example.org", identifier)
        clock.tick()
        harvest(silo, "oai:other.example.org:1", oai_dc=dc("T"))
        assert told() is None


def test_a_list_that_began_with_other_identifiers_does_not_go_on(asked: Any) -> None:
    plain, mine = asked(ProviderSettings(page_size=2)), asked(ProviderSettings(identifiers=MINE))
    answer = plain(verb="ListIdentifiers", metadataPrefix="oai_dc")
    token = answer.findtext(".//{*}resumptionToken")
    refused = mine(verb="ListIdentifiers", resumptionToken=token).find("{*}error")
    assert refused.get("code") == "badResumptionToken"
    assert "had other identifiers" in refused.text


def test_a_token_of_another_silo_is_refused(
    asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = asked(ProviderSettings(page_size=2))
    with Silo(str(tmp_path / "other")) as other:
        harvest(other, "oai:y:1", oai_dc=dc("T"))
        with provided(other, ProviderSettings(page_size=2)) as elsewhere:
            ask = Asker(validator(), elsewhere.source, elsewhere.settings)
            answer = one(verb="ListIdentifiers", metadataPrefix="oai_dc")
            token = answer.findtext(".//{*}resumptionToken")
            refused = ask(verb="ListIdentifiers", resumptionToken=token).find("{*}error")
    assert (refused.get("code"), refused.text) == (
        "badResumptionToken", "this is not a resumption token of this repository",
    )  # fmt: skip


def test_a_token_survives_a_restart(silo: Silo) -> None:
    settings = ProviderSettings(page_size=2)
    with provided(silo, settings) as one:
        ask = Asker(validator(), one.source, one.settings)
        answer = ask(verb="ListIdentifiers", metadataPrefix="oai_dc")
        token = answer.findtext(".//{*}resumptionToken")
    with provided(silo, settings) as one:
        ask = Asker(validator(), one.source, one.settings)
        assert len([*ask(verb="ListIdentifiers", resumptionToken=token).iter("{*}header")]) == 2


def test_a_repository_says_what_its_settings_say(asked: Any) -> None:
    ask = asked(replace(FULL, state="current", searches=()))
    said = ask(verb="Identify")
    assert said.findtext(".//{*}repositoryName") == "Ours"
    assert [one.text for one in said.iter("{*}adminEmail")] == [*FULL.emails]
    assert said.findtext(".//{*}friends/{*}baseURL") == FULL.friends[0]
    icon = {one.tag.split("}")[1]: one.text for one in said.find(".//{*}collectionIcon")}
    assert icon == {
        "url": "https://example.org/i.png", "link": "https://example.org/", "title": "Ours",
        "width": "88", "height": "31",
    }  # fmt: skip
    manifest = said.find(".//{*}rightsManifest")
    assert manifest.find("{*}rights/{*}rightsReference").get("ref") == CC0


def test_records_say_which_rights_they_are_under(silo: Silo, asked: Any) -> None:
    own = (
        '<rights xmlns="http://www.openarchives.org/OAI/2.0/rights/">'
        '<rightsReference ref="https://creativecommons.org/licenses/by/4.0/"/></rights>'
    )
    harvest(silo, "oai:x:theirs", oai_dc=dc("T"), **{"oai_dc.about": own})
    ask = asked(ProviderSettings(rights=CC0))
    listed = ask(verb="ListRecords", metadataPrefix="oai_dc")
    rights = {
        one.findtext(".//{*}header/{*}identifier"): [
            ref.get("ref") for ref in one.iterfind("{*}about/{*}rights/{*}rightsReference")
        ]
        for one in listed.iter("{*}record")
    }
    assert rights.pop("oai:x:theirs") == ["https://creativecommons.org/licenses/by/4.0/"]
    assert {tuple(one) for one in rights.values()} == {(CC0,)}


def test_what_is_deleted_has_no_rights(silo: Silo, asked: Any) -> None:
    silo["oai:x:0~ü"].set_version_state("1", "withheld")
    ask = asked(ProviderSettings(rights=CC0, identifiers=MINE))
    assert given(ask, mapped(MINE, "oai:x:0~ü")).find(".//{*}about") is None
