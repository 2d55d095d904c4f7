"""A check of the audit: stars of records that do not exist."""

import os
from collections.abc import Iterator

from example_sibling.stars import read_stars
from recordsilo.audit import Finding, Severity
from recordsilo.audit.contributed import Check
from recordsilo.audit.findings import Rule
from recordsilo.disk.identifier import ppath

NO_RECORD = Rule(
    "X001", Severity.WARNING, "a record that does not exist has stars", "Remove its entry."
)


def _run(silo_path: str) -> Iterator[Finding]:
    for identifier in read_stars(silo_path):
        place = f"pairtree_root/{ppath(identifier)}"
        if not os.path.isfile(f"{silo_path}/{place}/__manifest.json"):
            yield Finding(NO_RECORD, "curation/stars.json", place, "no record", identifier)


STARS = Check("stars", "Stars", (NO_RECORD,), _run)
