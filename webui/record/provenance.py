"""Where a harvested version came from: the harvest, and the response that held the record.

Responses are looked for in the WARC files of the harvest in the order they came, up to
the moment the version was stored, and for some seconds at most.

Cost: unpacks those responses; about 50 MB of them a second.
"""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from oaipmhprotocol.queries import query_string
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.harvests.past_harvests import PastHarvest, harvests_of
from oaipmhscraper.warc.reading import Recorded, read_warc
from recordsilo.formats.documents import new_parser
from recordsilo.records.manifest import Origin

SECONDS = 5.0
"""How long responses are looked at."""
_SLACK = 5.0
"""Seconds by which clocks and rounding may differ."""


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """The response that held a record.

    Attributes:
        where: File and place of it in the file.
        asked: The query of the request.
        element: The record as it stood in it, indented; empty where the response
            cannot be read as XML.
    """

    where: str
    asked: str
    status: int
    received: str
    size: int
    element: str


@dataclass(frozen=True, slots=True)
class VersionSource:
    """What is known of where a version came from.

    Attributes:
        harvest: The one that stored it; None where no receipt tells of it.
        response: None where it was not found; `is_cut` says whether all were looked at.
    """

    harvest: PastHarvest | None
    response: RecordedResponse | None
    is_cut: bool = False


def source_of(
    silo_path: str, identifier: str, origin: Origin, prefix: str = "", prefix_uri: str = ""
) -> VersionSource:
    """Find the harvest and the response a harvested version came from.

    Args:
        origin: The version's; its date is when it was stored.
        prefix: The metadata format wanted; empty: any.
        prefix_uri: What stored identifiers have in front of those on the wire.

    Raises:
        JournalUnreadable: The journal of open harvests is damaged.
    """
    stored = _moment(origin.date)
    if stored is None:
        return VersionSource(None, None)
    harvest = _harvest(silo_path, stored)
    if harvest is None:
        return VersionSource(None, None)
    names = {identifier, identifier.removeprefix(prefix_uri)}
    until = time.monotonic() + SECONDS
    try:
        for found in _responses(silo_path, harvest, prefix):
            if time.monotonic() > until:
                return VersionSource(harvest, None, is_cut=True)
            if name := _held(found.answer.body, names):
                return VersionSource(harvest, _response(found, name))
    except ScraperError:
        return VersionSource(harvest, None)
    return VersionSource(harvest, None)


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _harvest(silo_path: str, stored: datetime) -> PastHarvest | None:
    """The last harvest that ran at a moment."""
    found = None
    for one in harvests_of(silo_path):
        began = _moment(str(one.receipt.get("started", "")))
        ended = _moment(str(one.receipt.get("ended", "")))
        if (
            began is not None
            and (stored - began).total_seconds() >= -_SLACK
            and (ended is None or (stored - ended).total_seconds() <= _SLACK)
        ):
            found = one
    return found


def _responses(silo_path: str, harvest: PastHarvest, prefix: str) -> Iterator[Recorded]:
    for name in harvest.files:
        for found in read_warc(os.path.join(silo_path, "harvests", name)):
            if isinstance(found, Recorded) and (
                not prefix or found.metadata_prefix in {"", prefix}
            ):
                yield found


def _held(body: bytes, names: set[str]) -> str:
    """Which of the names stands in a header of the response; ``""`` for none."""
    for name in names:
        written = escape(name).encode()
        if written in body and re.search(rb"identifier>\s*" + re.escape(written) + rb"\s*<", body):
            return name
    return ""


def _response(found: Recorded, name: str) -> RecordedResponse:
    answer = found.answer
    return RecordedResponse(
        where=found.where,
        asked=query_string(found.params),
        status=answer.status,
        received=answer.received.isoformat() if answer.received else "",
        size=len(answer.body),
        element=_element(answer.body, name),
    )


def _element(body: bytes, name: str) -> str:
    try:
        root = etree.fromstring(body, new_parser(remove_blank_text=True))
    except (etree.XMLSyntaxError, ValueError):
        return ""
    for header in root.iter("{*}header"):
        record = header.getparent()
        if record is not None and (header.findtext("{*}identifier") or "").strip() == name:
            return str(etree.tostring(record, encoding="unicode", pretty_print=True))
    return ""


def source_json(found: VersionSource) -> dict[str, Any]:
    """The source for programs."""
    harvest, response = found.harvest, found.response
    return {
        "harvest": harvest
        and {
            "id": harvest.id,
            "state": harvest.state,
            "base_url": harvest.receipt.get("base_url"),
            "started": harvest.receipt.get("started"),
            "ended": harvest.receipt.get("ended"),
            "files": list(harvest.files),
        },
        "response": response
        and {
            "where": response.where,
            "request": response.asked,
            "status": response.status,
            "received": response.received,
            "size": response.size,
            "record": response.element,
        },
        "complete": not found.is_cut,
    }
