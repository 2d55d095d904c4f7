"""Searches: the words, the filters, and the place in the result, as an address has them."""

import os
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from random import Random
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode, urlsplit

from fuzzing.mutators import changed_json
from fuzzing.target import Target

from fuzz_targets.rules import DC
from recordsilo import Silo
from recordsilo.errors import SearchError
from recordsilo.index import PageRequest
from webui.http.errors import BadRequest
from webui.search.request import SearchRequest

_CURSOR = re.compile(rb"(?<=after=)[^&]*")
_NAMES = ("newest", "oldest", "identifier", "title", "relevance", "oai:x:1", "\ud800", "\0")


class Queries(Target):
    promise = (
        "Any text is a query, any other field a search or a refusal; no record is found twice, "
        "and the address of a search is that search again."
    )
    words = (
        b"q=", b"&", b"=", b"+", b"%22", b"%2A", b"*", b'"', b"-", b"OR", b"+OR+", b"AND", b"NOT",
        b"NEAR(", b"(", b")", b"title:", b"creator:", b"^", b"{", b"}", b"sort=", b"newest",
        b"identifier", b"relevance", b"after=", b"back=first", b"%5B1%2C2%5D", b"%5B%5D", b"null",
        b"open=subject", b"since=2004", b"until=9999-12-31", b"limit=1", b"deleted=false",
        b"type=Article", b"year=2004", b"set=a", b"%00", b"%ED%A0%80", b"%FF", b"%F0%9F%98%80",
        b"tides", b"physics", b"%E4%B8%AD", b"%CC%81",
    )  # fmt: skip
    largest = 8_192

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        self._silo = Silo(os.path.join(scratch, "silo"))
        for number in range(12):
            record = self._silo.get_item(f"oai:x:{number}")
            record.put_stream("oai_dc", DC.replace(b"Physics", b"n%d" % number), "1", True)
        self._silo.search("tides")

    def close(self) -> None:
        self._silo.close()

    def seeds(self) -> Iterable[bytes]:
        cursors = []
        for sort in ("newest", "oldest", "identifier", "title", "relevance"):
            following = self._silo.search("tides", page=PageRequest(3, None, sort)).next_page
            cursors.append(urlencode({"q": "tides", "sort": sort, "after": following}).encode())
        return [
            *cursors,
            b"q=tides", b"q=%22the+tides%22+-physics+OR+title%3Atid*&sort=newest&limit=2",
            b"q=&type=Article&deleted=false&since=2004&until=2030-12-31&sort=identifier",
            b"q=tides&open=subject&open=creator&limit=1000&back=first",
            b"sort=title&limit=3&after=%5B%22a%22%2C1%5D", b"sort=oldest&limit=5",
        ]  # fmt: skip

    def mutated(self, random: Random, pool: Sequence[bytes]) -> bytes:
        data = super().mutated(random, pool)
        found = _CURSOR.search(data)
        if found is None or random.random() < 0.5:
            return data
        cursor = changed_json(random, unquote_to_bytes(found[0].replace(b"+", b" ")), _NAMES)
        return data[: found.start()] + quote(cursor).encode() + data[found.end() :]

    def check(self, data: bytes) -> Hashable:
        text = data.decode("latin-1")
        try:
            request = SearchRequest.of(parse_qsl(text, keep_blank_values=True))
        except BadRequest as error:
            return "address", str(error)[:25]
        if not request.after:
            request = replace(request, back=())  # which the first page has no use for
        own = urlsplit(request.own_url).query
        assert SearchRequest.of(parse_qsl(own, keep_blank_values=True)) == request
        try:
            found = self._silo.search(request.q, request.filters, request.facets, request.page)
        except SearchError as error:
            return "search", str(error)[:25]
        ids = [row.identifier for row in found.rows]
        assert len(ids) == len(set(ids)) <= min(found.total, 12)
        again = self._next(request, found.next_page, set(ids))
        return len(ids), found.sort, again

    def _next(self, request: SearchRequest, after: str | None, seen: set[str]) -> int | None:
        """Follow the search to its next page."""
        if after is None:
            return None
        following = urlsplit(request.following_url(after)).query
        page = SearchRequest.of(parse_qsl(following, keep_blank_values=True))
        found = self._silo.search(page.q, page.filters, (), page.page)
        assert not seen & {row.identifier for row in found.rows}
        return len(found.rows)
