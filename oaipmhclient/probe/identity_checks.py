"""Checks of Identify, formats and sets (pure).

Source: OAI-PMH 2.0, sections 2.6, 3.3, 3.4, 4.2, 4.4 and 4.6.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

from oaipmhclient.pages.xml_pages import elements_of, text_of
from oaipmhclient.probe.values import (
    Evidence,
    Judge,
    Judgement,
    ProbeExchange,
    counted,
    fault,
    note,
    ok,
)
from oaipmhprotocol import DatestampError, Granularity, Header
from oaipmhprotocol.datestamps import parse_datestamp
from oaipmhprotocol.words import OAI_DC_NAMESPACE, PROTOCOL_VERSION, DeletedRecord

_REQUIRED = (
    "repositoryName", "baseURL", "protocolVersion", "adminEmail",
    "earliestDatestamp", "deletedRecord", "granularity",
)  # fmt: skip


def _field(evidence: Evidence, name: str) -> tuple[ProbeExchange, list[str]] | None:
    """Return the Identify exchange and the texts of a field, if it can be read."""
    asked = evidence.get("identify")
    if asked is None or asked.root is None or asked.identify is None:
        return None
    found = [
        text_of(one)
        for answer in elements_of(asked.root)
        if answer.tag.rpartition("}")[2] == "Identify"
        for one in elements_of(answer)
        if one.tag.rpartition("}")[2] == name
    ]
    return asked, found


def field_of(evidence: Evidence, name: str) -> tuple[ProbeExchange, str] | None:
    """Return the same for an existing field; another check reports missing ones."""
    found = _field(evidence, name)
    return (found[0], found[1][0]) if found and found[1] and found[1][0] else None


def of_field(name: str, judge: Callable[[ProbeExchange, str], Judgement | None]) -> Judge:
    """Return the judge of an existing field of Identify."""

    def judged(evidence: Evidence) -> Judgement | None:
        found = field_of(evidence, name)
        return judge(*found) if found is not None else None

    return judged


def identify_is_answered(asked: ProbeExchange) -> Judgement | None:
    """Check that there is a readable response."""
    if asked.identify is None:
        return fault(f"Identify returns {asked.outcome}.", asked)
    return ok(f"The name of the repository is “{asked.identify.repository_name}”.", asked)


def nothing_is_missing(evidence: Evidence) -> Judgement | None:
    """Check that each required element exists and is not empty."""
    asked = evidence.get("identify")
    missing = []
    for name in _REQUIRED:
        found = _field(evidence, name)
        if found is None:
            return None
        if not any(found[1]):
            missing.append(name)
    if missing:
        return fault(f"Identify lacks {', '.join(missing)}.", asked)
    return ok("All required elements are present.", asked)


def base_url_is_true(evidence: Evidence) -> Judgement | None:
    """Compare it with the address requested, or the one it redirects to."""
    found = field_of(evidence, "baseURL")
    if found is None:
        return None
    asked, stated = found
    known = [url for url in (evidence.base_url, evidence.moved_to) if url]
    if stated in known:
        return ok(f"baseURL is {stated}.", asked)
    sentence = f"baseURL is {stated}, but the repository was probed at {evidence.base_url}"
    if any(_alike(stated, url) for url in known):
        return note(sentence + ", which differs slightly.", asked)
    return fault(sentence + ".", asked)


def _alike(one: str, other: str) -> bool:
    """Whether they are equal except for http or https, case of the host, and a trailing slash."""

    def plain(url: str) -> tuple[str, str, str]:
        try:
            parts = urlsplit(url)
        except ValueError:
            return url, "", ""
        return parts.netloc.lower(), parts.path.rstrip("/"), parts.query

    return plain(one) == plain(other)


def version_is_two(asked: ProbeExchange, stated: str) -> Judgement | None:
    """Check that it is the version of this specification."""
    if stated != PROTOCOL_VERSION:
        return fault(f"protocolVersion is “{stated}”.", asked)
    return ok("protocolVersion is 2.0.", asked)


def mail_address_is_one(evidence: Evidence) -> Judgement | None:
    """Check the form of each adminEmail."""
    found = _field(evidence, "adminEmail")
    if found is None or not any(found[1]):
        return None
    asked, addresses = found
    bad = [one for one in addresses if not re.fullmatch(r"\S+@(\S+\.)+\S+", one)]
    if bad:
        return fault(f"adminEmail “{bad[0]}” is not an e-mail address.", asked)
    return ok(f"adminEmail is {', '.join(addresses)}.", asked)


def earliest_is_a_date(asked: ProbeExchange, stated: str) -> Judgement | None:
    """Check that it is well-formed, in the stated granularity, and plausible."""
    try:
        moment = parse_datestamp(stated)
    except DatestampError:
        return fault(f"earliestDatestamp is “{stated}”, which is not a date in UTC.", asked)
    claimed = asked.identify.granularity if asked.identify else None
    if claimed and Granularity.of(stated) is not claimed:
        return fault(f"earliestDatestamp {stated} does not have the granularity {claimed}.", asked)
    if moment.year < 1970:
        return note(f"earliestDatestamp is {stated}, long before any repository existed.", asked)
    return ok(f"earliestDatestamp is {stated}.", asked)


def granularity_is_known(asked: ProbeExchange, stated: str) -> Judgement | None:
    """Letter for letter."""
    if stated not in list(Granularity):
        return fault(f"granularity is “{stated}”, not {' or '.join(Granularity)}.", asked)
    return ok(f"granularity is {stated}.", asked)


def deleted_record_is_known(asked: ProbeExchange, stated: str) -> Judgement | None:
    """Letter for letter."""
    if stated not in list(DeletedRecord):
        return fault(f"deletedRecord is “{stated}”, not no, transient or persistent.", asked)
    return ok(f"deletedRecord is {stated}.", asked)


def clock_is_right(evidence: Evidence) -> Judgement | None:
    """Compare responseDate with the time of arrival."""
    asked = evidence.get("identify")
    if asked is None or asked.root is None or asked.answer is None:
        return None
    stated = text_of(asked.root.find("{*}responseDate"))
    try:
        moment = parse_datestamp(stated)
    except DatestampError:
        return fault(f"responseDate is “{stated}”, which is not a time in UTC.", asked)
    received = asked.answer.received
    if received is None:
        return None
    off = moment - received
    if abs(off) > timedelta(minutes=5):
        minutes = abs(off) // timedelta(minutes=1)
        way = "ahead of" if off > timedelta() else "behind"
        return note(f"The repository's clock is {minutes} minutes {way} ours.", asked)
    return ok(f"responseDate is {stated}.", asked)


def formats_are_listed(asked: ProbeExchange) -> Judgement | None:
    """Check that each has a prefix, schema and namespace."""
    if not asked.items:
        return fault(f"ListMetadataFormats returns {asked.outcome}.", asked)
    lacking = [one.prefix for one in asked.items if not (one.schema and one.namespace)]
    if lacking:
        return fault(f"The format {lacking[0]} lacks a schema or namespace.", asked)
    return ok(f"Formats: {', '.join(one.prefix for one in asked.items)}.", asked)


def dublin_core_is_there(evidence: Evidence) -> Judgement | None:
    """Check the prefix that every repository must have, and its namespace."""
    asked = evidence.get("formats")
    if asked is None or not asked.items:
        return None
    found = next((one for one in asked.items if one.prefix == "oai_dc"), None)
    if found is None:
        return fault("The format oai_dc, which every repository must offer, is missing.", asked)
    if found.namespace and found.namespace != OAI_DC_NAMESPACE:
        return fault(f"oai_dc has the namespace {found.namespace}.", asked)
    return ok("oai_dc is offered.", asked)


def formats_of_an_item(evidence: Evidence) -> Judgement | None:
    """Check for the format in which the item was listed."""
    asked = evidence.get("formats/item")
    if asked is None:
        return None
    prefixes = [one.prefix for one in asked.items]
    if evidence.prefix not in prefixes:
        return fault(
            f"ListMetadataFormats for an item listed in {evidence.prefix} returns"
            f" {', '.join(prefixes) or asked.outcome}.", asked,
        )  # fmt: skip
    return ok(f"One item has the formats {', '.join(prefixes)}.", asked)


def sets_are_listed(asked: ProbeExchange) -> Judgement | None:
    """Check for a list, or noSetHierarchy."""
    if asked.codes == ("noSetHierarchy",) and not asked.items:
        return ok("The repository has no sets, and says so.", asked)
    if not asked.items:
        return fault(f"ListSets returns {asked.outcome}.", asked)
    more = ", and more" if asked.page is not None and asked.page.next_token else ""
    return ok(f"It lists {counted(len(asked.items), 'set')}{more}.", asked)


def a_set_lists_its_members(asked: ProbeExchange) -> Judgement | None:
    """Check that every header names the set, or one below it."""
    spec = asked.params["set"]
    if not asked.items:
        return fault(
            f"The set {spec}, which a listed record names, returns {asked.outcome}.", asked
        )
    strangers = [one for one in asked.items if not _in_set(one, spec)]
    if strangers:
        return fault(
            f"The list of the set {spec} has {counted(len(strangers), 'record')} that do not name"
            f" it, such as {strangers[0].identifier}.", asked,
        )  # fmt: skip
    return ok(f"All {len(asked.items)} records listed for the set {spec} name it.", asked)


def _in_set(header: Header, spec: str) -> bool:
    return any(one == spec or one.startswith(spec + ":") for one in header.set_specs)
