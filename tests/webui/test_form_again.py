"""A form that is refused is shown again as it was filled in, with the error at its field."""

from typing import Any

import lxml.html
import pytest

from recordsilo import Silo

from .conftest import PLAIN, dublin_core, harvest

HTML = "text/html"
RECORD = "oai+example,org+1"


def shown(answer: Any, name: str) -> tuple[str, str]:
    """What a field holds, and what is said beside it."""
    page = lxml.html.document_fromstring(answer.text)
    (control,) = page.xpath(f"//main//*[@name='{name}' and not(@type='hidden')]")
    told = [page.get_element_by_id(one) for one in control.get("aria-describedby", "").split()]
    said = [one.text_content() for one in told if one.get("class") == "fault"]
    return control.get("value", ""), "".join(said)


def sent(client: Any, to: str, fields: dict[str, str], page: str) -> Any:
    """Send a form from its page, as a browser does."""
    headers = {"Referer": f"http://127.0.0.1:{client.port}{page}"}
    return client.post(to, fields, accept=HTML, headers=headers)


CHANGES = (
    (f"/records/{RECORD}/versions", {"name": "a/b"}, f"/records/{RECORD}/versions", "name"),
    ("/places", {"name": "eprints", "url": "gopher://h/"}, "/places", "url"),
    ("/places", {"name": "Of Us", "url": "http://h/rest"}, "/places", "name"),
)


@pytest.mark.parametrize(("to", "fields", "page", "field"), CHANGES)
def test_a_refused_change_is_told_at_the_field(
    client: Any, silo: Silo, to: str, fields: dict[str, str], page: str, field: str
) -> None:
    answer = sent(client, to, fields, page)
    assert answer.status == 400
    value, said = shown(answer, field)
    assert value == fields[field]
    assert said.endswith(".")
    assert sent(client, to, fields, "").status == 400  # from nowhere: the page of the error
    programs = client.post(to, fields)
    assert (programs.status, programs.error["message"]) == (400, said)


def test_a_place_that_is_there_already_is_told_at_its_name(client: Any, silo: Silo) -> None:
    fields = {"name": "eprints", "url": "http://h/rest", "user": "ada", "password": "secret"}
    assert sent(client, "/places", fields, "/places").status == 303
    answer = sent(client, "/places", fields, "/places")
    assert shown(answer, "name") == ("eprints", "There is an export place 'eprints' already.")
    assert "secret" not in answer.text


def test_nothing_ticked_is_told_in_the_form(client: Any, silo: Silo) -> None:
    for number, name in enumerate(("Ortega, Nuria", "Ortega Nuria")):
        harvest(silo, {f"oai:example.org:9{number}": dublin_core(("creator", name))})
    assert 'value="merge"' in client.get("/clusters", accept=HTML).text
    answer = sent(client, "/clusters", {"do": "merge"}, "/clusters")
    assert answer.status == 400
    assert "Nothing would be merged." in answer.text
    assert "<h1>Something in this request is wrong</h1>" not in answer.text


def test_a_refused_question_is_told_on_its_own_page(client: Any) -> None:
    answer = client.get("/search?q=record&year_from=2018&year_to=2016", accept=HTML)
    assert answer.status == 400
    assert shown(answer, "year_to") == ("2016", "The years end (2016) before they begin (2018).")
    assert shown(answer, "year_from") == ("2018", "")


def test_markup_in_what_was_typed_stays_text(client: Any, silo: Silo) -> None:
    attack = "<script>alert(1)</script>\"'/"
    answer = sent(
        client, f"/records/{RECORD}/versions", {"name": attack}, f"/records/{RECORD}/versions"
    )
    assert answer.status == 400
    assert "<script>alert" not in answer.text
    assert shown(answer, "name")[0] == attack


def test_characters_that_no_page_can_hold_are_replaced(client: Any) -> None:
    answer = client.get("/search?q=a%00b&year_from=2018&year_to=2016", accept=HTML)
    assert answer.status == 400
    assert shown(answer, "q")[0] in {"", "a\ufffdb"}


def test_a_referrer_of_another_page_changes_nothing(client: Any, silo: Silo) -> None:
    for page in ("/search", "/static/page.css", "//elsewhere.example/", "/records/nope", "/\\x"):
        answer = sent(client, f"/records/{RECORD}/versions", {"name": "a/b"}, page)
        assert answer.status == 400
        assert "<h1>Something in this request is wrong</h1>" in answer.text
    assert silo[PLAIN].versions == silo[PLAIN].versions
