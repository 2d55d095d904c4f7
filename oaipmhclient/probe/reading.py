"""Read an exchange of a probe, first strictly, then like the harvester (pure).

Source: OAI-PMH 2.0, sections 3.2 and 3.6.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.mending.repair import (
    read_headers_mended,
    read_mended,
    read_record_mended,
    read_records_mended,
)
from oaipmhclient.pages.requests_and_pages import (
    ListPage,
    read_identify,
    read_metadata_formats,
    read_sets,
)
from oaipmhclient.pages.xml_pages import elements_of, parse_page, text_of
from oaipmhclient.probe.values import ProbeExchange
from oaipmhprotocol import Identify, OAIError, Verb, error_for_code
from oaipmhprotocol.words import Argument
from politeweb.answers import Answer


@dataclass(frozen=True, slots=True)
class _Contents:
    page: ListPage[Any] | None = None
    identify: Identify | None = None
    errors: tuple[OAIError, ...] = ()
    repairs: tuple[str, ...] = ()


def read_asked(
    role: str, params: Mapping[str, str], url: str, answer: Answer, seconds: float
) -> ProbeExchange:
    """Return the content of a response, and what a strict reader finds wrong."""
    root, unreadable = _strictly(answer.body)
    try:
        found = _contents(params.get(Argument.VERB.value, ""), answer.body)
    except PageUnreadable as error:
        found = _Contents()
        unreadable = unreadable or error.reason
    return ProbeExchange(
        role, params, url, answer, "", answer.status, seconds, root, unreadable,
        found.repairs, found.errors, found.page, found.identify,
    )  # fmt: skip


def _strictly(body: bytes) -> tuple[etree._Element | None, str]:
    """Return the root element, or why there is none."""
    try:
        root = parse_page(body)
    except PageUnreadable as error:
        return None, error.reason
    text = body.removeprefix(b"\xef\xbb\xbf")
    if text[:1].isspace() and text.lstrip().startswith(b"<?xml"):
        return None, "has white space before its XML declaration"
    return root, ""


def _contents(verb: str, body: bytes) -> _Contents:
    if verb == Verb.IDENTIFY:
        try:
            identify, repairs = read_mended(body, read_identify)
        except OAIError:
            return _errors(body)
        return _Contents(identify=identify, repairs=tuple(repairs))
    if verb in _WHOLE:
        listed, needed = read_mended(body, _WHOLE[verb])
        return _Contents(listed, errors=listed.errors, repairs=tuple(needed))
    if verb in _BY_RECORD:
        page = _BY_RECORD[verb](body)
        return _Contents(page, errors=page.errors, repairs=tuple(page.repairs))
    return _errors(body)


_WHOLE: dict[str, Callable[[bytes], ListPage[Any]]] = {
    Verb.LIST_METADATA_FORMATS: read_metadata_formats,
    Verb.LIST_SETS: read_sets,
}
_BY_RECORD: dict[str, Callable[[bytes], ListPage[Any]]] = {
    Verb.LIST_IDENTIFIERS: read_headers_mended,
    Verb.LIST_RECORDS: read_records_mended,
    Verb.GET_RECORD: read_record_mended,
}


def _errors(body: bytes) -> _Contents:
    """Return the error conditions of a response that has no verb."""
    root, repairs = read_mended(body, parse_page)
    errors = tuple(
        error_for_code(child.get("code", ""), text_of(child))
        for child in elements_of(root)
        if child.tag.rpartition("}")[2] == "error"
    )
    return _Contents(errors=errors, repairs=tuple(repairs))
