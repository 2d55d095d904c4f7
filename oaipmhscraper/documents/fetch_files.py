"""Fetch the files that records link to, and store them in versions.

    >>> with Silo("myrepo", create=False) as silo, FileTransport(base_url) as transport:
    ...     receipt = fetch_files(silo, transport)

A file is staged while it arrives, and added to its record completely, with a note on its origin.
After a kill, another run continues with the next file.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import Protocol

from oaipmhscraper.documents.file_notes import (
    FailedLink,
    FetchedFile,
    LinkToFetch,
    Notes,
    tasks_left,
)
from oaipmhscraper.documents.file_types import SNIFFED, file_name, objection, sniff
from oaipmhscraper.documents.files_receipt import FileFailure, FilesReceipt
from oaipmhscraper.documents.journal import FetchJournal
from oaipmhscraper.documents.link_rules import LinkRule, chosen, expected_types
from oaipmhscraper.interrupts import interrupt_deferred
from politeweb.addresses import parts_of
from politeweb.errors import RetryLater
from politeweb.exchange import Known
from politeweb.files import (
    FileHead,
    FileRefused,
    FileUnavailable,
    NotChanged,
    Store,
    T,
)
from recordsilo import Row, Silo
from recordsilo.disk.atomic_file import Staged, StrictBarrier, write_new
from recordsilo.errors import ManifestUnreadable, RecordNotFound
from recordsilo.formats import Link, links_of
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import Manifest, next_version_number, now_text

DIRECTORY = "files"
"""The directory of the files in a version."""
_PATIENCE = 3
"""After this many successive failures to answer, a host is skipped for the rest of the run."""


class Into(StrEnum):
    """The version to which files are added.

    `VERSION`, the default: the one whose metadata has the link. Its harvested files do not
    change, and the record keeps following its repository. `NEW`: a working copy of it.
    """

    VERSION = "version"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class FilesWish:
    """What to fetch.

    Attributes:
        rules: Choose the links; if empty, see `link_rules.chosen`.
        accepted: Media types to accept, instead of those that the links suggest.
        into: The version to which files are added.
        retry_failed: Whether to retry links that failed permanently.
        agent: Who fetches, as noted in versions.
    """

    rules: tuple[LinkRule, ...] = ()
    accepted: tuple[str, ...] = ()
    into: Into = Into.VERSION
    retry_failed: bool = False
    agent: str = "silo fetch-files"

    @property
    def choice(self) -> str:
        """Return a digest of the rules for choosing links."""
        return hashlib.sha256(repr((self.rules, self.accepted)).encode()).hexdigest()


class Fetches(Protocol):
    """The interface of `FileTransport`."""

    def fetch(self, url: str, store: Store[T], known: Known | None = None) -> T:
        """See `FileTransport.fetch`."""


ChooseLinks = Callable[[str, list[Link]], Iterable[Link]]
"""Hook: (identifier, links chosen by the rules) → links to fetch."""
Progress = Callable[[FilesReceipt], None]


def fetch_files(
    silo: Silo,
    transport: Fetches,
    wish: FilesWish | None = None,
    *,
    identifiers: Iterable[str] | None = None,
    limit: int | None = None,
    choose: ChooseLinks | None = None,
    progress: Progress | None = None,
) -> FilesReceipt:
    """Fetch the files that records link to, and add them to the records.

    Deleted records, and those with nothing left to fetch, are skipped. A link without a file is
    noted in its record, with the reason.

    Args:
        identifiers: Only these records, in full form; by default all, by identifier.
        limit: End after this many files.
        choose: May leave out links, or add some.
        progress: Called after each record.

    Returns:
        The receipt, also after Ctrl-C, which ends the run within a file.

    Raises:
        RecordNotFound: One of ``identifiers`` does not exist.
        OSError: The disk refused; earlier files are kept.
    """
    with FetchJournal(f"{silo.path}/.silo", (wish or FilesWish()).choice) as journal:
        now = datetime.now(UTC)
        run = _Fetching(
            silo, transport, wish or FilesWish(), choose, journal, limit, FilesReceipt(now, now)
        )
        try:
            living = silo.found({"deleted": False})
            for row in living if identifiers is None else map(silo.row, identifiers):
                run.record(row)
                if progress is not None:
                    progress(run.receipt)
                if run.is_over:
                    break
        except KeyboardInterrupt:
            run.receipt = replace(run.receipt, interrupted=True)
        return replace(run.receipt, ended=datetime.now(UTC))


@dataclass(slots=True)
class _Fetching:
    """A run, with its counts and the hosts that it gave up."""

    silo: Silo
    transport: Fetches
    wish: FilesWish
    choose: ChooseLinks | None
    journal: FetchJournal
    limit: int | None
    receipt: FilesReceipt
    silent: dict[str, int] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.receipt.limited

    def record(self, row: Row) -> None:
        """Fetch the missing files of a record."""
        if not self.wish.retry_failed and self.journal.is_done(row.identifier, row.revision):
            self.receipt = replace(self.receipt, records=self.receipt.records + 1)
            return
        try:
            manifest = self.silo[row.identifier].state
        except RecordNotFound:
            return  # removed meanwhile
        except ManifestUnreadable as error:
            self.receipt = self.receipt.with_failure(FileFailure(row.identifier, "", str(error)))
            return
        self.receipt = replace(self.receipt, records=self.receipt.records + 1)
        tasks = self._tasks(manifest)
        done = [self._task(row.identifier, task) for task in tasks]
        if all(done):
            record = self.silo.get(row.identifier) if tasks else None
            self.journal.note(row.identifier, record.revision if record else manifest.revision)

    def _tasks(self, manifest: Manifest) -> list[LinkToFetch]:
        record = self.silo[manifest.item_id]
        version = manifest.current
        found: list[Link] = []
        for path in version.metadata_files:
            if path in version.paths:
                with record.get_stream(path, version.name) as file:
                    found += links_of(path, file.read())
        wanted: Iterable[Link] = chosen(found, self.wish.rules)
        if self.choose is not None:
            wanted = self.choose(manifest.item_id, list(wanted))
        notes = Notes.of(manifest.metadata)
        return tasks_left(manifest, wanted, notes, retry_failed=self.wish.retry_failed)

    # ------------------------------------------------------------------ one file

    def _task(self, identifier: str, task: LinkToFetch) -> bool:
        """Fetch a file; return whether it is settled."""
        url = task.link.url
        host = parts_of(url).netloc
        if self.is_over:
            return False
        if host in self.receipt.hosts:
            self.receipt = replace(self.receipt, postponed=self.receipt.postponed + 1)
            return False
        try:
            self._fetch(identifier, task)
        except RetryLater as later:
            self._give_up_host(host, f"requests a pause until {later.deadline:%Y-%m-%d %H:%M} UTC")
            return False
        except FileUnavailable as failure:
            return self._failed(identifier, task, failure, lasting=False)
        except FileRefused as failure:
            return self._failed(identifier, task, failure, lasting=True)
        self.silent.pop(host, None)
        return True

    def _fetch(self, identifier: str, task: LinkToFetch) -> None:
        expected = expected_types(task.link, self.wish.accepted)

        def store(head: FileHead, content: Iterator[bytes]) -> tuple[FileHead, Staged]:
            beginning, whole = _peeked(content)
            if reason := objection(expected, head.type, sniff(beginning)):
                raise FileRefused(head.url, reason)
            path = self.silo.staging.new_path()
            return head, Staged(path, write_new(path, whole, StrictBarrier()))

        try:
            head, staged = self.transport.fetch(task.link.url, store, task.known)
        except NotChanged:
            self._take_over(identifier, task)
            return
        with interrupt_deferred():
            self._put(identifier, task, head, staged)
            self._came(staged.digest.size)

    def _put(self, identifier: str, task: LinkToFetch, head: FileHead, staged: Staged) -> None:
        try:
            with self.silo.editing(identifier) as edit:
                if edit.exists:
                    self._add(edit, task, head, staged)
        finally:
            self.silo.staging.discard(staged.path)

    def _came(self, size: int) -> None:
        fetched = self.receipt.fetched + 1
        self.receipt = replace(
            self.receipt,
            fetched=fetched,
            received=self.receipt.received + size,
            limited=self.limit is not None and fetched >= self.limit,
        )

    def _add(
        self, edit: RecordEdit, task: LinkToFetch, head: FileHead, content: Staged | bytes
    ) -> None:
        """Add a file to its version, with a line in the log and a note in the metadata."""
        version = self._version(edit)
        names = {
            path.removeprefix(f"{DIRECTORY}/") for path in edit.manifest.version(version).paths
        }
        path = f"{DIRECTORY}/{file_name(task.link.url, head.disposition, names)}"
        edit.put(version, path, content, metadata=False, allow_frozen=True)
        edit.log(version, f"Fetched {path} from {task.link.url}")
        note = FetchedFile(
            task.link.url, version, path, head.type, now_text(), head.etag, head.last_modified
        )
        _remember(edit, Notes.of(edit.manifest.metadata).with_fetched(note))

    def _version(self, edit: RecordEdit) -> str:
        """Return the version to which a file is added; create it if it must be a new one."""
        manifest = edit.manifest
        current = manifest.current
        is_ours = current.origin.kind == "clone" and current.origin.agent == self.wish.agent
        if self.wish.into is Into.VERSION or is_ours:
            return current.name
        name = next_version_number(manifest)
        edit.derive_version(
            current.name,
            name,
            date=now_text(),
            origin=new_origin("clone", of=current.name, agent=self.wish.agent),
            log=f"Cloned version {current.name} for the files it links to",
        )
        return name

    def _take_over(self, identifier: str, task: LinkToFetch) -> None:
        """Copy an unchanged file from the version for which it was fetched."""
        assert task.before is not None
        before = task.before
        with self.silo[identifier].get_stream(before.path, before.version) as file:
            path = self.silo.staging.new_path()
            staged = Staged(path, write_new(path, _pieces(file.read), StrictBarrier()))
        head = FileHead(
            task.link.url,
            before.type,
            f'attachment; filename="{before.path.rpartition("/")[2]}"',
            etag=before.etag,
            last_modified=before.last_modified,
        )
        with interrupt_deferred():
            self._put(identifier, task, head, staged)
            self.receipt = replace(self.receipt, unchanged=self.receipt.unchanged + 1)

    # ------------------------------------------------------------------ failures

    def _failed(
        self, identifier: str, task: LinkToFetch, failure: FileRefused, *, lasting: bool
    ) -> bool:
        note = FailedLink(task.link.url, failure.reason, now_text(), lasting=lasting)
        with interrupt_deferred(), self.silo.editing(identifier) as edit:
            if edit.exists:
                _remember(edit, Notes.of(edit.manifest.metadata).with_failed(note))
        named = FileFailure(identifier, task.link.url, failure.reason)
        self.receipt = self.receipt.with_failure(named)
        if not lasting:
            host = parts_of(task.link.url).netloc
            self.silent[host] = self.silent.get(host, 0) + 1
            if self.silent[host] >= _PATIENCE:
                self._give_up_host(host, "does not answer", postponed=0)
        return lasting

    def _give_up_host(self, host: str, reason: str, postponed: int = 1) -> None:
        self.receipt = replace(
            self.receipt,
            hosts={**self.receipt.hosts, host: reason},
            postponed=self.receipt.postponed + postponed,
        )


def _remember(edit: RecordEdit, notes: Notes) -> None:
    for key, value in notes.to_json().items():
        if value:
            edit.set_metadata(key, value)
        else:
            edit.del_metadata(key)


def _peeked(content: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes of content, and an iterator over all of it."""
    beginning = b""
    for piece in content:
        beginning += piece
        if len(beginning) >= SNIFFED:
            break
    return beginning[:SNIFFED], chain((beginning,), content)


def _pieces(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while piece := read(1 << 20):
        yield piece
