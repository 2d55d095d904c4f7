"""A check of the audit: the list of WARC files that are in an object store."""

import os
from collections.abc import Iterator

from oaipmhscraper.errors import ElsewhereUnreadable
from oaipmhscraper.warc.elsewhere import LIST, read_elsewhere
from recordsilo.audit import Finding, Severity
from recordsilo.audit.contributed import Check
from recordsilo.audit.findings import Rule

_DIRECTORY = "harvests"
UNREADABLE = Rule(
    "H001",
    Severity.DAMAGE,
    "the list of WARC files in an object store cannot be read",
    "Restore the file from a backup, or correct the line that is named.",
)


def _run(silo_path: str) -> Iterator[Finding]:
    try:
        read_elsewhere(os.path.join(silo_path, _DIRECTORY))
    except (ElsewhereUnreadable, OSError) as error:
        yield Finding(UNREADABLE, f"{_DIRECTORY}/{LIST}", "a list", str(error))


RESPONSES = Check("responses", "Stored responses", (UNREADABLE,), _run)
