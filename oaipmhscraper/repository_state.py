"""The response to Identify in the form in which the scraper stores and uses it (pure).

Source: OAI-PMH 2.0, section 4.2; Implementation Guidelines, "Specification and XML
Schema for the OAI Identifier Format".
"""

from typing import Any

from lxml import etree

from oaipmhclient.pages.xml_pages import parse_fragment, text_of
from oaipmhprotocol import Granularity, Identify
from oaipmhprotocol.datestamps import datestamp_or_none

OAI_IDENTIFIER = "{http://www.openarchives.org/OAI/2.0/oai-identifier}"


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
