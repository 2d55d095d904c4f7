"""List the finished and the open harvests of a Silo."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from oaipmhclient.walk.values import ListJob
from oaipmhscraper.harvests.job import RECEIPTS
from oaipmhscraper.lists.journal import Journal, journal_path
from oaipmhscraper.lists.journal_rows import OpenHarvest
from oaipmhscraper.lists.list_state import journalled
from oaipmhscraper.receipt import Counts, ListReceipt, Outcome, total
from oaipmhscraper.warc.elsewhere import Elsewhere, read_elsewhere
from politeweb.warc.files import warc_names
from recordsilo.disk.regular_file import regular_fd

INTERRUPTED, NOT_BEGUN = "interrupted", "nothing was listed yet"
"""What is said of an open harvest whose process noted no reason."""
_RECEIPT = "-receipt.json"
_MOST = 10**15
"""No count of records is as large; a larger number in a receipt is damage."""


@dataclass(frozen=True, slots=True)
class PastHarvest:
    """A harvest, from its receipt and the journal.

    Attributes:
        id: When it began, UTC.
        receipt: As JSON; empty if a killed process left none.
        state: ``whole``, ``incomplete``, ``running``, ``open`` (the same command resumes it).
        said: Why it was stopped, or which harvest continued it, as a sentence.
        files: WARC files with its responses.
        elsewhere: Those of them that are in an object store, and not on this disk.
        so_far: The lists of an open harvest, from its journal; its receipt may be older.
    """

    id: str
    receipt: dict[str, Any]
    state: str
    said: str
    files: tuple[str, ...]
    so_far: tuple[ListReceipt, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in {"running", "open"}

    @property
    def counts(self) -> Mapping[str, int | None]:
        """Return the numbers of records by name, for all its lists together."""
        if self.so_far:
            return total(one.counts for one in self.so_far).to_json()
        counts = self.receipt.get("counts")
        return Counts.from_json(counts).to_json() if counts else {}

    @property
    def shortfalls(self) -> dict[str, int]:
        """What an ended harvest lacks, by its receipt.

        Returns:
            ``stopped`` and ``uncertain``: numbers of lists; ``missing`` (promised, not
            listed), ``quarantined`` and ``unreachable``: numbers of records.
        """
        found = dict.fromkeys(("stopped", "missing", "uncertain", "quarantined", "unreachable"), 0)
        for one in self.receipt.get("lists") or []:
            counts = Counts.from_json(one.get("counts") or {})
            expected = counts.promised if one.get("settled") is None else one["settled"]
            short = max(0, (expected or 0) - counts.distinct)
            if one.get("stopped"):
                found["stopped"] += 1
            elif short:
                found["missing"] += short
            elif one.get("doubt"):
                found["uncertain"] += 1
            found["quarantined"] += counts[Outcome.QUARANTINED]
            found["unreachable"] += counts[Outcome.UNREACHABLE]
        return found

    @property
    def what(self) -> str:
        """Return its formats and its set, as far as they are known."""
        if self.so_far:
            return ", ".join(one.name for one in self.so_far)
        named = ", ".join(self.receipt.get("metadata_prefix", [])) or "?"
        return named + (f", set {self.receipt['set']}" if self.receipt.get("set") else "")

    def to_json(self) -> dict[str, Any]:
        """Return the harvest as ``silo harvests --json`` prints it."""
        return {
            "id": self.id,
            "state": self.state,
            "message": self.said or None,
            "files": list(self.files),
            "elsewhere": {one.file: one.url for one in self.elsewhere},
            "receipt": self.receipt or None,
            "so_far": [_with_windows(one) for one in self.so_far] or None,
        }


def harvests_of(silo_path: str, *, newest: int | None = None) -> Iterator[PastHarvest]:
    """Return the harvests of a Silo, the oldest first.

    Args:
        newest: Only so many of the newest; no receipt of the others is read.

    Raises:
        JournalUnreadable: The journal of open harvests is damaged.
        ElsewhereUnreadable: The list of WARC files in an object store is.
    """
    directory = os.path.join(silo_path, RECEIPTS)
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    receipts = {name.removesuffix(_RECEIPT): name for name in names if name.endswith(_RECEIPT)}
    still_open = _open_jobs(silo_path)
    here, away = set(names), defaultdict(list)
    for one in read_elsewhere(directory).values():
        if one.file not in here:
            away[one.harvest_id].append(one)
    numbers = sorted(receipts.keys() | still_open.keys())
    for number in numbers if newest is None else numbers[max(0, len(numbers) - newest) :]:
        receipt = _receipt(os.path.join(directory, receipts[number])) if number in receipts else {}
        elsewhere = tuple(away.get(number, ()))
        local = map(str, warc_names(directory, number)) if names else ()
        files = tuple(sorted([*local, *(one.file for one in elsewhere)]))
        ended = "whole" if receipt.get("whole") else "incomplete"
        state, said, so_far = still_open.get(number, (ended, _continued(receipt), ()))
        yield PastHarvest(number, receipt, state, said, files, so_far, elsewhere)


def _continued(receipt: Mapping[str, Any]) -> str:
    by = receipt.get("continued_by")
    return f"continued by {by}" if by else ""


def owed_in(silo_path: str) -> list[tuple[ListJob, int]]:
    """Return how many records are owed, by format and set.

    Raises:
        JournalUnreadable: The journal is damaged.
    """
    if not os.path.exists(journal_path(silo_path)):
        return []
    with Journal(silo_path, "read") as journal:
        return journal.owed_lists()


def files_to_store(silo_path: str) -> set[str]:
    """Return the names of the WARC files with pages that are not stored yet.

    Raises:
        JournalUnreadable: The journal is damaged.
    """
    if not os.path.exists(journal_path(silo_path)):
        return set()
    with Journal(silo_path, "read") as journal:
        return journal.files_to_store()


_Open = tuple[str, str, tuple[ListReceipt, ...]]


def _open_jobs(silo_path: str) -> dict[str, _Open]:
    """Return the state of each open harvest, why it was stopped, and its lists so far."""
    if not os.path.exists(journal_path(silo_path)):
        return {}
    with Journal(silo_path, "read") as journal:
        return {job.id: _how_far(journal, job) for job in journal.jobs()}


def _how_far(journal: Journal, job: OpenHarvest) -> _Open:
    lists = tuple(journalled(journal, row) for row in journal.lists(job))
    if journal.is_running(job.request):
        return "running", "", lists
    is_begun = any(one.counts.listed for one in lists)
    return "open", job.said or (INTERRUPTED if is_begun else NOT_BEGUN), lists


def _with_windows(one: ListReceipt) -> dict[str, Any]:
    return {**one.to_json(), "windows": [window.to_json() for window in one.windows]}


def _receipt(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8", errors="surrogatepass", opener=regular_fd) as file:
            found = json.load(file)
    except (ValueError, RecursionError):
        return {}
    return found if _is_sound(found) else {}


def _is_sound(receipt: object) -> bool:
    """Whether a receipt has the types that `PastHarvest` reads."""
    if not isinstance(receipt, dict):
        return False
    prefixes, lists = receipt.get("metadata_prefix", []), receipt.get("lists") or []
    return (
        _are_counts(receipt.get("counts", {}))
        and isinstance(prefixes, list)
        and isinstance(receipt.get("continued_by", ""), str)
        and all(isinstance(one, str) for one in prefixes)
        and isinstance(lists, list)
        and all(isinstance(one, dict) and _is_sound_list(one) for one in lists)
    )


def _is_sound_list(one: dict[str, Any]) -> bool:
    settled = {"settled": one.get("settled")}
    return _are_counts(one.get("counts") or {}) and _are_counts(settled)


def _are_counts(found: object) -> bool:
    return isinstance(found, dict) and all(
        one is None or (isinstance(one, int) and 0 <= one < _MOST) for one in found.values()
    )
