"""What a Silo stores about its repository: Identify, and how far each list was harvested.

Source: OAI-PMH 2.0, section 4.2; Implementation Guidelines, "Specification and XML
Schema for the OAI Identifier Format".
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lxml import etree

from oaipmhclient.pages.xml_pages import parse_fragment, text_of
from oaipmhclient.walk.values import ListJob
from oaipmhprotocol import Granularity, Identify
from oaipmhprotocol.datestamps import datestamp_or_none
from oaipmhscraper.progress_marks import (
    HARVESTED,
    KEPT_AS_PAGES,
    Marks,
    with_begun,
    with_receipt,
)
from oaipmhscraper.receipt import ListReceipt
from recordsilo import PersistentState, Silo
from recordsilo.disk.locks import Locks
from recordsilo.records.manifest import now_text
from recordsilo.repository import STATE_FILE

OAI_IDENTIFIER = "{http://www.openarchives.org/OAI/2.0/oai-identifier}"


class HarvesterState(PersistentState):
    """The state of the harvester of a Silo, in a file that other processes change too."""

    def __init__(self, silo: Silo) -> None:
        super().__init__(silo.path, STATE_FILE, create=False)
        self._silo = silo

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Read the file again, and write what the block changes; other processes wait."""
        locks = Locks.of_silo(self._silo.path, in_silo=True)
        with self._silo.writing(), locks.hold_name("harvester"):
            self.revert()
            before = self.state.copy()
            yield
            if self.state != before:
                self.sync()

    def remember(self, identify: Identify) -> None:
        """Store the response to Identify, which was just received."""
        with self.changing():
            self.update(lastidentified=now_text(), identify=state_of(identify))

    @property
    def marks(self) -> Mapping[str, Marks]:
        """How far each list was harvested: `HARVESTED` and `KEPT_AS_PAGES`; a copy."""
        return {
            key: {prefix: dict(sets) for prefix, sets in self.get(key, {}).items()}
            for key in (HARVESTED, KEPT_AS_PAGES)
        }

    def put_back(self, marks: Mapping[str, Marks]) -> None:
        """Store the marks of an earlier moment."""
        with self.changing():
            self.update({key: found for key, found in marks.items() if found or key in self})

    def note_begun(self, key: str, job: ListJob) -> None:
        """Note that the first page of a list is stored."""
        with self.changing():
            self[key] = with_begun(self.marks[key], job)

    def note_end(self, key: str, job: ListJob, receipt: ListReceipt) -> None:
        """Move the mark of a list, if its receipt says so."""
        with self.changing():
            moved = with_receipt(self.marks[key], job, receipt)
            if moved is not None:
                self[key] = moved


def state_of(identify: Identify) -> dict[str, Any]:
    """Return the value of ``state['identify']``, in the form of 2010.

    ``earliestDatestamp`` has a space between date and time (``'0001-01-01 00:00:00'``);
    a text that is not a datestamp stays as sent.
    """
    return {
        "repositoryName": identify.repository_name,
        "baseURL": identify.base_url,
        "protocolVersion": identify.protocol_version,
        "adminEmails": list(identify.admin_emails),
        "earliestDatestamp": _with_blank(identify.earliest_datestamp),
        "deletedRecord": identify.deleted_record.value,
        "granularity": identify.granularity.value if identify.granularity else "",
        "compression": list(identify.compression),
        "descriptions": [text.decode("utf-8") for text in identify.descriptions],
    }


def granularity_in(state: dict[str, Any]) -> Granularity:
    """Return the stored granularity; days, which every repository accepts, if it is unknown."""
    known = [one for one in Granularity if one.value == state.get("granularity")]
    return known[0] if known else Granularity.DAY


def identifier_prefix(identify: Identify) -> str | None:
    """Return the prefix of the repository's identifiers, by its ``oai-identifier`` description.

    Returns:
        ``oai:<repositoryIdentifier>:``, or None if there is no such description.
    """
    for description in identify.descriptions:
        root = parse_fragment(description)
        if root is not None and root.tag == OAI_IDENTIFIER + "oai-identifier":
            return _prefix_of(root)
    return None


def _prefix_of(root: etree._Element) -> str | None:
    parts = {
        name: text_of(root.find(OAI_IDENTIFIER + name))
        for name in ("scheme", "repositoryIdentifier", "delimiter")
    }
    if not parts["repositoryIdentifier"]:
        return None
    delimiter = parts["delimiter"] or ":"
    return f"{parts['scheme'] or 'oai'}{delimiter}{parts['repositoryIdentifier']}{delimiter}"


def _with_blank(datestamp: str) -> str:
    read = datestamp_or_none(datestamp)
    return datestamp if read is None else read.replace(tzinfo=None).isoformat(sep=" ")
