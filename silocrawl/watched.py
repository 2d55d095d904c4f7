"""The documents of a watched target: records of a Silo of their own, each made once.

A page that names its document makes one record with its documents; a document that is one of many
on a page makes its own. The identifier of a record is the address of the page or the document.
"""

import os
from dataclasses import replace

from lxml import etree

from crawlmatch.attach import has_file, put_in_current
from recordsilo import Silo
from recordsilo.disk.atomic_file import Staged, StrictBarrier, write_new
from recordsilo.errors import IdentifierError, RecordRemoved
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import now_text
from silocrawl.captures import Captures
from silocrawl.errors import MessageInvalid, TargetRefused
from silocrawl.landing import Landing, TieRule
from silocrawl.messages import FoundDocument
from silocrawl.papers import broken
from silocrawl.proposals import (
    AGENT,
    Documents,
    Proposal,
    ProposalState,
    Reason,
    source_of,
    wanted_text,
)
from silocrawl.targets import load_target
from silocrawl.tying import document_in, landing_page, rule_of

_DC, _OAI_DC = "http://purl.org/dc/elements/1.1/", "http://www.openarchives.org/OAI/2.0/oai_dc/"


def silo_of(silo_path: str, watched: str) -> str:
    """Return the directory of the Silo of a watched target.

    Args:
        silo_path: The Silo of the target.
        watched: See `Target.watched`.
    """
    return os.path.normpath(os.path.join(silo_path, watched))


def make_silo(silo_path: str, watched: str) -> None:
    """Make the Silo of a watched target, unless it is there.

    Raises:
        TargetRefused: It is the target's Silo, or within it.
        RecordSiloError: The directory holds something else, or cannot be made.
    """
    place = silo_of(silo_path, watched)
    own, there = os.path.realpath(silo_path), os.path.realpath(place)
    if os.path.commonpath([own, there]) == own:
        raise TargetRefused("the documents of a watched target need a Silo of their own elsewhere")
    with Silo(place, "info:"):
        pass


def catalogue_watched(silo: Silo, documents: Documents, one: FoundDocument) -> None:
    """Make a record of a document of a watched target, or add the document to that of its page.

    Raises:
        CaptureUnreadable: It is not in the archive as the index says.
        MessageInvalid: Its address is too long for an identifier.
        RecordSiloError, OSError: The Silo of the target cannot be written.
    """
    try:
        target = load_target(silo.path, one.target)
    except TargetRefused:
        return
    if not target.watched:
        return
    captures = Captures(silo.path)
    landing = landing_page(captures, one.page, one.timestamp)
    rule = rule_of(captures, landing, replace(one, seed=one.page or one.seed)) or TieRule.LISTED
    seed = captures.where_it_leads(one.seed, one.timestamp)
    if landing is None or (
        rule is TieRule.ONLY_PDF and seed is not None and seed.url == landing.url
    ):
        rule = TieRule.LISTED  # the target's own page is a list, also while that has one entry
    identifier = landing.url if landing is not None and rule is not TieRule.LISTED else one.url
    made = Proposal(
        identifier, one.url, one.digest, one.timestamp, one.mimetype, Reason.WATCHED, one.seed,
        landing.url if landing is not None else "", rule.value, state=ProposalState.ATTACHED,
        target=one.target,
    )  # fmt: skip
    if documents.find(identifier, one.digest, one.target):
        return
    capture = captures.with_body(one.url, one.digest)
    with captures.staged(silo, capture) as body:
        fault = broken(document_in(body, capture))
        if fault is not None and fault.state is ProposalState.REJECTED:
            made = replace(made, state=ProposalState.REJECTED, reason=fault.reason)
        else:
            place, content = silo_of(silo.path, target.watched), description_of(made, landing)
            if not _put(place, made, content, body.staged, capture.place):
                return
    documents.keep(made)


def _put(directory: str, one: Proposal, content: bytes, staged: Staged, place: str) -> bool:
    """Put a document into its record; False if people have removed the record for good."""
    source = source_of(one, place)
    try:
        with (
            Silo(directory, "info:", agent=AGENT) as into,
            into.editing(one.record) as edit,
        ):
            if not edit.exists:
                _begin(into, edit, content)
            if not has_file(edit, one.url, staged.digest):
                put_in_current(into, edit, wanted_text(one), source, staged)
    except RecordRemoved:
        return False
    except IdentifierError as error:
        raise MessageInvalid(str(error)) from None
    return True


def _begin(silo: Silo, edit: RecordEdit, content: bytes) -> None:
    """Begin a record with its metadata."""
    origin = new_origin("local", agent=AGENT, message="found by a crawl")
    edit.add_version("1", date=now_text(), origin=origin, log="Made of a document that was crawled")
    path = silo.staging.new_path()
    digest = write_new(path, (content,), StrictBarrier())
    edit.put("1", "oai_dc", Staged(path, digest), metadata=True)


def description_of(one: Proposal, landing: Landing | None) -> bytes:
    """Return the Dublin Core of a document: what its page says, or what the page calls it.

    The date has the precision that the page has: a year stays a year.
    """
    name = one.url.partition("?")[0].rpartition("/")[2] or one.url
    said: list[tuple[str, str]] = []
    if landing is not None and one.record == landing.url:
        said += [("title", landing.title or name)]
        said += [("creator", creator) for creator in landing.creators]
        said += [("publisher", landing.publisher), ("date", landing.date)]
        said += [("identifier", f"https://doi.org/{doi}") for doi in sorted(landing.dois)]
        said += [("identifier", landing.url)]
    else:
        anchor = landing.anchors.get(one.url, "") if landing is not None else ""
        said += [("title", anchor if len(anchor) > len("download PDF") else name)]
        said += [("publisher", landing.publisher if landing is not None else "")]
        said += [("source", landing.url if landing is not None else "")]
    said += [("identifier", one.url), ("format", one.mimetype)]
    root = etree.Element(f"{{{_OAI_DC}}}dc", nsmap={"oai_dc": _OAI_DC, "dc": _DC})
    for element, text in said:
        if kept := "".join(one if one.isprintable() else " " for one in text).strip():
            etree.SubElement(root, f"{{{_DC}}}{element}").text = kept
    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True))
