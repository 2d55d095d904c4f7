"""Read responses strictly, and repair them only if that fails (pure).

    as sent ─▶ without bytes before and after ─▶ record by record ─▶ each mended
                                                                        └▶ or set aside

A well-formed page is never changed. In any other page, well-formed records are read as they are,
records that can be repaired are repaired and marked, and the rest are set aside with their bytes,
without affecting their neighbours.

Source: OAI-PMH 2.0, sections 3.2 and 3.5; XML 1.0, section 2.1, "Well-Formed XML Documents".
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from oaipmhclient.errors import OtherAnswer, PageOverfull, PageUnreadable
from oaipmhclient.mending.encodings import without_wrong_declaration
from oaipmhclient.mending.repairs import Repair, Repairs, plain
from oaipmhclient.pages.requests_and_pages import (
    ListPage,
    read_headers,
    read_record_page,
    read_records,
    read_records_with_roots,
)
from oaipmhprotocol import Header, Record, Verb

Item = TypeVar("Item")
Value = TypeVar("Value")

_BLANK_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?\s")


def read_records_mended(body: bytes) -> ListPage[Record]:
    """Read a response to ``ListRecords``, and repair it if a parser refuses it.

    Returns:
        The result of `read_records` for a well-formed page. For any other, the readable
        records in the order sent; ``repairs`` counts the repairs, ``mended`` names the records
        concerned, ``set_aside`` has the other records with their bytes, and ``end_lost`` says
        that the page was cut. A record in which the page was cut is in neither.

    Raises:
        PageUnreadable: The page cannot be read at all; the reason is the strict parser's.

    Cost: that of `read_records` for a well-formed page, else twice that, and up to ten times
    that for each repaired record; always linear in the length of the page.
    """
    return _read(body, read_records, Verb.LIST_RECORDS)


def read_records_to_store(body: bytes) -> ListPage[Record]:
    """Read as `read_records_mended` does, with the roots of `read_records_with_roots`."""
    return _read(body, read_records_with_roots, Verb.LIST_RECORDS)


def read_headers_mended(body: bytes) -> ListPage[Header]:
    """Read a response to ``ListIdentifiers``; see `read_records_mended`."""
    return _read(body, read_headers, Verb.LIST_IDENTIFIERS)


def read_record_mended(body: bytes) -> ListPage[Record]:
    """Read a response to ``GetRecord`` as a page of one record; see `read_records_mended`.

    Errors are in the page, not raised; a page may also have no record.
    """
    return _read(body, read_record_page, Verb.GET_RECORD)


def read_mended(body: bytes, read: Callable[[bytes], Value]) -> tuple[Value, Mapping[str, int]]:
    """Read a response that is not a list of records with ``read``; repair it if necessary.

    Returns:
        The result of ``read``, and the number of repairs of each kind.

    Raises:
        PageUnreadable: It cannot be read, even repaired.
        OAIError: ``read`` raises the repository's error.
    """
    try:
        return read(body), {}
    except PageUnreadable as error:
        from oaipmhclient.mending.malformed_pages import mended_whole  # noqa: PLC0415 - seldom

        mended = mended_whole(body)
        if mended is None:
            raise
        content, repairs = mended
        try:
            return read(content), plain(repairs)
        except PageUnreadable:
            raise error from None


def _read(body: bytes, read: Callable[[bytes], ListPage[Item]], verb: Verb) -> ListPage[Item]:
    sound = without_wrong_declaration(body)
    try:
        page = read(body if sound is None else sound)
    except (OtherAnswer, PageOverfull):
        raise  # it answers another request, or is too large
    except PageUnreadable as error:
        from oaipmhclient.mending.malformed_pages import salvaged  # noqa: PLC0415 - seldom

        return salvaged(body, read, verb, error)
    repairs = Repairs()
    repairs[Repair.DECLARATION] += sound is not None
    repairs[Repair.JUNK_BEFORE] += _BLANK_BEFORE.match(body) is not None
    return replace(page, repairs=plain(repairs)) if repairs.total() else page
