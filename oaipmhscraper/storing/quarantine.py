"""Store the bytes of records that could not be read or stored, and why.

    harvests/20261121T211331.123456Z-quarantine/
      list.jsonl                              one line for each record set aside
      9f86d081884c7d659a2feaa0c55ad015.raw    its bytes, named by their digest

The list is written after the bytes that it names. Storing a page twice, as after a kill, changes
nothing. The quarantine is stored with the harvest's receipt and WARC files.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhscraper.errors import ScraperError
from recordsilo.disk.atomic_file import append_lines, group_barrier, make_parents, move, write_new
from recordsilo.disk.json_lines import read_lines

LIST_NAME = "list.jsonl"
LARGEST_RECORD = 32 << 20
LARGEST_QUARANTINE = 1 << 30
_LONGEST_IDENTIFIER = 65_536


class QuarantineUnreadable(ScraperError):
    """The list of a quarantine is damaged.

    Attributes:
        line: The number of the line that cannot be read.
    """

    def __init__(self, path: str, line: int) -> None:
        self.path = path
        self.line = line
        super().__init__(f"line {line} of {path} is not an entry of a quarantine")


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One line of the list.

    Attributes:
        identifier: If it could be read; else empty.
        metadata_prefix: The format in which it was listed.
        reason: Why it was set aside; completes "a record, which …".
        where: Its place on the page.
        request: The request whose response had it, as a URL's query.
        received: When that response was received, ISO 8601, UTC; empty if unknown.
        size: Its size in bytes.
        sha256: Of its bytes, in hexadecimal; empty if there are none.
        file: The file that has them; empty if they are not stored here.
        kept: How many of the first bytes the file has.
    """

    identifier: str
    metadata_prefix: str
    reason: str
    where: str
    request: str
    received: str
    size: int
    sha256: str
    file: str
    kept: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return the key that equal lines have in common."""
        return self.metadata_prefix, self.identifier, self.sha256, self.reason


@dataclass(frozen=True, slots=True)
class QuarantineOrigin:
    """The origin of records set aside.

    Attributes:
        request: See `Quarantined`.
        metadata_prefix: See `Quarantined`.
        received: Aware, or None if unknown.
    """

    request: str
    metadata_prefix: str
    received: datetime | None = None


def quarantine_of(harvests: str, harvest_id: str) -> str:
    """Return the directory of a harvest's quarantine, which may not exist."""
    return os.path.join(harvests, f"{harvest_id}-quarantine")


def kept_in(directory: str) -> Iterator[Quarantined]:
    """Return the list of a quarantine, in order; empty if there is none.

    Raises:
        QuarantineUnreadable: A complete line is damaged.
    """
    path = os.path.join(directory, LIST_NAME)
    return read_lines(path, _entry, lambda path, line, _: QuarantineUnreadable(path, line))


def _entry(values: Any) -> Quarantined:
    return Quarantined(**{field.name: values[field.name] for field in fields(Quarantined)})


class Quarantine:
    """Stores the records that one harvest sets aside, for one thread.

    Args:
        directory: See `quarantine_of`; created when needed.
        largest_record: Most bytes to store of one record.
        largest: Most bytes to store in all; further records are only listed. The WARC files
            have their bytes.
    """

    def __init__(
        self,
        directory: str,
        *,
        largest_record: int = LARGEST_RECORD,
        largest: int = LARGEST_QUARANTINE,
    ) -> None:
        self._directory = directory
        self._largest_record = largest_record
        self._largest = largest
        self._known: set[tuple[str, str, str, str]] | None = None
        self._size = 0

    def keep(
        self, set_aside: Sequence[SetAside], origin: QuarantineOrigin
    ) -> tuple[Quarantined, ...]:
        """Store the bytes of records and list them, durably, unless they are already listed.

        Returns:
            The new lines of the list.

        Raises:
            QuarantineUnreadable: The existing list is damaged; nothing is written.
            OSError: The disk refused; the list has no entry without its bytes.
        """
        if not set_aside:
            return ()
        known = self._listed()
        entries: dict[tuple[str, str, str, str], tuple[Quarantined, bytes]] = {}
        for one in set_aside:
            entry = self._described(one, origin)
            if entry.key not in known and entry.key not in entries:
                entries[entry.key] = entry, one.raw
                self._size += entry.kept
        self._write(list(entries.values()))
        known.update(entries)
        return tuple(entry for entry, _ in entries.values())

    def _listed(self) -> set[tuple[str, str, str, str]]:
        if self._known is None:
            entries = list(kept_in(self._directory))
            self._size = sum(entry.kept for entry in entries)
            self._known = {entry.key for entry in entries}
        return self._known

    def _described(self, one: SetAside, origin: QuarantineOrigin) -> Quarantined:
        digest = hashlib.sha256(one.raw).hexdigest() if one.raw else ""
        room = max(self._largest - self._size, 0)
        kept = min(len(one.raw), self._largest_record) if room else 0
        received = origin.received.astimezone(UTC).isoformat() if origin.received else ""
        return Quarantined(
            identifier=one.identifier[:_LONGEST_IDENTIFIER],
            metadata_prefix=origin.metadata_prefix,
            reason=one.reason,
            where=one.where,
            request=origin.request,
            received=received,
            size=len(one.raw),
            sha256=digest,
            file=f"{digest[:32]}.raw" if kept else "",
            kept=kept,
        )

    def _write(self, entries: list[tuple[Quarantined, bytes]]) -> None:
        if not entries:
            return
        path = os.path.join(self._directory, LIST_NAME)
        silo = os.path.dirname(os.path.dirname(self._directory))
        make_parents(path, silo)
        self._write_files({entry.file: raw[: entry.kept] for entry, raw in entries if entry.file})
        append_lines(path, (json.dumps(asdict(entry)).encode() for entry, _ in entries), silo)

    def _write_files(self, contents: dict[str, bytes]) -> None:
        """Write files completely or not at all: stage and flush all, then rename and flush."""
        barrier = group_barrier(self._directory)
        staged: list[tuple[str, str]] = []
        for name, content in contents.items():
            target = os.path.join(self._directory, name)
            source = f"{target}.{os.getpid()}.tmp"
            _remove(source)
            write_new(source, (content,), barrier)
            staged.append((source, target))
        barrier.flush()
        for source, target in staged:
            move(source, target, barrier)
        barrier.flush()


def _remove(path: str) -> None:
    """Remove a file that a killed process with the same number may have left."""
    with suppress(FileNotFoundError):
        os.unlink(path)
