"""Versions compared: by field as sets with an order, by line, and on the record's page."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from webui import urls
from webui.record import xml_view
from webui.record.field_differences import FieldValue, compare_fields, excerpts, fields_of, words

PLAIN = "oai:example.org:1"


def kinds(before: list[str], after: list[str]) -> list[tuple[str, str | None, str | None]]:
    sides = [{"subject": [FieldValue(one) for one in some]} for some in (before, after)]
    found = compare_fields(*sides)
    return [
        (v.kind, v.before and v.before.text, v.after and v.after.text)
        for field in found
        for v in field.values
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["a"], ["a"], []),
        (["a", "b"], ["a"], [("same", "a", "a"), ("removed", "b", None)]),
        (["a"], ["a", "b"], [("same", "a", "a"), ("added", None, "b")]),
        (["Art"], ["Article"], [("changed", "Art", "Article")]),
        (["x"], ["y"], [("changed", "x", "y")]),
        (
            ["solar cell", "wind"],
            ["wind", "solar cells"],
            [("same", "wind", "wind"), ("changed", "solar cell", "solar cells")],
        ),
        (
            ["a", "b", "c"],
            ["c", "a", "b"],
            [("moved", "c", "c"), ("same", "a", "a"), ("same", "b", "b")],
        ),
        (["a", "a"], ["a"], [("same", "a", "a"), ("removed", "a", None)]),
    ],
)
def test_values_are_compared_as_a_set_with_an_order(
    before: list[str], after: list[str], expected: list[Any]
) -> None:
    assert kinds(before, after) == expected


values = st.lists(st.sampled_from(["a", "b", "ab", "abc", "solar cell", "solar cells", ""]))


@given(values, values)
def test_a_comparison_tells_all_values_of_both_versions(
    before: list[str], after: list[str]
) -> None:
    found = kinds(before, after)
    if found:
        assert sorted(one[1] for one in found if one[1] is not None) == sorted(before)
        assert [one[2] for one in found if one[2] is not None] == after
    else:
        assert before == after


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_of_changed_texts_are_the_texts(one: str, other: str) -> None:
    old, new = words(one, other)
    assert ("".join(text for _, text in old), "".join(text for _, text in new)) == (one, other)


def test_a_format_that_is_not_flat_is_compared_by_its_description() -> None:
    nested = (
        b'<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>T</title></titleInfo></mods>'
    )
    found = fields_of("mods", nested)
    assert FieldValue("T") in [value for some in found.values() for value in some]


@given(st.text(alphabet="<>/=\"' ab!-?\n", max_size=80))
def test_coloured_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(piece for _, piece in xml_view.pieces(text)) == text


def test_names_values_and_notes_of_xml_are_told_apart() -> None:
    found = xml_view.pieces('<a b="1 > 0"><!-- <x> -->t</a>'.replace("1 > 0", "1"))
    assert found == (
        ("tag", "<a"),
        ("name", " b="),
        ("value", '"1"'),
        ("tag", ">"),
        ("note", "<!-- <x> -->"),
        ("text", "t"),
        ("tag", "</a>"),
    )


@pytest.fixture
def edited(silo: Silo, working_copy: str) -> str:
    with silo[working_copy].get_stream("oai_dc", "workingcopy") as stream:
        content = stream.read()
    content = content.replace(b"keeping of records", b"keeping of old records")
    content = content.replace(b"Smith, J.", b"Smith &amp; <Sons>".replace(b"<", b"&lt;"))
    with silo.editing(working_copy) as edit:
        edit.put("workingcopy", "oai_dc", content, metadata=True)
        edit.put("workingcopy", "licence.txt", b"CC BY")
    return working_copy


def test_by_default_the_harvested_version_is_compared_with_the_current_one(
    client: Any, edited: str
) -> None:
    found = client.json(urls.record(edited) + "/differences.json")
    assert (found["before"], found["after"]) == ("1", "workingcopy")
    changes = {one["path"]: one for one in found["files"]}
    assert changes["licence.txt"]["change"] == "added"
    assert changes["licence.txt"]["before"] is None
    title = changes["oai_dc"]["fields"]["title"]
    assert [value["change"] for value in title] == ["changed"]
    assert title[0]["after"]["text"] == "On the keeping of old records"
    assert "date" not in changes["oai_dc"]["fields"]
    assert any(
        line.startswith("+") and "old records" in line for line in changes["oai_dc"]["lines"]
    )


def test_any_two_versions_are_compared_either_way(client: Any, edited: str) -> None:
    url = urls.differences(edited, "workingcopy", "1")
    found = client.json(urls.twin(url))
    assert {one["path"]: one["change"] for one in found["files"]} == {
        "licence.txt": "removed",
        "oai_dc": "changed",
    }
    page = client.get(url)
    assert page.status == 200
    assert "&lt;Sons&gt;" in page.text
    assert "<Sons>" not in page.text


def test_versions_that_are_the_same_say_so(client: Any, working_copy: str) -> None:
    assert client.json(urls.record(working_copy) + "/differences.json")["files"] == []
    assert "No difference" in client.get(urls.record(working_copy) + "/differences").text


def test_a_record_of_one_version_has_nothing_to_compare(client: Any) -> None:
    assert client.get(urls.record(PLAIN) + "/differences").status == 404
    answer = client.get(urls.record(PLAIN) + "/differences.json?after=9")
    assert (answer.status, answer.error["code"]) == (404, "version_not_found")


def test_a_curated_record_shows_first_what_was_changed(client: Any, edited: str) -> None:
    page = client.get(urls.record(edited)).text
    assert page.index("Changed since version 1") < page.index("Description</h2>")
    assert "Changed against" not in client.get(urls.version(edited, "1")).text


def test_a_record_leads_to_its_neighbours_and_elsewhere(client: Any) -> None:
    page = client.get(urls.record("oai:example.org:120")).text
    for number in (118, 119, 121, 122):
        assert f'href="/records/oai+example,org+{number}"' in page
    assert 'href="https://doi.org/10.1234/abc.5"' in client.get(urls.record(PLAIN)).text


def test_long_values_are_told_by_the_words_that_differ() -> None:
    same, after = "The same words. " * 20, " and more of the same" * 20
    old, new = excerpts(f"{same}one{after}", f"{same}other{after}")
    assert [piece for piece in old if piece[0]] == [(True, "one")]
    assert [piece for piece in new if piece[0]] == [(True, "other")]
    assert old[0][1].startswith("…")
    assert old[0][1].endswith("The same words. ")
    assert len("".join(text for _, text in old)) < 150
    assert excerpts("Article", "Journal article") == (
        ((True, "Article"),), ((True, "Journal article"),)
    )  # fmt: skip


def test_very_long_values_that_begin_and_end_alike_are_compared() -> None:
    text = " ".join(f"word{n}" for n in range(20_000))
    old, new = words(text, text.replace("word10000 ", "another "))
    assert [piece for piece in old if piece[0]] == [(True, "word10000")]
    assert "".join(piece for _, piece in new) == text.replace("word10000 ", "another ")
