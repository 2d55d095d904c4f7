"""The page that facets any field: each group leads to its records, each value to renaming."""

from typing import Any

import pytest

from silocuration.review import any_field

URL = "/search/fields?q=Record&field=title"


def test_values_lead_to_their_records_and_to_renaming(client: Any) -> None:
    page = client.get(URL).text
    assert "55 records were read." in page
    assert "group=Record+100" in page
    assert "/bulk/rename?field=title&amp;value=Record+100&amp;search=q%3DRecord" in page
    one = client.get(URL + "&group=Record+100").text
    assert "/records/oai+example,org+100" in one
    assert 'name="change-0-value" value="Record 100"' in one


def test_a_group_is_told_in_words_and_as_json(client: Any) -> None:
    assert "No value" in client.get("/search/fields?field=rights&kind=blank").text
    told = client.json("/search/fields.json?q=Record&field=title&kind=shape")
    assert told["groups"] == [{"group": "Aa 999", "values": 55, "records": 55}]
    assert "now" in client.get(URL + "&group=gone").text
    assert client.get("/search/fields?kind=colour").status == 400


def test_a_sample_is_called_one(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(any_field, "RECORDS", 10)
    page = client.get(URL).text
    assert "This is a sample: the first 10 of 55 records" in page
    assert client.json(URL.replace("fields?", "fields.json?"))["complete"] is False


def test_records_of_a_group_are_batch_edited(client: Any) -> None:
    fields = {
        "changes": "1",
        "change-0-do": "replace",
        "change-0-field": "title",
        "change-0-value": "Record 100",
        "identifiers": "oai:example.org:100",
        "do": "kind-0",
    }
    page = client.post("/bulk", fields, accept="text/html").text
    assert "1 listed record" in page
    assert 'value="Record 100"' in page
