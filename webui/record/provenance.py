"""The origin of a harvested version: the harvest, and the response with the record.

The WARC files of the harvest are searched in order, up to the time when the version was
stored, and for some seconds at most. Files in an object store are not fetched.

Cost: unpacks those responses, about 50 MB per second.
"""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from oaipmhprotocol.queries import query_string
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.harvests.past_harvests import PastHarvest, harvests_of
from oaipmhscraper.warc.reading import StoredResponse, read_warc
from recordsilo.formats.documents import new_parser
from recordsilo.records.description import moment_of
from recordsilo.records.manifest import Origin

SECONDS = 5.0
"""Maximum seconds for reading responses."""
_SLACK = 5.0
"""Tolerance in seconds for clocks and rounding."""


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """The response with a record.

    Attributes:
        where: The file, and the position in it.
        asked: The query of the request.
        element: The record in the response, indented; empty if the response is not
            well-formed XML.
    """

    where: str
    asked: str
    status: int
    received: str
    size: int
    element: str


@dataclass(frozen=True, slots=True)
class VersionSource:
    """The origin of a version, as far as it is known.

    Attributes:
        harvest: The harvest that stored it; None if no receipt mentions it.
        response: None if it was not found; `is_cut` says that not all were read.
    """

    harvest: PastHarvest | None
    response: RecordedResponse | None
    is_cut: bool = False


def source_of(
    silo_path: str, identifier: str, origin: Origin, prefix: str = "", prefix_uri: str = ""
) -> VersionSource:
    """Find the harvest and the response of a harvested version.

    Args:
        origin: The version's origin; its date is the time when it was stored.
        prefix: The metadata format to find; empty: any.
        prefix_uri: The prefix of stored identifiers before those of the repository.

    Raises:
        JournalUnreadable: The journal of open harvests is damaged.
        ElsewhereUnreadable: The list of WARC files in an object store is.
    """
    stored = moment_of(origin.date)
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


def _harvest(silo_path: str, stored: datetime) -> PastHarvest | None:
    """The last harvest that ran at a time."""
    found = None
    for one in harvests_of(silo_path):
        began = moment_of(str(one.receipt.get("started", "")))
        ended = moment_of(str(one.receipt.get("ended", "")))
        if (
            began is not None
            and (stored - began).total_seconds() >= -_SLACK
            and (ended is None or (stored - ended).total_seconds() <= _SLACK)
        ):
            found = one
    return found


def _responses(silo_path: str, harvest: PastHarvest, prefix: str) -> Iterator[StoredResponse]:
    away = {one.file for one in harvest.elsewhere}
    for name in harvest.files:
        if name in away:
            continue
        for found in read_warc(os.path.join(silo_path, "harvests", name)):
            if isinstance(found, StoredResponse) and (
                not prefix or found.metadata_prefix in {"", prefix}
            ):
                yield found


def _held(body: bytes, names: set[str]) -> str:
    """The first of the names that is in a header of the response; ``""`` if none is."""
    for name in names:
        written = escape(name).encode()
        if written in body and re.search(rb"identifier>\s*" + re.escape(written) + rb"\s*<", body):
            return name
    return ""


def _response(found: StoredResponse, name: str) -> RecordedResponse:
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
            "elsewhere": {one.file: one.url for one in harvest.elsewhere},
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
