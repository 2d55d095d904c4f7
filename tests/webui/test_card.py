"""What other sites show of a link to a page: the card, and what it may tell."""

import html
import re
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.disk.identifier import clean
from silocuration.collections import Collection, save_collection
from silocuration.searches import SavedSearch, save_search
from webui.app import create_app
from webui.http.security import LOOPBACK_NAMES, AddressPolicy
from webui.people.roles import Role, User
from webui.rendering import SOCIAL_PICTURE, SocialCard, static_content
from webui.site import SiteSettings

from .conftest import ATTACK, HOSTILE

RECORD = "/records/oai+example,org+1"
PUBLIC = AddressPolicy(LOOPBACK_NAMES | {"silo.example"})
HERE = {"Host": "silo.example:8443"}


@pytest.fixture
def show(silo: Silo, stage: Any, client: Any) -> Any:
    """Show the Silo under a public name; gives the card of a page."""

    def card(path: str, *, sign_in: bool = False) -> dict[str, str]:
        stage.app = create_app(silo, SiteSettings("ada", policy=PUBLIC, sign_in=sign_in))
        page = client.ask("GET", path, headers=HERE).text
        found = re.findall(
            r'<meta (?:property|name)="((?:og|twitter):[^"]+)" content="(.*)">', page
        )
        return {name: html.unescape(text) for name, text in found}

    return card


def test_the_card_of_a_record_tells_who_made_it_and_what_it_is_about(show: Any) -> None:
    card = show(RECORD)
    assert card["og:title"] == "On the keeping of records"
    assert card["og:site_name"] == "Example Archive"
    assert card["og:url"] == f"http://silo.example:8443{RECORD}"
    said = "Ortega, Núria; Smith, J. – A long abstract. In two paragraphs."
    assert card["og:description"] == said
    assert card["og:image"].startswith(f"http://silo.example:8443/static/{SOCIAL_PICTURE}?")


def test_a_long_summary_is_cut_between_words(show: Any, add_record: Any) -> None:
    add_record("oai:example.org:long", ("title", "Long"), ("description", "words " * 900))
    said = show("/records/oai+example,org+long")["og:description"]
    assert len(said) <= 200
    assert said.endswith("words …")


def test_a_hostile_record_adds_nothing_to_the_head(show: Any) -> None:
    card = show(f"/records/{clean(HOSTILE)}")
    assert card["og:title"] == ATTACK
    assert card["og:description"] == f"{ATTACK} – {ATTACK}"


def test_the_start_page_and_a_collection_have_cards(show: Any, silo: Silo) -> None:
    card = show("/")
    assert card["og:title"] == "Example Archive"
    assert re.fullmatch(r"\d+ records", card["og:description"])
    search = SavedSearch("keeping", "Keeping")
    save_search(silo.path, search)
    save_collection(silo.path, search, Collection(text="What was *kept*.\n\nAnd more."))
    card = show("/collections/keeping")
    assert (card["og:title"], card["og:description"]) == ("Keeping", "What was kept.")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "192.0.2.7"])
def test_without_a_public_address_there_is_no_picture(
    stage: Any, client: Any, silo: Silo, host: str
) -> None:
    policy = AddressPolicy(PUBLIC.names | {"192.0.2.7"})
    stage.app = create_app(silo, SiteSettings("ada", policy=policy))
    page = client.ask("GET", RECORD, headers={"Host": host}).text
    assert 'property="og:title"' in page
    assert "og:image" not in page
    assert "og:url" not in page


def test_behind_a_sign_in_no_card_tells_anything(show: Any, client: Any) -> None:
    card = show(f"/sign-in?next={RECORD}", sign_in=True)
    assert card["og:title"] == card["og:site_name"] == "Example Archive"
    assert not {"og:description", "og:url"} & set(card)
    assert card["og:image"].startswith("http://silo.example:8443/static/")
    answer = client.ask("GET", RECORD, headers=HERE)
    assert (answer.status, answer.headers["Location"][:14]) == (303, "/sign-in?next=")
    for name, tells in (("", True), ("vera", False)):
        found = SocialCard.of("https://x.example", "A", is_open=False, user=User(name, Role.VIEWER))
        assert (found is not None) is tells
        assert not (found and found.summary)


@pytest.mark.parametrize("sign_in", [True, False])
def test_an_error_has_no_card_and_names_nothing_to_strangers(
    show: Any, client: Any, sign_in: bool
) -> None:
    assert show("/static/nothing", sign_in=sign_in) == {}
    said = client.ask("GET", "/static/nothing", headers=HERE)
    assert said.status == 404
    assert ("Example Archive" in said.text) is not sign_in
    foreign = client.ask("GET", "/", headers={"Host": "evil.example"})
    assert foreign.status == 421
    assert "Example Archive" not in foreign.text
    assert "<title>421 · Silo</title>" in foreign.text
    assert "silo.example" not in foreign.text


def test_other_sites_may_show_the_picture(show: Any, client: Any) -> None:
    show("/", sign_in=True)
    picture = client.ask("GET", f"/static/{SOCIAL_PICTURE}", headers=HERE)
    assert (picture.status, picture.headers["Content-Type"]) == (200, "image/png")
    assert picture.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_the_picture_is_small_and_as_large_as_is_said() -> None:
    picture = static_content(SOCIAL_PICTURE)
    assert len(picture) <= 60_000
    size = int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
    assert (picture[:4], size) == (b"\x89PNG", (1200, 630))
