"""The same search on other nodes: their answers over HTTP, checked, merged with one's own.

The addresses are in ``fleet/endpoints.toml``: ``[nodes.NAME]`` with ``search``, the address of the
node's page of Silos. A page that requires sign-in gets the node's token, which goes to no other
address (`silofleet.search.tokens`). Nothing in an answer is believed unchecked: neither size nor
time, neither kinds of values nor numbers.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from politeweb.exchange import Exchanges
from politeweb.settings import HttpSettings
from recordsilo.disk.identifier import url_segment
from recordsilo.disk.names import check_version_name
from recordsilo.errors import SearchError
from recordsilo.index import FacetValue
from recordsilo.index.search_values import DATES
from silofleet.search.errors import TokenRefused
from silofleet.search.folding import folded
from silofleet.search.tokens import SCHEME, token_for
from silofleet.search.values import AllSearch, HitPlace, Missing, SearchAnswer, SearchHit, summed
from silofleet.wishes import load_wishes, wishes_path

PATIENCE = 2.0
"""Seconds that a search waits for other nodes."""
MAX_BYTES = 8 << 20
HERE = "here"
"""The field of an address that asks a node for its own Silos only."""
VALUES_OF_NODES = 200
"""Values of a facet that a node is asked for, so that the sums of the first ones are right."""
_MOST_TEXT = 20_000
_MOST_VALUES = 5_000


class NodeFailed(Exception):
    """A node did not give an answer that can be used."""


@dataclass(frozen=True, slots=True)
class PendingAnswers:
    """Nodes that are being asked.

    Attributes:
        answers: Node → what it will have answered.
    """

    answers: Mapping[str, "Future[SearchAnswer]"]
    pool: ThreadPoolExecutor


class OtherNodes:
    """The other nodes of a fleet.

    Args:
        directory: Of the fleet.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._known: tuple[object, dict[str, str]] = (None, {})
        limits = HttpSettings(
            connect_timeout=PATIENCE, read_timeout=PATIENCE, total_timeout=PATIENCE
        )
        self._exchanges = Exchanges(limits, has_proxies=False)  # which are for repositories

    def addresses(self) -> Mapping[str, str]:
        """Node → the address of its page, of those that have one.

        Raises:
            WishesInvalid: The file cannot be read.
        """
        try:
            found = os.stat(wishes_path(self._directory))
        except OSError:
            return {}
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._known[0] != stamp:
            nodes = load_wishes(self._directory).nodes
            self._known = stamp, {n: one["search"] for n, one in nodes.items() if "search" in one}
        return self._known[1]

    def ask(self, addresses: Mapping[str, str], search: AllSearch) -> PendingAnswers:
        """Begin to ask every node; `answered` waits for them."""
        pool = ThreadPoolExecutor(max(1, len(addresses)), "nodes")
        answers = {
            name: pool.submit(self._answer, name, address, search)
            for name, address in addresses.items()
        }
        return PendingAnswers(answers, pool)

    def _answer(self, name: str, address: str, search: AllSearch) -> SearchAnswer:
        url = f"{address.rstrip('/')}/search.json?{urlencode(fields_of(search))}"
        if not url.startswith(("http://", "https://")):
            raise NodeFailed(f"its address {address!r} is neither http nor https")
        try:
            token = token_for(self._directory, name, address)
        except TokenRefused as error:
            raise NodeFailed(str(error)) from error
        answer = self._exchanges.open(
            url,
            {"Accept": "application/json", "Accept-Encoding": "identity"},
            secrets={"Authorization": SCHEME + token} if token else {},
        )
        body = b"".join(answer.pieces(MAX_BYTES))
        if answer.truncated == "length":
            raise NodeFailed(f"its answer is longer than {MAX_BYTES >> 20} MiB")
        if answer.head is None or answer.truncated:
            raise NodeFailed(answer.reason)
        status = answer.head.status
        if status == 400:
            raise SearchError(_refusal(body))
        if status == 401:
            raise NodeFailed(
                "it does not accept the token that is kept for it"
                if token
                else f"it asks for sign-in; store its token: silo fleet token DIR --of {name}"
            )
        if status != 200:
            raise NodeFailed(f"it answers with status {status}")
        return answer_of(body, name, search)


def answered(asked: PendingAnswers, search: AllSearch, own: SearchAnswer) -> SearchAnswer:
    """Merge what the nodes answer in `PATIENCE` seconds with one's own answer.

    Args:
        asked: From `OtherNodes.ask`.
        own: The answer from here, from the first hit on.

    Raises:
        SearchError: A node refuses the search.
    """
    wait(asked.answers.values(), PATIENCE)
    asked.pool.shutdown(wait=False, cancel_futures=True)
    found, missing = [own], []
    for name, answer in asked.answers.items():
        try:
            if not answer.done():
                raise NodeFailed(f"no answer in {PATIENCE:g} s")
            found.append(answer.result())
        except NodeFailed as error:
            missing.append(Missing(f"node {name}", str(error)))
    return merged(found, missing, search)


def merged(
    answers: Sequence[SearchAnswer], missing: Iterable[Missing], search: AllSearch
) -> SearchAnswer:
    """Several answers as one: hits by score, works once over all, counts added up.

    Scores of nodes with an index can be compared; if one has none, the best hits of all come
    first, then the second best.
    """
    if search.order == "relevance" and not all(one.by_index for one in answers if one.hits):
        answers = [
            replace(one, hits=tuple(replace(h, score=1 / n) for n, h in enumerate(one.hits, 1)))
            for one in answers
        ]
    hits = sorted((hit for one in answers for hit in one.hits), key=lambda hit: -hit.score)
    works = folded(hits)
    return SearchAnswer(
        hits=tuple(works[search.offset : search.end]),
        total=sum(one.total for one in answers),
        has_more=len(works) > search.end or any(one.has_more for one in answers),
        sort=search.order,
        facets=summed([one.facets for one in answers], search.facets, search.facet_limit),
        asked=sum(one.asked for one in answers),
        by_index=all(one.by_index for one in answers if one.asked),
        missing=(*(gone for one in answers for gone in one.missing), *missing),
    )


def fields_of(search: AllSearch) -> list[tuple[str, str]]:
    """A search as the fields of the address of a node's page."""
    filters = search.filters
    found = [("q", search.words), ("sort", search.sort), (HERE, "yes")]
    found += [("limit", str(search.end))]
    found += [(name, str(wanted).lower()) for name, wanted in filters.flags.items()]
    found += [(key, value) for key, values in filters.values.items() for value in values]
    found += [(name, getattr(filters, name) or "") for name in DATES]
    found += [("facet", name) for name in search.facets]
    return [(name, value) for name, value in found if value]


# -- what nodes say, checked -----------------------------------------------------------------


def answer_of(body: bytes, node: str, search: AllSearch) -> SearchAnswer:
    """The answer in the JSON of a node.

    Args:
        body: As it was received.
        node: Its name; whatever it says itself is ignored.
        search: What it was asked.

    Raises:
        NodeFailed: It is not what a node answers.
    """
    try:
        found = json.loads(body)
        hits = [_hit(one, node) for one in _list(found["hits"], search.end)]
        return SearchAnswer(
            hits=tuple(hits),
            total=_number(found["total"]),
            has_more=found["has_more"] is True,
            sort=search.order,
            facets={
                name: tuple(_counted(one) for one in _list(found["facets"][name], _MOST_VALUES))
                for name in search.facets
            },
            asked=_number(found["silos"]),
            by_index=found["by_index"] is True,
            missing=tuple(
                Missing(f"{_text(one['name'])} on node {node}", _text(one["why"]))
                for one in _list(found["did_not_answer"], _MOST_VALUES)
            ),
        )
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise NodeFailed("its answer is not that of a search over all Silos") from error


def _hit(found: Any, node: str) -> SearchHit:
    score = found["score"]
    if type(score) not in (int, float) or not math.isfinite(score):
        raise ValueError(score)
    return SearchHit(
        _place(found, node),
        _text(found["title"]),
        tuple(_text(one) for one in _list(found["creators"], _MOST_VALUES)),
        _text(found["year"] or ""),
        tuple(_text(one) for one in _list(found["types"], _MOST_VALUES)),
        _text(found["doi"] or ""),
        _text(found["datestamp"]),
        found["deleted"] is True,
        float(score),
        tuple(_place(one, node) for one in _list(found["also_in"], _MOST_VALUES)),
    )


def _place(found: Any, node: str) -> HitPlace:
    silo, identifier = _text(found["repository"]), _text(found["identifier"])
    if not url_segment(identifier):
        raise ValueError(identifier)
    return HitPlace(check_version_name(silo), identifier, node)


def _counted(found: Any) -> FacetValue:
    return FacetValue(_text(found["value"]), _number(found["count"]))


def _text(found: Any) -> str:
    if not isinstance(found, str) or len(found) > _MOST_TEXT:
        raise ValueError(found)
    return found.encode("utf-8", "replace").decode()


def _number(found: Any) -> int:
    if type(found) is not int or not 0 <= found < 1 << 53:
        raise ValueError(found)
    return found


def _list(found: Any, most: int) -> list[Any]:
    if not isinstance(found, list) or len(found) > most:
        raise ValueError(found)
    return found


def _refusal(body: bytes) -> str:
    """The sentence with which a node refuses a search."""
    try:
        return _text(json.loads(body)["error"]["message"]).rstrip(".")[:500]
    except (ValueError, TypeError, LookupError, RecursionError):
        return "a node refuses the search"
