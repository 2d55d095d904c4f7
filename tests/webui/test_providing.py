"""``/oai``, and the page that switches it on."""

import gzip
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import lxml.html
import pytest
from provider_asker import validator

from recordsilo import Granary, Silo
from siloprovider.settings import ProviderSettings, read_settings, settings_path, store_settings
from webui.app import create_app
from webui.http.security import AddressPolicy
from webui.multi_silo import Shelf
from webui.people.accounts import add_account
from webui.people.roles import Role
from webui.providing import oai
from webui.site import SiteSettings

PLAIN = "oai:example.org:1"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
LIST = {"verb": "ListIdentifiers", "metadataPrefix": "oai_dc"}


def of(client: Any, **arguments: str) -> Any:
    """The root of an answer of /oai, validated."""
    answer = client.get(f"/oai?{urlencode(arguments)}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, oai.XML)
    return validator()(answer.body)


@pytest.fixture
def switched_on(silo: Silo) -> Silo:
    store_settings(silo.path, ProviderSettings(page=True, name="Ours", page_size=7))
    return silo


def test_harvesters_get_nothing_until_a_manager_switches_it_on(client: Any, silo: Silo) -> None:
    assert client.get("/oai?verb=Identify").status == 404
    answer = client.post("/providing", {"page": "yes", "name": "Ours", "emails": "a@example.org"})
    assert answer.status == 200
    said = of(client, verb="Identify").find("{*}Identify")
    assert said.findtext("{*}repositoryName") == "Ours"
    assert said.findtext("{*}baseURL") == f"http://127.0.0.1:{client.port}/oai"
    assert said.findtext("{*}adminEmail") == "a@example.org"
    client.post("/providing", {"name": "Ours"})
    assert client.get("/oai?verb=Identify").status == 404
    codes = [one["action"] for one in client.json("/activity")["entries"]]
    assert codes == ["Settings for harvesters changed", "Records given to harvesters"]


def test_the_page_gives_what_the_silo_has(client: Any, switched_on: Silo) -> None:
    listed: list[str] = []
    answer = of(client, **LIST)
    while True:
        listed += [one.text for one in answer.iter("{*}identifier")]
        token = answer.findtext(".//{*}resumptionToken")
        if not token:
            break
        answer = of(client, verb="ListIdentifiers", resumptionToken=token)
    assert sorted(listed) == sorted(switched_on)
    record = of(client, verb="GetRecord", metadataPrefix="oai_dc", identifier=PLAIN)
    assert record.xpath("string(//*[local-name()='title'])") == "On the keeping of records"
    wrong = of(client, verb="GetRecord", metadataPrefix="oai_dc", identifier="oai:example.org:no")
    assert wrong.find("{*}error").get("code") == "idDoesNotExist"


def test_arguments_may_be_posted_from_anywhere(client: Any, switched_on: Silo) -> None:
    elsewhere = {"Origin": "http://harvester.example.org", "Sec-Fetch-Site": "cross-site"}
    answer = client.post("/oai", {"verb": "Identify"}, headers=elsewhere | FORM)
    assert validator()(answer.body).find("{*}Identify") is not None
    twice = client.ask("POST", "/oai", "verb=Identify&verb=Identify", headers=FORM)
    assert b'code="badVerb"' in twice.body
    refused = client.ask("POST", "/oai", "verb=Identify", headers={"Content-Type": "text/plain"})
    assert refused.status == 400


def test_what_has_not_changed_is_not_sent_again(client: Any, switched_on: Silo) -> None:
    address = (
        f"/oai?{urlencode({'verb': 'GetRecord', 'metadataPrefix': 'oai_dc', 'identifier': PLAIN})}"
    )
    first = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert first.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(first.body).startswith(b"<?xml")
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    assert client.get(address, headers={"If-None-Match": tag}).status == 304
    switched_on[PLAIN].set_version_state("1", "withheld")
    changed = client.get(address, headers={"If-None-Match": tag})
    assert (changed.status, b'status="deleted"' in changed.body) == (200, True)
    head = client.ask("HEAD", "/oai?verb=Identify")
    assert (head.status, head.body) == (200, b"")


def test_nobody_signs_in_to_harvest(switched_on: Silo, stage: Any, stage_client: Any) -> None:
    add_account(switched_on.path, "mona", Role.MANAGER, "a long password")
    stage.app = create_app(switched_on, SiteSettings(sign_in=True))
    assert stage_client.get("/oai?verb=Identify").status == 200
    assert stage_client.get("/providing", accept="application/json").status == 401


def test_a_client_that_asks_too_much_waits(
    switched_on: Silo, stage: Any, stage_client: Any
) -> None:
    store_settings(switched_on.path, ProviderSettings(page=True, per_minute=3))
    policy = AddressPolicy(proxies=frozenset({"127.0.0.1"}))
    stage.app = create_app(switched_on, SiteSettings(policy=policy))

    def ask(client: str) -> Any:
        return stage_client.get("/oai?verb=Identify", headers={"X-Forwarded-For": client})

    assert [ask("198.51.100.7").status for _ in range(4)] == [200, 200, 200, 503]
    assert ask("198.51.100.7").headers["Retry-After"] == "20"
    assert ask("198.51.100.8").status == 200


def test_a_large_silo_is_read_in_the_background(
    client: Any, switched_on: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oai, "_SECONDS_TO_FILL", 0.0)
    first = client.get("/oai?verb=Identify")
    assert (first.status, first.headers["Retry-After"]) == (503, "30")
    for _ in range(1000):
        answer = client.get("/oai?verb=Identify")
        if answer.status == 200:
            break
    assert answer.status == 200


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"identifiers": "mine"}, "such as oai:mine.example.org:"),
        ({"emails": "root"}, "is not an address of mail"),
        ({"emails": "a@example.org;b@example.org"}, "is not an address of mail"),
        ({"rights": "CC0"}, "is not a web address"),
        ({"searches": "none"}, "no saved search 'none'"),
        ({"state": "draft"}, "it is current or ready"),
        ({"icon_link": "https://example.org/"}, "needs the address of the icon"),
        ({"icon": "https://example.org/i.png", "icon_width": "wide"}, "number of pixels"),
    ],
)
def test_a_malformed_setting_is_refused_and_shown_again(
    client: Any, switched_on: Silo, fields: dict[str, str], said: str
) -> None:
    before = read_settings(switched_on.path)
    answer = client.post("/providing", {"page": "yes"} | fields)
    assert answer.status == 400
    assert said in answer.error["message"]
    assert switched_on.path not in answer.text
    assert read_settings(switched_on.path) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [("emails", "a@example.org; b"), ("identifiers", "mine"), ("icon", "i.png"), ("friends", "no")],
)
def test_the_form_is_shown_again_with_the_sentence_at_the_field(
    client: Any, silo: Silo, field: str, value: str
) -> None:
    headers = {"Referer": f"http://127.0.0.1:{client.port}/providing"}
    fields = {"page": "yes", "name": "Ours", field: value}
    answer = client.post("/providing", fields, accept="text/html", headers=headers)
    assert answer.status == 400
    page = lxml.html.document_fromstring(answer.text)
    (control,) = page.xpath(f"//main//*[@name='{field}']")
    assert (control.get("value") or control.text) == value
    assert page.get_element_by_id(f"{field}-fault").text.endswith(".")
    assert all("open" in one.attrib for one in control.iterancestors("details"))
    assert page.get_element_by_id("name").get("value") == "Ours"


def test_settings_are_kept_as_the_form_has_them(client: Any, silo: Silo) -> None:
    fields = {
        "page": "yes", "name": "Ours", "emails": "a@example.org, b@example.org", "state": "ready",
        "identifiers": "oai:mine.example.org:", "rights": "https://example.org/licence",
        "friends": "https://one.example.org/oai\nhttps://two.example.org/oai",
        "icon": "https://example.org/i.png", "icon_width": "88", "all_searches": "yes",
    }  # fmt: skip
    assert client.post("/providing", fields, accept="text/html").status == 303
    page = client.get("/providing?done=on").text
    for text in ("oai:mine.example.org:", "https://two.example.org/oai", "88", "Saved."):
        assert text in page
    assert client.post("/providing", {"page": "yes"}).json["identifiers"] == "oai:mine.example.org:"
    assert read_settings(silo.path).branding is not None
    assert read_settings(silo.path).emails == ("a@example.org", "b@example.org")


def test_settings_that_cannot_be_used_are_told_without_the_path(client: Any, silo: Silo) -> None:
    Path(settings_path(silo.path)).parent.mkdir(exist_ok=True)
    Path(settings_path(silo.path)).write_text("pages = true")
    page = client.get("/providing")
    assert "There is no setting" in page.text
    assert silo.path not in page.text
    refused = client.post("/providing", {"page": "yes"})
    assert refused.status == 409
    assert silo.path not in refused.text
    said = client.get("/oai?verb=Identify")
    assert (said.status, said.headers["Retry-After"]) == (503, "30")
    assert said.text.strip() == "The repository cannot be asked now; try again later."
    Path(settings_path(silo.path)).write_bytes("name = 'Müller'".encode("latin-1"))
    assert client.get("/oai?verb=Identify").status == 503


def test_the_one_who_starts_the_page_may_switch_it_on(
    silo: Silo, stage: Any, stage_client: Any
) -> None:
    stage.app = create_app(silo, SiteSettings(oai=True))
    assert stage_client.get("/oai?verb=Identify").status == 200
    assert (
        "The administrator of the server has switched it on." in stage_client.get("/providing").text
    )


def test_all_silos_of_a_directory_are_one_repository(
    silo: Silo, stage: Any, stage_client: Any, tmp_path: Path
) -> None:
    granary = Granary(str(tmp_path), create=False)
    shelf = Shelf(granary, create_app, AddressPolicy())
    with closing(shelf):
        stage.app = shelf
        assert stage_client.get("/oai?verb=Identify").status == 404
        store_settings(str(tmp_path), ProviderSettings(page=True, page_size=50))
        answer = of(stage_client, **LIST)
        assert answer.find(".//{*}resumptionToken").get("completeListSize") == "60"
        assert answer.findtext(".//{*}setSpec").startswith("myrepo:")
        posted = stage_client.post("/oai", {"verb": "ListSets"}, headers=FORM)
        assert b"<setSpec>myrepo</setSpec>" in posted.body
        assert stage_client.get("/silos/myrepo/oai?verb=Identify").status == 404
        store_settings(silo.path, ProviderSettings(page=True))
        own = validator()(stage_client.get("/silos/myrepo/oai?verb=Identify").body)
        assert own.findtext(".//{*}baseURL").endswith("/silos/myrepo/oai")
