"""Answers of several nodes: merged into what one directory would answer, and never believed."""

import contextlib
import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from many_silos import RECORDS, granary_of

from recordsilo.errors import SearchError
from recordsilo.index import SearchFilters
from silofleet.search import nodes as module
from silofleet.search.errors import TokenRefused
from silofleet.search.everywhere import Everywhere
from silofleet.search.feeding import feed
from silofleet.search.nodes import NodeFailed, OtherNodes, answer_of, fields_of, merged
from silofleet.search.tokens import keep_token, make_token, token_for
from silofleet.search.values import AllSearch, SearchAnswer
from webui.http.messages import parse_pairs


def works(answer: SearchAnswer) -> set[frozenset[str]]:
    return {
        frozenset((hit.place.identifier, *(one.identifier for one in hit.also)))
        for hit in answer.hits
    }


@pytest.mark.long
@pytest.mark.parametrize("fed", [(), (0,), (0, 1)], ids=["asked", "one by index", "by index"])
def test_nodes_together_answer_as_one_directory_does(tmp_path: Path, fed: tuple[int, ...]) -> None:
    whole = granary_of(tmp_path / "whole")
    parts = [
        granary_of(tmp_path / "one", {"ash": RECORDS["ash"]}),
        granary_of(tmp_path / "two", {name: RECORDS[name] for name in ("birch", "cedar")}),
    ]
    for number in fed:
        feed(parts[number])
    for words in ("", "solar", "wind -cells", "creator:brown"):
        for sort in ("relevance", "oldest"):
            search = AllSearch(words, SearchFilters(values={"year!": ["1999"]}), sort)
            answers = []
            for number, part in enumerate(parts):
                body = json.dumps(Everywhere(part).search(search).as_json()).encode()
                answers.append(answer_of(body, f"n{number}", search))
            found, wanted = merged(answers, (), search), Everywhere(whole).search(search)
            assert works(found) == works(wanted)
            assert (found.total, found.facets) == (wanted.total, wanted.facets)
            if sort == "oldest" or not words:
                assert [h.place.identifier for h in found.hits] == [
                    h.place.identifier for h in wanted.hits
                ]


def test_a_search_is_the_same_in_an_address() -> None:
    filters = SearchFilters({"deleted": False}, {"type!": ["A & B"], "year": ["1..2"]}, "2020")
    pairs = parse_pairs(module.urlencode(fields_of(AllSearch('a "b c"', filters, offset=50))))
    assert ("q", 'a "b c"') in pairs
    assert ("type!", "A & B") in pairs
    assert {("deleted", "false"), ("since", "2020"), ("limit", "75"), ("here", "yes")} < {*pairs}


GOOD: Mapping[str, Any] = {
    "total": 1, "has_more": False, "sort": "relevance", "silos": 1, "by_index": True,
    "hits": [{
        "repository": "ash", "identifier": "a1", "title": "T", "creators": ["C"], "year": None,
        "types": [], "doi": None, "datestamp": "", "deleted": False, "score": 1.5, "also_in": [],
    }],
    "facets": {"year": [{"value": "2001", "count": 1}]},
    "did_not_answer": [{"name": "oak", "why": "broken"}],
}  # fmt: skip
SEARCH = AllSearch("t", facets=("year",), limit=2)


def bad(**changed: Any) -> bytes:
    return json.dumps({**GOOD, **changed}).encode()


def bad_hit(**changed: Any) -> bytes:
    return bad(hits=[{**GOOD["hits"][0], **changed}])


def test_a_good_answer_is_read_under_the_name_of_the_node() -> None:
    found = answer_of(bad_hit(node="a lie"), "n7", SEARCH)
    assert found.hits[0].place.node == "n7"
    assert found.missing[0].name == "oak on node n7"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\xff", b"[]", b"null", b"[" * 100_000, b'{"hits": []}',
        bad(total=-1), bad(total="1"), bad(total=True), bad(total=1 << 60), bad(hits={}),
        bad(hits=GOOD["hits"] * 3), bad(facets={}), bad(did_not_answer=[{}]),
        bad(facets={"year": [{"value": 1, "count": 1}]}), bad_hit(score=10**400),
        bad_hit(title=None), bad_hit(title="x" * 100_000), bad_hit(score="1e999"),
        bad_hit(score=True), bad_hit(creators="Chen"), bad_hit(repository="../x"),
        bad_hit(repository=""), bad_hit(identifier=""), bad_hit(also_in=[{"repository": "ash"}]),
        bad_hit(score=float("nan")), bad_hit(score=float("inf")),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_not_believed(body: bytes) -> None:
    with pytest.raises(NodeFailed):
        answer_of(body, "n1", SEARCH)


def test_a_node_without_an_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    granary = granary_of(tmp_path / "many")
    (tmp_path / "many/fleet").mkdir()
    (tmp_path / "many/fleet/endpoints.toml").write_text(
        '[nodes.near]\nsearch = "http://near/"\n[nodes.far]\nsearch = "http://127.0.0.1:9/"\n'
        '[nodes.files]\nsearch = "file:///etc/passwd"\n[nodes.silent]\n'
    )
    real = OtherNodes._answer

    def answer(self: OtherNodes, name: str, address: str, search: AllSearch) -> SearchAnswer:
        if name == "near":
            return answer_of(bad(facets={f: [] for f in search.facets}), name, search)
        return real(self, name, address, search)

    monkeypatch.setattr(OtherNodes, "_answer", answer)
    found = Everywhere(granary).search(AllSearch("solar"))
    assert (found.total, found.asked) == (8, 4)
    assert [one.name for one in found.missing] == ["oak on node near", "node far", "node files"]
    assert "neither http nor https" in found.missing[2].why
    assert "refused" in found.missing[1].why


@pytest.mark.parametrize(
    ("address", "is_sent"),
    [
        ("https://n2.example.org/", True), ("http://127.0.0.1:81/", True), ("http://[::1]/", True),
        ("http://localhost:81/", True), ("http://n2.example.org/", False),
        ("http://127.0.0.1.example.org/", False), ("http://127.0.0.1@example.org/", False),
        ("http://[::1", False),
    ],
)  # fmt: skip
def test_a_token_is_not_sent_where_others_could_read_it(
    tmp_path: Path, address: str, is_sent: bool
) -> None:
    assert token_for(str(tmp_path), "n2", address) == ""
    token = make_token(str(tmp_path / "n2"))
    keep_token(str(tmp_path), "n2", token)
    if is_sent:
        assert token_for(str(tmp_path), "n2", address) == token
    else:
        with pytest.raises(TokenRefused, match="https only"):
            token_for(str(tmp_path), "n2", address)


def test_what_is_no_token_is_not_kept(tmp_path: Path) -> None:
    for node, token in (("n2", ""), ("n2", "a b" * 20), ("../n2", "x" * 43), ("", "x" * 43)):
        with pytest.raises(TokenRefused):
            keep_token(str(tmp_path), node, token)
    assert not list(tmp_path.rglob("*"))


def test_a_search_that_a_node_refuses_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> SearchAnswer:
        raise SearchError(module._refusal(b'{"error": {"message": "No such thing."}}'))

    monkeypatch.setattr(OtherNodes, "_answer", refuse)
    monkeypatch.setattr(OtherNodes, "addresses", lambda _self: {"n1": "http://n1/"})
    with pytest.raises(SearchError, match="No such thing"):
        Everywhere(granary_of(tmp_path)).search(AllSearch("solar"))


class Misbehaving(BaseHTTPRequestHandler):
    """Answers by the first part of the path: slowly, too much, elsewhere, or with an error."""

    def do_GET(self) -> None:
        how = self.path.split("/")[1]
        self.send_response({"elsewhere": 302, "error": 500}.get(how, 200))
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range({"slow": 100, "much": module.MAX_BYTES >> 15}.get(how, 0)):
                self.wfile.write(b" " * (1 << 16 if how == "much" else 1))
                time.sleep(0.1 if how == "slow" else 0)

    def log_message(self, *_given: object) -> None:
        """Nothing."""


@pytest.mark.long
def test_nodes_that_misbehave_are_named_and_do_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(module, "PATIENCE", 5.0)
    granary = granary_of(tmp_path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    ways = ("slow", "much", "elsewhere", "error")
    monkeypatch.setattr(
        OtherNodes, "addresses", lambda _self: {way: f"{address}/{way}" for way in ways}
    )
    found = Everywhere(granary).search(AllSearch("solar"))
    server.shutdown()
    server.server_close()
    assert found.total == 7
    why = {one.name.removeprefix("node "): one.why for one in found.missing}
    assert why.pop("slow") in {"no answer in 5 s", "the server kept silent too long"}
    assert why == {
        "much": "its answer is longer than 1 MiB",
        "elsewhere": "it answers with status 302",
        "error": "it answers with status 500",
    }
