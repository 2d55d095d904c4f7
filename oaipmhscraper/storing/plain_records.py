"""Make all that is written of new plain records, in one pass over each (pure but for the clock).

A record is *plain* if it is `oai_dc`, flat, neither deleted nor repaired, and has no ``about``, as
most records of most repositories. For these, this gives the bytes of the manifest and the row of
the index that `storing_rules.first_state` and the store's general way give for any record.
"""

from oaipmhprotocol import Header, Record
from oaipmhscraper.storing.storing_rules import Reception, first_state
from recordsilo.disk.atomic_file import digest_of_bytes
from recordsilo.formats.flat import flat_texts
from recordsilo.index.first_rows import first_row
from recordsilo.index.projection import MENDED, seconds_of_text
from recordsilo.records.creation import FirstState
from recordsilo.records.edit import time_of_change
from recordsilo.records.manifest import altered
from recordsilo.records.manifest_template import DATE, IDENTIFIER, SPEC, ManifestTemplate

PREFIX = "oai_dc"


class PlainRecords:
    """Makes the first states of plain records of one page.

    Args:
        listing: How and when they were received.

    Raises:
        ValueError: Its texts have a character that marks a place in `ManifestTemplate`.
    """

    def __init__(self, listing: Reception) -> None:
        changed = time_of_change()
        marked = Record(Header(IDENTIFIER, DATE, (SPEC,)), b"")
        manifest, _ = first_state(marked, DATE, listing)
        self._template = ManifestTemplate(altered(manifest, changed=changed))
        self._changed = seconds_of_text(changed)

    def first_state(self, record: Record, datestamp: str) -> FirstState | None:
        """All that is written of a new record; None if it is not plain.

        Args:
            record: With a valid identifier.
            datestamp: The header's, in the 2010 form.
        """
        header, content = record.header, record.metadata
        if header.deleted or content is None or record.about:
            return None
        texts = flat_texts(content)
        if texts is None:
            return None
        identifier, sets = header.identifier, header.set_specs
        digest = digest_of_bytes(content)
        return FirstState(
            self._template.filled(identifier, datestamp, sets, digest),
            PREFIX,
            content,
            first_row(identifier, datestamp, sets, texts, path=PREFIX, changed=self._changed),
        )


def plain_records(listing: Reception) -> PlainRecords | None:
    """What makes the plain records of a page; None if it can have none."""
    if listing.metadata_prefix != PREFIX or listing.mended or MENDED in listing.message:
        return None
    try:
        return PlainRecords(listing)
    except ValueError:
        return None
