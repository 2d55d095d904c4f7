"""Search on the page: the same results as the store, every value reachable, nothing lost."""

import csv
import io
import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from recordsilo import Silo
from recordsilo.index import PageRequest, SearchFilters
from webui import urls
from webui.bulk.rule_form import RuleForm
from webui.editing.edit_form import EditForm
from webui.http.errors import BadRequest
from webui.http.messages import parse_pairs
from webui.record.columns import ListChoice, heads
from webui.search import request as search_request
from webui.search.request import SearchRequest
from webui.search.selections import Selections

PLAIN = "oai:example.org:1"
DELETED = "oai:example.org:2"
SET = "7374617475733D707562"


def found(answer: Any) -> list[str]:
    return [row["identifier"] for row in answer["records"]]


@pytest.mark.parametrize(
    ("query", "words", "filters"),
    [
        ("q=record*", "record*", SearchFilters()),
        ("q=title:keeping", "title:keeping", SearchFilters()),
        ("creator=Smith, J.", "", SearchFilters(values={"creator": ["Smith, J."]})),
        ("deleted=true", "", SearchFilters({"deleted": True})),
        ("language=eng&language=ara", "", SearchFilters(values={"language": ["eng", "ara"]})),
        (f"set={SET}&until=2003-12-31", "", SearchFilters({}, {"set": [SET]}, None, "2003-12-31")),
    ],
)
def test_the_page_finds_what_the_store_finds(
    client: Any, silo: Silo, query: str, words: str, filters: SearchFilters
) -> None:
    expected = silo.search(words, filters, ("year", "set"), PageRequest(limit=25))
    answer = client.json("/search.json?" + quote(query, safe="=&*:,"))
    assert answer["total"] == expected.total
    assert found(answer) == [row.identifier for row in expected.rows]
    for name in ("year", "set"):
        counted = [(one["value"], one["count"]) for one in answer["facets"][name]]
        assert counted == [(one.value, one.count) for one in expected.facets[name]]


@pytest.mark.long
@pytest.mark.parametrize("sort", ["identifier", "newest", "oldest", "title"])
def test_following_next_meets_every_record_once(client: Any, silo: Silo, sort: str) -> None:
    met, url = [], f"/search.json?limit=7&sort={sort}"
    while url:
        answer = client.json(url)
        met += found(answer)
        url = answer["next"]
    assert sorted(met) == list(silo)
    assert len(met) == len(set(met)) == 60


def test_subjects_and_creators_are_counted_unasked(client: Any) -> None:
    counted = client.json("/search.json")["facets"]["creator"]
    assert {"value": "Smith, J.", "count": 1} in counted


def test_values_are_found_without_case_and_accents_within_what_was_found(client: Any) -> None:
    url = "/search/values.json?field=creator&match="
    assert client.json(url + "NURIA")["values"] == [{"value": "Ortega, Núria", "count": 1}]
    assert client.json(url + "nuria&q=keeping")["values"] != []
    assert client.json(url + "nuria&deleted=true")["values"] == []


def test_choosing_a_value_and_taking_it_off_leads_back() -> None:
    request = SearchRequest.of([("q", "solar"), ("year", "2016"), ("since", "2010-01-01")])
    assert request.toggled("type", "Thesis").toggled("type", "Thesis") == request
    assert request.toggled("deleted", "true").toggled("deleted", "false").chosen == (
        ("year", "2016"),
        ("deleted", "false"),
    )
    assert SearchRequest.of_selection(request.selection) == request


@pytest.mark.parametrize(
    "pair",
    [("colour", "red"), ("deleted", "yes"), ("sort", "best"), ("limit", "0"), ("by", "year.size")],
)
def test_a_field_that_means_nothing_is_refused(client: Any, pair: tuple[str, str]) -> None:
    with pytest.raises(BadRequest):
        SearchRequest.of([pair])
    answer = client.get("/search.json?" + urlencode([pair]))
    assert answer.status == 400
    assert answer.error["code"] == "bad_request"


@pytest.mark.parametrize("query", ["since=yesterday", "after=nothing", 'after=["newest",1]'])
def test_a_date_or_a_cursor_that_is_none_is_refused_in_the_stores_words(
    client: Any, query: str
) -> None:
    for path in ("/search.json?", "/search/results.csv?"):
        answer = client.get(path + quote(query, safe="="), accept="application/json")
        if path.startswith("/search.json") or "since" in query:
            assert answer.status == 400
            assert answer.error["code"] == "bad_search"


@pytest.mark.parametrize("words", ['"', "((", "a AND", "title:", "NEAR(x", "-", "*", "'; DROP"])
def test_no_text_is_an_error(client: Any, words: str) -> None:
    assert client.get("/search?q=" + quote(words)).status == 200


def test_a_search_that_finds_nothing_says_what_was_probably_meant(client: Any) -> None:
    told = "There is no field 'colour', so colour:red was searched as text; the fields are"
    assert client.json("/search.json?q=colour:red")["remarks"][0].startswith(told)
    assert (
        "so colour:red was searched as text; the fields are"
        in client.get("/search?q=colour:red").text
    )
    assert client.json("/search.json?q=record")["remarks"] == []
    answer = client.get("/search?year=abc", accept="application/json")
    assert (answer.status, answer.error["code"]) == (400, "bad_search")
    assert "The year 'abc' is not a number; write one, such as year=2016" in answer.error["message"]


def test_a_filter_among_the_words_becomes_one_of_the_filters(client: Any) -> None:
    for query in ("q=record+year:2016", "q=record+date:2016", "q=record&date=2016"):
        page = client.get(f"/search?{query}")
        assert '<input id="q" name="q" type="search" value="record"' in page.text
        assert client.json(f"/search.json?{query}")["filters"] == {
            "query": "record", "year": ["2016"],
        }  # fmt: skip
        assert client.json(f"/search.json?{query}") == client.json(
            "/search.json?q=record&year=2016"
        )


def test_all_results_are_sent_as_csv_and_as_json_lines(client: Any, silo: Silo) -> None:
    table = client.get("/search/results.csv?sort=identifier")
    rows = list(csv.DictReader(io.StringIO(table.text.removeprefix("\ufeff"))))
    assert [row["identifier"] for row in rows] == list(silo)
    assert {row["deleted"] for row in rows if row["identifier"] == DELETED} == {"true"}
    lines = client.get("/search/results.jsonl?q=record*").text.splitlines()
    listed = client.json("/search.json?q=record*&limit=1000")["records"]
    assert [json.loads(line) for line in lines] == listed


def test_the_table_and_the_lines_of_results_say_what_a_record_is(client: Any) -> None:
    table = client.get("/search/results.csv?q=keeping").text.removeprefix("\ufeff")
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["creators"], row["year"], row["doi"]) == (
        "Ortega, Núria||Smith, J.", "2003", "10.1234/abc.5",
    )  # fmt: skip
    assert row["sets"] == "Status = Published & <read>"
    (line,) = client.json("/search.json?q=keeping")["records"]
    assert line["creators"] == ["Ortega, Núria", "Smith, J."]
    assert (line["year"], line["types"], line["publishers"]) == ("2003", [], [])
    assert (line["doi"], line["columns"]) == ("10.1234/abc.5", {})


def test_a_row_names_three_creators_and_counts_the_others(client: Any, add_record: Any) -> None:
    names = [("creator", f"Author, {letter}.") for letter in "ABCDE"]
    fields = (("title", "Many hands"), *names, ("date", "2016-05"), ("type", "Article"))
    add_record("oai:example.org:many", *fields, ("publisher", "A Press"))
    row = client.get("/search?q=hands").text.partition('<ol class="records picked">')[2]
    row = row.partition("</ol>")[0]
    assert re.findall(r"Author, [A-E]\.", row) == ["Author, A.", "Author, B.", "Author, C."]
    assert "and 2 more" in row
    for said in ("2016", "Article", "A Press"):
        assert f">{said}</span>" in row


def test_a_cell_that_would_be_a_formula_is_guarded(client: Any, silo: Silo) -> None:
    client.post("/records", {"id": "=1+1"})
    assert "=1+1" in silo
    table = client.get("/search/results.csv?sort=identifier").text
    assert "\n'=1+1," in table


@pytest.mark.parametrize(
    "typed",
    [PLAIN, f" {PLAIN} ", "oai+example,org+1", "10.1234/abc.5", "doi:10.1234/ABC.5",
     "https://doi.org/10.1234/abc.5"],
)  # fmt: skip
def test_an_identifier_or_a_doi_leads_to_its_record(client: Any, typed: str) -> None:
    url = "/search?q=" + quote(typed, safe="")
    answer = client.get(url, accept="text/html")
    assert answer.status == 303
    assert answer.headers["Location"].partition("?")[0] == "/records/oai+example,org+1"
    twin = client.json("/search.json?q=" + quote(typed, safe=""))
    assert twin["record"] == "/records/oai+example,org+1.json"
    assert client.get(url + "&deleted=false", accept="text/html").status == 200


@pytest.mark.long
@pytest.mark.parametrize("sort", ["", "newest", "title"])
def test_from_a_record_one_walks_through_the_results_and_back(client: Any, sort: str) -> None:
    url = f"/search?q=record*&deleted=false&sort={sort}&limit=10"
    listed = found(client.json(url.replace("?", ".json?").replace("limit=10", "limit=100")))
    first = re.search(r'<h2><a href="([^"]+)"', client.get(url).text)
    assert first
    address, met = unescape(first[1]).replace("?", ".json?"), []
    while address:
        record = client.json(address)
        met.append(record["identifier"])
        results = record["results"]
        assert (results["place"], results["total"]) == (len(met), len(listed))
        last, address = address, results["next"]
    assert met == listed
    page = client.get(last.replace(".json?", "?"), accept="text/html").text
    assert f"{len(listed)} of {len(listed)}" in page
    assert 'rel="prev"' in page
    assert 'rel="next"' not in page
    back = re.search(r'<a href="(/search[^"]*)">← Results', page)
    assert back
    assert found(client.json(unescape(back[1]).replace("?", ".json?"))) == listed[:10]


@pytest.mark.parametrize("query", ["q=nothing", "colour=red", "since=x", "%ff"])
def test_a_search_that_does_not_find_the_record_has_no_neighbours(client: Any, query: str) -> None:
    page = client.get(f"/records/oai+example,org+1?from={quote(query)}", accept="text/html")
    assert page.status == 200
    assert 'rel="next"' not in page.text


def test_another_version_of_a_record_keeps_the_way_back(client: Any, working_copy: str) -> None:
    way = f"?from={quote('q=keeping', safe='')}"
    page = client.get(urls.record(working_copy) + way, accept="text/html").text
    other = urls.version(working_copy, "1") + way
    assert f'href="{other}"' in page
    page = client.get(other, accept="text/html").text
    assert '<a href="/search?q=keeping">← Results</a>' in page
    current = urls.version(working_copy, "workingcopy") + way
    assert f'href="{current}"' in page
    shown = client.json(urls.twin(urls.record(working_copy) + way))
    assert [one["url"] for one in shown["versions"]] == [
        urls.version(working_copy, name) for name in ("1", "workingcopy")
    ]


def heads_of_list(page: str) -> list[str]:
    table = page.partition('<table class="found-table">')[2].partition("</thead>")[0]
    heads = re.findall(r'<th scope="col" data-column[^>]*>(.*?)</th>', table)
    return [re.sub("<[^>]*>", "", one) for one in heads]


def test_a_table_with_chosen_columns_is_kept_for_a_person(client: Any) -> None:
    fields = {"look": "table", "column-doi": "yes", "column-creator": "yes", "search": "q=keeping"}
    answer = client.post("/search/look", fields, accept="text/html")
    assert (answer.status, answer.headers["Location"]) == (303, "/search?q=keeping")
    kept, *how = answer.headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(how)
    page = client.get("/search?q=keeping", headers={"Cookie": f"a=b; {kept}"}).text
    assert heads_of_list(page) == ["DOI", "Creator"]
    assert re.search(
        '<td title="10.1234/abc.5">.*?<span dir="auto">10.1234/abc.5</span>\\s*</span>', page
    )
    creator = f'<a href="/search?{urlencode({"creator": "Smith, J."})}" dir="auto">Smith, J.</a>'
    assert creator in page
    assert '<ol class="records' not in page
    assert '<ol class="records picked">' in client.get("/search?q=keeping").text
    moved = client.post("/search/look", fields | {"move": "creator.left"}, accept="text/html")
    assert moved.headers["Location"] == "/search?q=keeping&view=open"
    assert moved.headers["Set-Cookie"].startswith("list=table.creator.doi;")
    told = client.post("/search/look", fields | {"width-doi": "20", "width-creator": "240"})
    assert told.json == {
        "look": "table", "columns": ["doi", "creator"], "widths": {"doi": 48, "creator": 240},
    }  # fmt: skip


def test_a_title_in_the_table_stands_before_what_is_said_of_its_record(
    client: Any, working_copy: str
) -> None:
    page = client.get("/search?curated=true", headers={"Cookie": "list=table.title"}).text
    row = page.partition("<tbody>")[2]
    assert row.index(f'<a href="{urls.record(working_copy)}') < row.index("badge curated")


def test_the_key_that_edits_makes_no_working_copy(client: Any) -> None:
    page = client.get("/search?q=keeping").text
    assert f'data-queue="{urls.queue_record(PLAIN)}"' in page
    assert "data-curate" not in page


def test_a_signed_in_persons_list_is_kept_with_the_account(tmp_path: Path) -> None:
    kept = Selections(str(tmp_path))
    assert kept.look("ada") == ""
    kept.keep_look("ada", str(ListChoice("compact", ("year", "title"), {"year": 60})))
    assert ListChoice.read(kept.look("ada")) == ListChoice(
        "compact", ("year", "title"), {"year": 60}
    )
    assert kept.look("bob") == ""


@pytest.mark.parametrize(
    "value", ["", "table", "table.<b>.nothing", "x.creator", "table..%00", "table~9.title~x"]
)
def test_a_choice_that_means_nothing_is_not_shown(client: Any, value: str) -> None:
    page = client.get("/search?q=keeping", headers={"Cookie": f"list={value}"})
    assert page.status == 200
    table = {"table~9.title~x": [], "": [], "x.creator": []}
    assert heads_of_list(page.text) == table.get(
        value, ["Title", "Creator", "Year", "Type", "Publisher"]
    )


def test_heads_of_the_table_lead_to_its_orders_one_after_the_other() -> None:
    choice = ListChoice("table", ("title", "year", "datestamp", "doi"))

    def orders(sort: str) -> list[tuple[str, str]]:
        return [(one.sort, one.next_sort) for one in heads(choice, sort)]

    other = [("", "title"), ("", "-year"), ("", "newest"), ("", "")]
    assert orders("relevance") == other
    assert orders("-year")[1] == ("descending", "year")
    assert orders("year")[1] == ("ascending", "-year")
    assert orders("newest")[2] == ("descending", "oldest")
    assert orders("title") == [("ascending", "title"), *other[1:]]


def test_records_are_sorted_by_their_years(client: Any, add_record: Any) -> None:
    for year in (2001, 1999, 2005):
        add_record(f"y:{year}", ("title", "Yzz"), ("date", str(year)))
    add_record("y:none", ("title", "Yzz"))
    rising = found(client.json("/search.json?q=yzz&sort=year"))
    assert rising == ["y:1999", "y:2001", "y:2005", "y:none"]
    falling = found(client.json("/search.json?q=yzz&sort=-year"))
    assert falling == ["y:2005", "y:2001", "y:1999", "y:none"]


def test_records_are_sorted_by_their_types(client: Any, add_record: Any) -> None:
    for name, kind in (("1", "Thesis"), ("2", "article"), ("3", "Book")):
        add_record(f"t:{name}", ("title", "Tzz"), ("type", kind))
    add_record("t:none", ("title", "Tzz"))
    assert found(client.json("/search.json?q=tzz&sort=type")) == ["t:2", "t:3", "t:1", "t:none"]
    assert (
        '<option value="type" selected>Type</option>'
        in client.get("/search?q=tzz&sort=type", accept="text/html").text
    )


@pytest.mark.parametrize("typed", [f'"{PLAIN}"', "keeping", "10.1234/abc", "doi:10.5555/two"])
def test_other_words_are_searched_for(client: Any, add_record: Any, typed: str) -> None:
    for name in "ab":
        add_record(f"oai:example.org:{name}", ("title", name), ("identifier", "doi:10.5555/two"))
    answer = client.get("/search?q=" + quote(typed, safe=""), accept="text/html")
    assert answer.status == 200
    assert client.json("/search.json?q=" + quote(typed, safe=""))["record"] is None


def test_the_orders_name_relevance_once_and_only_where_there_are_words(client: Any) -> None:
    with_words, without = client.get("/search?q=keeping").text, client.get("/search").text
    assert re.findall(r'<option value="(\w*)">(Relevance|Identifier)', with_words) == [
        ("", "Relevance"), ("identifier", "Identifier"),
    ]  # fmt: skip
    assert re.findall(r'<option value="(\w*)">(Relevance|Identifier)', without) == [
        ("", "Identifier")
    ]


def test_a_kept_search_finds_what_is_there_when_it_is_opened(client: Any, silo: Silo) -> None:
    fields = {"search": "q=keeping&deleted=false", "title": "About keeping"}
    kept = client.post("/searches", fields)
    assert (kept.status, kept.headers["Location"]) == (201, "/searches/about-keeping")
    assert (
        client.get("/searches/about-keeping")
        .headers["Location"]
        .startswith("/search?q=keeping&deleted=false")
    )
    assert client.post("/searches", fields).status == 409
    assert client.post("/searches", fields | {"title": "More"}).json["name"] == "more"
    names = [one["name"] for one in client.json("/searches.json")["searches"]]
    assert names == ["about-keeping", "more"]
    assert client.ask("DELETE", "/searches/about-keeping").json == {"deleted": "about-keeping"}
    assert client.get("/searches/about-keeping").status == 404


def test_a_pasted_list_keeps_its_order_and_names_what_is_lacking(client: Any) -> None:
    pasted = f'oai:example.org:101\nnobody "{PLAIN}",\noai+example,org+100 {PLAIN}'
    url = client.post("/searches", {"identifiers": pasted, "title": "Mine"}).headers["Location"]
    answer = client.json(url)
    assert found(answer) == ["oai:example.org:101", PLAIN, "oai:example.org:100"]
    assert answer["missing"] == ["nobody"]
    assert "nobody" in client.get(url).text
    first = client.json(url + "?limit=2")
    assert found(first) == ["oai:example.org:101"]
    assert found(client.json(first["next"])) == [PLAIN, "oai:example.org:100"]


def test_a_pasted_list_is_shown_and_not_saved(client: Any) -> None:
    pasted = f'oai:example.org:101\nnobody "{PLAIN}",\noai+example,org+100 {PLAIN}'
    answer = client.post("/pasted", {"identifiers": pasted})
    assert answer.status == 200
    assert found(answer.json) == ["oai:example.org:101", PLAIN, "oai:example.org:100"]
    assert answer.json["missing"] == ["nobody"]
    assert client.json("/searches")["searches"] == []
    page = client.post("/pasted", {"identifiers": pasted}, accept="text/html").text
    assert "1 identifier has no record in this Silo:" in page
    (kept,) = re.findall(r'name="identifiers" value="([^"]+)"', page)
    saved = client.post("/searches", {"identifiers": unescape(kept), "title": "Mine"})
    assert saved.json["select"]["identifiers"] == answer.json["identifiers"]
    assert 'action="/pasted"' in client.get("/searches").text


def test_a_long_pasted_list_is_shown_in_parts(client: Any) -> None:
    pasted = " ".join(f"oai:example.org:{n}" for n in range(100, 310))
    page = client.post("/pasted", {"identifiers": pasted}, accept="text/html").text
    fields = dict(re.findall(r'name="(identifiers|start)" value="([^"]+)"', page))
    assert fields["start"] == "100"
    last = client.post("/pasted", {**fields, "start": "200"}, accept="text/html").text
    assert 'name="start"' not in last
    answer = client.post("/pasted", {**fields, "start": "200"})
    assert len(answer.json["records"]) + len(answer.json["missing"]) == 10
    for start in ("-1", "x", "211"):
        assert client.post("/pasted", {**fields, "start": start}).status == 400
    assert client.post("/pasted", {"identifiers": " "}).status == 400


def test_what_cannot_be_an_identifier_is_among_the_missing(client: Any) -> None:
    odd = ["x" * 4000, "a\0b"]
    answer = client.post("/pasted", {"identifiers": " ".join([*odd, PLAIN])})
    assert (found(answer.json), answer.json["missing"]) == ([PLAIN], odd)
    for start in ("1", "3"):
        fields = {"identifiers": " ".join([*odd, PLAIN]), "start": start}
        assert client.post("/pasted", fields).json["identifiers"] == [*odd, PLAIN]
    saved = client.post("/searches", {"identifiers": " ".join([*odd, "nobody", PLAIN])})
    assert saved.json["select"]["identifiers"] == ["nobody", PLAIN]


def test_only_the_identifiers_of_a_part_are_looked_up(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    resolve = Silo.resolve
    monkeypatch.setattr(
        Silo, "resolve", lambda silo, text: asked.append(text) or resolve(silo, text)
    )
    pasted = " ".join(f"nobody{n}" for n in range(10_000))
    answer = client.post("/pasted", {"identifiers": pasted, "start": "9000"})
    assert answer.json["missing"] == [f"nobody{n}" for n in range(9000, 9100)]
    assert len(set(asked)) == 100
    refused = client.post("/pasted", {"identifiers": f"{pasted} one-more"})
    assert refused.status == 400
    assert "at most 10,000 identifiers" in refused.error["message"]


@pytest.mark.parametrize("start", ["0", "1"])
def test_two_forms_of_a_record_are_listed_once(client: Any, start: str) -> None:
    pasted = "oai:example.org:101 oai+example,org+100 oai:example.org:100"
    answer = client.post("/pasted", {"identifiers": pasted, "start": start})
    assert answer.json["identifiers"] == ["oai:example.org:101", "oai:example.org:100"]
    assert found(answer.json)[-1:] == ["oai:example.org:100"]


@pytest.mark.long
def test_ten_thousand_identifiers_can_be_pasted(client: Any) -> None:
    pasted = "\n".join(f"oai:example.org:{n}" for n in range(100, 10_100))
    answer = client.post("/searches", {"identifiers": pasted})
    assert answer.status == 201
    assert len(answer.json["select"]["identifiers"]) == 10_000


@pytest.mark.parametrize("fields", [{}, {"title": "x"}, {"search": "q="}, {"search": "colour=red"}])
def test_keeping_nothing_is_refused(client: Any, fields: dict[str, str]) -> None:
    assert client.post("/searches", fields).status == 400


@pytest.mark.parametrize("name", ["..", "nothing", "a%2Fb", "..%2F..%2Frules%2Fx"])
def test_only_kept_searches_have_an_address(client: Any, name: str) -> None:
    assert client.get("/searches/" + name).status == 404


def test_a_search_file_that_means_nothing_is_named_and_hides_no_other(
    client: Any, silo: Silo, tmp_path: Any
) -> None:
    client.post("/searches", {"search": "q=keeping", "title": "good"})
    with open(f"{silo.path}/curation/searches/bad.toml", "w", encoding="utf-8") as file:
        file.write("[select]\ncolour = 'red'\n")
    bad, good = client.json("/searches.json")["searches"]
    assert "colour" in bad["fault"]
    assert good["title"] == "good"
    assert client.get("/searches").status == 200


@pytest.mark.parametrize("asked", ["", "q=record&set=x&since=2004&limit=50", "deleted=true&q=a b"])
def test_a_facets_links_are_those_of_the_search_with_the_value_chosen(asked: str) -> None:
    request = SearchRequest.of(parse_pairs(asked))
    address = request.toggling()
    for name, value in (("set", "x"), ("set", "y & z"), ("deleted", "true"), ("deleted", "false")):
        assert address(name, value) == request.toggled(name, value).url()


@pytest.mark.long
@pytest.mark.parametrize("sort", ["relevance", "newest", "oldest", "identifier", "title"])
def test_a_result_is_walked_to_its_end_and_back(client: Any, sort: str) -> None:
    there, back = [], []
    url = f"/search.json?q=record*&limit=10&sort={sort}"
    while url:
        answer = client.json(url)
        there.append(found(answer))
        url, last = answer["next"], answer
    assert len(there) > 4
    assert sum(map(len, there)) == answer["total"]
    while last["previous"]:
        last = client.json(last["previous"])
        back.append(found(last))
    assert back == there[-2::-1]


def test_the_way_back_is_kept_short(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_request, "WAY_BACK", 200)
    url, longest, pages = "/search.json?q=record*&limit=3", 0, 0
    while url:
        answer = client.json(url)
        url, last = answer["next"], url
        longest, pages = max(longest, len(last)), pages + 1
    assert pages > 10
    assert longest < 450
    steps = 0
    while answer["previous"]:
        last, steps = answer["previous"], steps + 1
        answer = client.json(last)
    assert 0 < steps < pages - 1
    page = client.get(last.replace("/search.json", "/search")).text
    assert ">First page</a>" in page
    assert 'rel="prev"' not in page


def test_a_page_links_to_the_pages_around_it(client: Any) -> None:
    second = client.json("/search.json?q=record*&limit=10")["next"].replace(".json", "")
    page = client.get(second).text
    assert '<a class="step" rel="prev" href="/search?q=record%2A&amp;limit=10">' in page
    third = re.findall(r'rel="next" href="([^"]*)"', page)[0].replace("&amp;", "&")
    assert f'rel="prev" href="{second.replace("&", "&amp;")}"' in client.get(third).text


def test_another_filter_begins_at_the_first_page(client: Any) -> None:
    request = SearchRequest(q="record*", after="[1]", back=("first", "[0]"))
    assert request.previous_url == "/search?q=record%2A&after=%5B0%5D&back=first"
    for other in (request.toggled("year", "2003"), request.without(("q", ""))):
        assert (other.after, other.back) == ("", ())


def test_values_are_excluded_and_ranges_chosen_in_the_address(client: Any) -> None:
    everything = client.json("/search.json")["total"]
    in_2003 = client.json("/search.json?year=2003")["total"]
    assert 0 < in_2003 < everything
    assert client.json("/search.json?year!=2003")["total"] == everything - in_2003
    assert client.json("/search.json?year=2002..2003&year!=2002")["total"] == in_2003
    assert client.get("/search?year=2003..2001").status == 400
    for path in ("/search", "/search.json", "/search/results.csv"):
        answer = client.get(f"{path}?tyep=thesis", accept="application/json")
        assert answer.status == 400
        assert "no filter tyep; did you mean type" in answer.error["message"]
    assert "no filter zzz; choose from set, " in client.get("/search.json?zzz=1").error["message"]
    ignored = client.get("/search.json?utm_source=mail&fbclid=x&utm_id=1")
    assert ignored.json["filters"] == {}
    assert client.get("/search?deleted!=true").status == 400


@pytest.mark.parametrize(
    "number", ["0" * 8 + "1" + "0" * 5000, "1" * 5000, "000000019999999", "%C2%B2"]
)
def test_numbers_that_are_too_long_are_refused_in_a_sentence(client: Any, number: str) -> None:
    urls = [f"/search?limit={number}", f"/clusters?distance={number}", f"/clusters?start={number}"]
    for url in (*urls, f"/records.json?limit={number}"):
        assert client.get(url).status == 400, url[:40]
    # A range beyond all years, and a search that is no longer valid behind a record's address.
    is_number = number.isdigit()
    assert client.get(f"/search?year={number}").status == (200 if is_number else 400)
    assert client.get(f"/records/oai+example,org+1?from=limit={number}").status == 200


def test_a_range_of_years_beyond_all_numbers_finds_nothing(client: Any) -> None:
    assert client.json(f"/search.json?year_from={'1' * 4500}")["total"] == 0
    assert client.get(f"/search?year_from={'1' * 4500}").status == 200


@pytest.mark.parametrize("number", ["0000009999999999999", "000000" + "1" * 5000])
def test_a_form_with_an_immense_number_of_rows_is_refused_at_once(number: str) -> None:
    with pytest.raises(BadRequest):
        RuleForm.of({"changes": number})
    with pytest.raises(BadRequest):
        EditForm.of({"values": number})
    place = {"values": "1", "name-0": "title", "text-0": "A", "place-0": "1" * 5000}
    assert EditForm.of(place) is not None


def test_saving_a_search_says_so_once(client: Any) -> None:
    asked = {"search": "q=keeping", "title": "About keeping"}
    saved = client.post("/searches", asked, accept="text/html").headers["Location"]
    shown = client.get(saved, accept="text/html").headers["Location"]
    assert "Search saved." in client.get(shown, accept="text/html").text
    again = client.get("/searches/about-keeping", accept="text/html").headers["Location"]
    assert "Search saved." not in client.get(again, accept="text/html").text
    again = client.post("/searches", asked | {"replace": "yes"}).headers["Location"]
    assert again == "/searches/about-keeping"


def test_a_period_that_ends_before_it_begins_is_told(client: Any) -> None:
    page = client.get("/search?since=2017-01-02&until=2017-01-01", accept="text/html").text
    assert "The period ends (2017-01-01) before it begins (2017-01-02)." in page
