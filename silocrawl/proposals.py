"""What became of the documents of records: attached, proposed to people, or rejected, and why.

A document of a record is decided about once, whatever its address: a row for each record and
digest. Only people change a row, by `accept` and `reject`.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, StrEnum

from crawlmatch.attach import FileSource, Put, WantedText, put_file, take_file_back
from crawlmatch.errors import BadAddress
from crawlmatch.outcomes import OWN, NextSteps
from recordsilo import Silo
from recordsilo.closing import Closing
from silocrawl.addresses import fetched_form
from silocrawl.captures import Captures
from silocrawl.errors import CrawlingError
from silocrawl.paths import catalogue_file
from silocrawl.pdf_pages import picture_of
from silowork.ledger_file import LedgerFile, LedgerKind, Mode

AGENT = "silo crawl run"
"""In the notes of records: the name of the crawl, as of its outcomes, and who attaches."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS document (
  number INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL, url TEXT NOT NULL,
  digest TEXT NOT NULL, timestamp TEXT NOT NULL, mimetype TEXT NOT NULL, seed TEXT NOT NULL,
  landing TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL, score REAL NOT NULL,
  doi TEXT NOT NULL, state TEXT NOT NULL, agent TEXT NOT NULL, moment REAL NOT NULL,
  target TEXT NOT NULL, UNIQUE (target, record, digest));
CREATE INDEX IF NOT EXISTS document_by_state ON document (state, number)
"""
_COLUMNS = (
    "number, record, url, digest, timestamp, mimetype, seed, landing, rule, reason, score, doi,"
    " state, agent, moment, target"
)


class CatalogueUnreadable(CrawlingError):
    """The file cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be read: {reason}")


class ProposalRefused(CrawlingError, ValueError):
    """What a person decides about a document cannot be done."""


KIND = LedgerKind(_SCHEMA, CatalogueUnreadable, version=1, has_log=True)


class ProposalState(StrEnum):
    """What became of a document."""

    ATTACHED = "attached"
    PROPOSED = "proposed"
    REJECTED = "rejected"


class Reason(Enum):
    """Why a document is attached, proposed or rejected, with a sentence for people."""

    RIGHT = "right", "Its first page has the record's DOI and title."
    WATCHED = "watched", "It was found below a watched target."
    TITLE_ONLY = "title-only", "Its first page has the record's title, and no DOI to compare."
    DOI_ONLY = "doi-only", "Its first page has the record's DOI, and another title."
    SIMILAR_TITLE = "similar-title", "The title on its first page is similar to the record's."
    SEVERAL_DOIS = "several-dois", "Its first page has the record's DOI, and others."
    SEVERAL_DOCUMENTS = "several-documents", "The landing page has several, and names none as its."
    NO_TEXT = "no-text", "It has no text to compare: probably it is a scan."
    ONE_PAGE = "one-page", "It has one page only, so it may be an abstract or a cover sheet."
    COVER_SHEET = "cover-sheet", "It looks like a cover sheet without the document."
    HTML_FIRST = "html-first", "A web page precedes the PDF in the file."
    NOT_PDF = "not-a-pdf", "It is not a PDF, so it cannot be compared with the record."
    ENCRYPTED = "encrypted", "It is protected by a password, so it cannot be compared."
    NO_TITLE = "no-title", "The record's title is missing or too short to compare."
    UNREADABLE = "unreadable", "It could not be read within the limits of memory and time."
    WORKING_COPY = "working-copy", "The record has a working copy that is not its current version."
    OTHER_DOI = "other-doi", "Its first page has another DOI: it is another document."
    OTHER_PAPER = "other-paper", "Its first page has neither the record's title nor its DOI."
    LICENCE = "licence", "It is a licence, a policy or a form, not the document."
    CUT_SHORT = "cut-short", "Its end is missing."
    DAMAGED = "damaged", "It is damaged, so no reader shows it."

    def __init__(self, code: str, sentence: str) -> None:
        self.code, self.sentence = code, sentence

    @classmethod
    def named(cls, code: str) -> "Reason":
        """Return the reason of a code."""
        return next(one for one in cls if one.code == code)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A document, and what became of it.

    Attributes:
        record: Identifier of the record; of a watched target, in the target's own Silo.
        url: Address of the document.
        digest, timestamp, mimetype: Of its capture, as in the index.
        reason: Why it is attached, proposed or rejected.
        seed: The record's link that led to it.
        landing: The page that links to it; empty if the record's link led to it directly.
        rule: How the page names it: a value of `silocrawl.landing.TieRule`, or ``direct``.
        score: How much of the title is on the first page, 0 to 100.
        doi: The DOIs on the first page, separated by blanks.
        state: What became of it.
        number: Its id in this Silo; 0 before it is kept.
        agent: Who accepted or rejected it; empty if nobody did.
        moment: When the state was set; seconds since 1970.
        target: The watched target; empty for the document of a record of this Silo.
    """

    record: str
    url: str
    digest: str
    timestamp: str
    mimetype: str
    reason: Reason
    seed: str = ""
    landing: str = ""
    rule: str = ""
    score: float = 0.0
    doi: str = ""
    state: ProposalState = ProposalState.PROPOSED
    number: int = 0
    agent: str = ""
    moment: float = 0.0
    target: str = ""

    @property
    def decided(self) -> datetime:
        """When its state was set; UTC."""
        return datetime.fromtimestamp(self.moment, UTC)


class Documents(Closing):
    """The file of the documents; processes may share it.

    Args:
        mode: See `LedgerFile`.
    """

    def __init__(self, silo_path: str, mode: Mode = "create") -> None:
        self._file = LedgerFile(catalogue_file(silo_path), KIND, mode)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def find(self, record: str, digest: str, target: str = "") -> Proposal | None:
        """Return what became of a document of a record; None if it is not known."""
        where = "record = ? AND digest = ? AND target = ?"
        return next(iter(self._rows(where, (record, digest, target))), None)

    def keep(self, one: Proposal) -> None:
        """Add a document, unless it is known."""
        row = (
            one.record, one.url, one.digest, one.timestamp, one.mimetype, one.seed, one.landing,
            one.rule, one.reason.code, one.score, one.doi, one.state.value, one.agent,
            time.time(), one.target,
        )  # fmt: skip
        columns, marks = _COLUMNS.removeprefix("number, "), ", ".join("?" * len(row))
        with self._file.transaction() as connection:
            connection.execute(
                f"INSERT OR IGNORE INTO document ({columns}) VALUES ({marks})",  # noqa: S608
                row,
            )

    def decide(self, number: int, state: ProposalState, agent: str) -> None:
        """Set what a person decided."""
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE document SET state = ?, agent = ?, moment = ? WHERE number = ?",
                (state.value, agent, time.time(), number),
            )

    def listed(
        self, state: ProposalState | None, record: str, after: int, most: int
    ) -> list[Proposal]:
        """Return documents, the oldest first; see `proposals`."""
        where = "number > ? AND (? = '' OR state = ?) AND (? = '' OR record = ?)"
        wanted = state.value if state is not None else ""
        values = (after, wanted, wanted, record, record)
        return self._rows(f"{where} ORDER BY number LIMIT {most:d}", values)

    def decided(self, most: int) -> list[Proposal]:
        """Return the documents about which people decided, those of the last decisions first."""
        where = f"state != ? AND agent != '' ORDER BY moment DESC, number DESC LIMIT {most:d}"
        return self._rows(where, (ProposalState.PROPOSED.value,))

    def numbered(self, number: int) -> Proposal:
        """Return a document.

        Raises:
            ProposalRefused: There is none of that number.
        """
        for one in self._rows("number = ?", (number,)):
            return one
        raise ProposalRefused(
            f"there is no document {number} here; silo crawl proposals list shows them"
        )

    def last(self) -> int:
        """Return the number of the newest document; 0 if there is none."""
        return int(self._file.rows("SELECT coalesce(max(number), 0) FROM document")[0][0])

    def counts(self, after: int = 0) -> dict[ProposalState, int]:
        """Return how many documents have which state, of those after a number."""
        rows = self._file.rows(
            "SELECT state, count(*) FROM document WHERE number > ? GROUP BY state", (after,)
        )
        return {ProposalState(state): count for state, count in rows}

    def _rows(self, where: str, values: Sequence[object]) -> list[Proposal]:
        rows = self._file.rows(f"SELECT {_COLUMNS} FROM document WHERE {where}", values)  # noqa: S608
        return [_proposal(*row) for row in rows]


def _proposal(number: int, *row: object) -> Proposal:
    (record, url, digest, timestamp, mimetype, seed, landing, rule, reason, score, doi, state,
     agent, moment, target) = row  # fmt: skip
    return Proposal(
        str(record), str(url), str(digest), str(timestamp), str(mimetype),
        Reason.named(str(reason)), str(seed), str(landing), str(rule), float(str(score)),
        str(doi), ProposalState(str(state)), number, str(agent), float(str(moment)), str(target),
    )  # fmt: skip


# --------------------------------------------------------------------------- for people


def proposals(
    silo_path: str,
    state: ProposalState | None = ProposalState.PROPOSED,
    *,
    record: str = "",
    after: int = 0,
    most: int = 1_000,
) -> list[Proposal]:
    """Return the documents that wait for somebody's decision, the oldest first.

    Args:
        state: Others than these; None for all.
        record: Only those of a record; empty for all.
        after: Only those with a higher number.
        most: Most documents.
    """
    with Documents(silo_path, "read") as documents:
        return documents.listed(state, record, after, most)


def proposal(silo_path: str, number: int) -> Proposal:
    """Return a document.

    Raises:
        ProposalRefused: There is none of that number.
    """
    with Documents(silo_path, "read") as documents:
        return documents.numbered(number)


def counts(silo_path: str, after: int = 0) -> dict[ProposalState, int]:
    """Return how many documents have which state, of those after a number."""
    with Documents(silo_path, "read") as documents:
        return documents.counts(after)


def decided(silo_path: str, most: int) -> list[Proposal]:
    """Return the documents about which people decided, those of the last decisions first.

    Args:
        most: Most documents.
    """
    with Documents(silo_path, "read") as documents:
        return documents.decided(most)


def accept(silo: Silo, numbers: Iterable[int], agent: str) -> list[Proposal]:
    """Attach documents to their records, also rejected ones; return them as they are now.

    Each is attached before the decision is noted, so one that was interrupted is accepted again.

    Raises:
        ProposalRefused: There is no such document, or it cannot be attached; those before it
            are attached.
        CaptureUnreadable: It is not in the archive.
    """

    def attach(one: Proposal) -> None:
        if one.state is not ProposalState.ATTACHED:
            attach_document(silo, one, agent)

    return _decide(silo.path, numbers, ProposalState.ATTACHED, agent, attach)


def reject(silo_path: str, numbers: Iterable[int], agent: str) -> list[Proposal]:
    """Reject documents, which are never proposed again; return them as they are now.

    Raises:
        ProposalRefused: There is no such document, or it is attached; those before it are
            rejected.
    """

    def check(one: Proposal) -> None:
        if one.state is ProposalState.ATTACHED:
            raise ProposalRefused(
                f"document {one.number} is attached to {one.record} already; remove its file there"
            )

    return _decide(silo_path, numbers, ProposalState.REJECTED, agent, check)


def take_back(silo: Silo, numbers: Iterable[int]) -> list[Proposal]:
    """Let documents wait for a decision again; return them as they are now.

    The file of an attached one is removed from its record first.

    Raises:
        ProposalRefused: There is no such document, or it is of a watched target; those before it
            wait again.
    """

    def remove(one: Proposal) -> None:
        _check_own(one)
        if one.state is ProposalState.ATTACHED:
            take_file_back(silo, one.record, OWN, one.url)

    return _decide(silo.path, numbers, ProposalState.PROPOSED, "", remove)


def _check_own(one: Proposal) -> None:
    if one.target:
        raise ProposalRefused(f"document {one.number} is of the watched target {one.target}")


def _decide(
    silo_path: str,
    numbers: Iterable[int],
    state: ProposalState,
    agent: str,
    first: Callable[[Proposal], None],
) -> list[Proposal]:
    done = []
    with Documents(silo_path) as documents:
        known = [documents.numbered(number) for number in dict.fromkeys(numbers)]
        for one in known:
            first(one)
            if one.state is not state:
                documents.decide(one.number, state, agent)
            done.append(documents.numbered(one.number))
    return done


def attach_document(silo: Silo, one: Proposal, agent: str = "") -> None:
    """Attach a document to its record.

    Args:
        one: The document.
        agent: The person who accepted it; empty if the rules did.

    Raises:
        ProposalRefused: The record is gone, or has a working copy that is not current.
        CaptureUnreadable: It is not in the archive.
    """
    _check_own(one)
    captures = Captures(silo.path)
    found = captures.with_body(one.url, one.digest)
    with captures.staged(silo, found) as body:
        put = put_file(silo, wanted_text(one), source_of(one, found.place, agent), body.staged)
    if put not in (Put.DONE, Put.PRESENT):
        raise ProposalRefused(f"{one.url} cannot be attached to {one.record}: {put.value}")


def wanted_text(one: Proposal) -> WantedText:
    """Return a document as what `put_file` adds."""
    return WantedText(one.record, one.seed or one.url, one.url, one.digest, one.mimetype)


def source_of(one: Proposal, place: str, agent: str = "") -> FileSource:
    """Return what the note in the record says of the origin of a document.

    Args:
        one: The document.
        place: Its archive and offset.
        agent: The person who accepted it; empty if the rules did.
    """
    more = {"landing": one.landing, "rule": one.rule, "reason": one.reason.code}
    if agent:
        more |= {"accepted_by": agent, "accepted": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
    return FileSource(OWN, one.timestamp, one.digest, place, agent or AGENT, more)


def first_page(silo: Silo, one: Proposal, width: int = 800) -> bytes:
    """Draw the first page of a document, as a PNG; empty if it has none that can be drawn.

    Args:
        one: The document.
        width: Pixels.

    Raises:
        CaptureUnreadable: It is not in the archive.
        PackageMissing: pypdfium2 is not installed.
        OSError: The disk refused, or no process can be started.

    Cost: 0.2 s, for the process with limits.
    """
    captures = Captures(silo.path)
    with captures.staged(silo, captures.with_body(one.url, one.digest)) as body:
        return picture_of(body.staged.path, width) or b""


# --------------------------------------------------------------------------- what became of a link


def next_step(silo_path: str, identifiers: Sequence[str], url: str) -> str:
    """Say what became of the documents of a link to full texts, and what to do.

    "" if there are none.

    Args:
        identifiers: The records that have the link.
        url: The link.
    """
    try:
        seed = fetched_form(url)
    except BadAddress:
        return ""
    found = [one for name in identifiers for one in proposals(silo_path, None, record=name)]
    # A document that several links lead to is known by the first of them.
    theirs = [one for one in found if (one.seed or one.url) == seed]
    return "; ".join(map(_told, theirs or found))


def _told(one: Proposal) -> str:
    if one.state is ProposalState.ATTACHED:
        return f"nothing to do; document {one.number} is attached to {one.record}"
    if one.state is ProposalState.REJECTED:
        by = f"by {one.agent}" if one.agent else f"by the rules: {one.reason.sentence}"
        return f"nothing to do; document {one.number} was rejected {by.rstrip('.')}"
    why = one.reason.sentence.rstrip(".")
    return f"decide by silo crawl proposals accept DIR {one.number}, or reject ({why})"


NEXT_STEPS = NextSteps(OWN, next_step)
