"""Values renamed in all records of a search: counts while one types, the preview, merges."""

from collections.abc import Callable
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.index.projection import MAX_FACET
from recordsilo.selection import Selection
from silocuration.review.counts import CLUSTERED, RenameCounts, rename_counts
from webui.http.errors import BadRequest
from webui.search.renaming import Renaming, told

HTML = "text/html"
Add = Callable[..., None]


@pytest.fixture
def typed(add_record: Add) -> None:
    """Five articles, of which one is a journal article, too; two others are; one in 2016."""
    for number in range(5):
        more = [("type", "Journal article")] if not number else []
        add_record(f"a:{number}", ("title", f"A {number}"), ("type", "Article"), *more)
    add_record("a:5", ("title", "B 5"), ("type", "Journal article"), ("date", "2016"))
    add_record("a:6", ("title", "B 6"), ("type", "journal article"), ("date", "2016"))


def test_counts_say_what_changes_what_is_there_and_what_has_both(silo: Silo, typed: None) -> None:
    found = rename_counts(silo, Selection(), "type", ["Article"], "Journal article")
    assert found == RenameCounts(having=5, already=2, both=1)
    several = ["Article", "journal article", "Journal article"]
    assert rename_counts(silo, Selection(), "type", several, "Journal article").having == 6
    assert rename_counts(silo, Selection("B"), "type", ["Article"], "") == RenameCounts(0, 0, 0, 5)
    assert told(found, "Journal article") == (
        "5 records change. 2 records have the new value already. 1 of them has both."
    )


def test_every_value_of_a_field_beside_the_results_is_renamed_and_no_other(
    client: Any, typed: None
) -> None:
    page = client.get("/search?year=2016&type=Article").text
    assert "/bulk/rename?field=type&amp;value=Article&amp;search=year%3D2016" in page
    assert "field=year" not in page
    assert "field=set" not in page
    assert "field=curated" not in page
    two = client.get("/search?type=Journal+article&type=Article").text  # the most frequent first
    assert "/bulk/rename?field=type&amp;value=Article&amp;value=Journal+article" in two


def test_every_value_of_a_record_that_others_may_have_is_renamed(client: Any) -> None:
    page = client.get("/records/oai+example,org+1").text
    assert "/bulk/rename?field=creator&amp;value=Smith%2C+J." in page
    assert "/bulk/rename?field=date&amp;value=2003" in page
    assert "field=title" not in page
    assert "field=identifier" not in page


def test_what_a_facet_stands_for_is_a_field_of_a_record() -> None:
    assert set(CLUSTERED) == {"creator", "subject", "type", "publisher", "language"}


def test_the_form_counts_in_the_search_without_the_facets_own_filter(
    client: Any, typed: None
) -> None:
    url = "/bulk/rename.json?field=type&value=Article&to=Journal+article"
    assert client.json(url)["counts"] == {
        "records": 5,
        "already": 2,
        "both": 1,
        "elsewhere": 0,
        "said": "5 records change. 2 records have the new value already. 1 of them has both.",
        "edit": "Edit all 5",
        "all": "",
    }
    assert client.json(url)["batch_edit"] == "/bulk?type=Article"
    assert client.json(url + "&search=type%3DThesis")["counts"]["records"] == 5
    assert client.json(url + "&search=year%3D2016")["counts"]["records"] == 0
    assert client.json("/bulk/rename.json?field=rights&value=mine")["counts"] is None
    assert "reads every record" in client.get("/bulk/rename?field=rights&value=mine").text


def test_the_form_the_preview_and_the_result_tell_of_records_that_are_not_among_the_results(
    client: Any, silo: Silo, typed: None
) -> None:
    url = "/bulk/rename.json?field=type&value=Journal+article&to=Essay&search=year%3D2016"
    found = client.json(url)
    beside = "1 record that has it is not among these results and stays as it is."
    assert found["counts"]["said"] == f"1 of the 2 records that have the value changes. {beside}"
    assert found["counts"]["elsewhere"] == 1
    assert found["counts"]["all"] == "Rename in all records"
    assert found["everywhere"] == "/bulk/rename?field=type&value=Journal+article"
    fields = {"field": "type", "value-0": "Journal article", "to": "Essay", "search": "year=2016"}
    place = client.post("/bulk/rename", fields, accept=HTML).headers["Location"]
    said = f"Of 2 records that have the value, 1 are among the results. {beside}"
    way = "/bulk/rename?field=type&amp;value=Journal+article&amp;to=Essay"
    for _when in ("preview", "result"):
        page = client.get(place).text
        assert said in page
        assert f'<a href="{way}">Rename in all records</a>' in page
        client.post(place + "/resume", {}, accept=HTML)
        for _attempt in range(200):
            if silo.count(curated=True) == 1:
                break
            client.get(place)
    everywhere = {**fields, "search": ""}
    place = client.post("/bulk/rename", everywhere, accept=HTML).headers["Location"]
    assert "are among the results" not in client.get(place).text


def test_without_scripts_a_value_is_renamed_by_form_preview_and_apply(
    client: Any, silo: Silo, typed: None
) -> None:
    fields = {"field": "type", "value-0": "Article", "to": "Essay", "search": "q=A"}
    answer = client.post("/bulk/rename", fields, accept=HTML)
    assert answer.status == 303
    page = client.get(answer.headers["Location"]).text
    assert "Change 5 records" in page
    assert silo.count(curated=True) == 0
    client.post(answer.headers["Location"] + "/resume", {}, accept=HTML)
    for _attempt in range(200):
        if silo.count(curated=True) == 5:
            break
        client.get(answer.headers["Location"])
    assert silo.search("", {"type": "Essay"}).total == 5


def test_several_values_become_one_and_those_that_have_it_already_have_it_once(
    client: Any, silo: Silo, typed: None
) -> None:
    fields = {"field": "type", "value-0": "Article", "value-1": "journal article",
              "to": "Journal article", "message": "as agreed"}  # fmt: skip
    told_ = client.post("/bulk/rename", fields, accept="application/json").json
    assert "Change 6 records" in client.get(told_["url"]).text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"to": " "}, "Enter the new value."),
        ({"to": "Article"}, "The new value is the same as the old one."),
        ({"to": "b", "value-0": "a" * MAX_FACET}, "replace it by a pattern in a batch edit."),
        (
            {"to": "b", "value-0": "None has it", "search": "q=nobodyatall"},
            "No record has the value.",
        ),
    ],
)
def test_a_slip_is_told_at_the_field(client: Any, fields: dict[str, str], said: str) -> None:
    asked = {"field": "type", "value-0": "Article"} | fields
    answer = client.post("/bulk/rename", asked, accept=HTML)
    assert answer.status == 400
    assert said in answer.text
    assert 'aria-describedby="to-fault"' in answer.text


def test_an_unknown_field_is_refused_with_those_that_there_are(client: Any) -> None:
    for answer in (
        client.get("/bulk/rename.json?field=nofield&value=a"),
        client.post("/bulk/rename", {"field": "nofield", "value-0": "a", "to": "b"}),
    ):
        assert answer.status == 400
        assert "Choose one of these fields: title, creator" in answer.text


def test_no_field_or_value_is_an_error() -> None:
    with pytest.raises(BadRequest, match="field"):
        Renaming.of([("value", "a")])
    with pytest.raises(BadRequest, match="value"):
        Renaming.of([("field", "type")])
    with pytest.raises(BadRequest, match="at most 1,000"):
        Renaming.of([("field", "type"), *((f"value-{n}", str(n)) for n in range(1001))])
    assert Renaming.of([("field", "format"), ("value", "pdf"), ("search", "format=mods")]).found


def test_the_page_of_all_values_merges_ticked_ones(client: Any, typed: None) -> None:
    page = client.get("/search/values?field=type&year=2016").text
    assert 'form="merging" name="value-0" value="' in page
    assert 'name="search" value="year=2016"' in page
    assert 'form="merging"' not in client.get("/search/values?field=set").text
