"""The receipt of a harvest: what was promised, listed and stored (pure).

Every record listed has exactly one outcome, so that the numbers add up:
listed = new + updated + unchanged + deleted + deleted before + duplicates + quarantined
       + unreachable + kept + left out.
An identifier counts once in a list; repetitions are duplicates.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhprotocol import Granularity
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprotocol.queries import with_short_tokens
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.sweep_rules import SweepReceipt
from politeweb.answers import Traffic
from politeweb.errors import shortened
from recordsilo.html_tables import sentences, table
from recordsilo.prompt_errors import frames_and_sentence
from recordsilo.wording import counted


class Outcome(StrEnum):
    """The outcome of a listed record."""

    NEW = "new"  # the Silo did not have it in this format
    UPDATED = "updated"  # its content changed, or it exists again after a deletion
    UNCHANGED = "unchanged"
    DELETED = "deleted"  # listed as deleted, and now marked so
    DELETED_BEFORE = "deleted_before"  # likewise, which changed nothing: mostly, it was already so
    DUPLICATE = "duplicates"  # listed before in the same list
    QUARANTINED = "quarantined"  # cannot be stored; named in the receipt
    UNREACHABLE = "unreachable"  # listed, but not available; named in the receipt
    KEPT = "kept"  # its page is stored as received, but not the record
    LEFT_OUT = "left_out"  # removed from the Silo by a user, or left out by `before_store`


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of records.

    Attributes:
        promised: The repository's completeListSize, or None if it sent none.
        written: Number of records whose content or deletion was written; 0 if nothing changed.
        outcomes: See `Outcome`.
    """

    promised: int | None = None
    written: int = 0
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)

    def __getitem__(self, outcome: Outcome) -> int:
        return self.outcomes.get(outcome, 0)

    @property
    def listed(self) -> int:
        """Return how many records the repository listed, readable or not."""
        return sum(self.outcomes.values())

    @property
    def distinct(self) -> int:
        """Return how many identifiers the repository listed."""
        return self.listed - self[Outcome.DUPLICATE]

    @property
    def stored(self) -> int:
        """Return how many existing records of the list the Silo has now."""
        return self[Outcome.NEW] + self[Outcome.UPDATED] + self[Outcome.UNCHANGED]

    def plus(self, outcomes: Mapping[Outcome, int], written: int) -> "Counts":
        """Return the numbers after a page."""
        summed = Counter(self.outcomes)
        summed.update(outcomes)
        kept = {outcome: number for outcome, number in summed.items() if number}
        return replace(self, written=self.written + written, outcomes=kept)

    def to_json(self) -> dict[str, int | None]:
        """Return the numbers by name."""
        return {
            "promised": self.promised,
            "listed": self.listed,
            **{outcome.value: self[outcome] for outcome in Outcome},
            "stored": self.stored,
            "written": self.written,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, int | None]) -> "Counts":
        """Read the values of `to_json`."""
        outcomes = {outcome: found.get(outcome.value) or 0 for outcome in Outcome}
        return cls(found.get("promised"), found.get("written") or 0, outcomes)


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum; promised is None unless every list had a promise."""
    found = list(counts)
    promises = [one.promised for one in found]
    known = [promise for promise in promises if promise is not None]
    summed = Counts(sum(known) if known and len(known) == len(promises) else None)
    for one in found:
        summed = summed.plus(one.outcomes, one.written)
    return summed


@dataclass(frozen=True, slots=True)
class WindowReceipt:
    """One window of a list.

    Attributes:
        from_: The earliest datestamp requested, as sent; None for no bound.
        until: The latest datestamp, likewise.
        state: ``done``, ``cut`` (replaced by others), ``open`` or ``broken``.
        pages: Number of pages stored.
        counts: An identifier counts in the window that listed it first.
        note: Why it was cut, or broke.
    """

    from_: str | None
    until: str | None
    state: str
    pages: int
    counts: Counts
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the window as in the receipt's ``windows``."""
        return {
            "from": self.from_,
            "until": self.until,
            "state": self.state,
            "pages": self.pages,
            "counts": self.counts.to_json(),
            "note": self.note or None,
        }


@dataclass(frozen=True, slots=True)
class ListReceipt:
    """One list: one format, one set, one selection by date.

    Attributes:
        from_: The earliest datestamp requested, as sent.
        until: The latest datestamp, likewise.
        response_date: The server's clock at the first response.
        ended: Whether the list was followed to its end.
        stopped: Why not, as a sentence.
        quarantined: Records that could not be stored.
        unreachable: Records that are listed but not available.
        settled: The number of identifiers from ListIdentifiers, if it was used because the
            repository's number was missing or wrong; it replaces that number.
        doubt: Why completeness is not proved, though no record is known to be missing; empty
            if it is proved.
        repairs: Repair of bytes, or rung of the ladder → number.
        remarks: Other remarks, which are not losses.
        open_windows: Number of windows being fetched; for progress displays.
        retried: Number of repeated requests; likewise.
        seconds: Working time in all runs, without the pauses between them; None if not
            measured.
        earlier_listed: How many of the records listed are of earlier runs.
        earlier_seconds: How many of the seconds.
        to_store: Number of records that are fetched and not stored yet; for progress displays.
        owed: Whether it has only records that earlier harvests listed but could not get.
    """

    metadata_prefix: str
    set_spec: str | None = None
    from_: str | None = None
    until: str | None = None
    counts: Counts = field(default_factory=Counts)
    response_date: datetime | None = None
    ended: bool = False
    stopped: str = ""
    quarantined: tuple[SetAside, ...] = ()
    unreachable: tuple[SetAside, ...] = ()
    settled: int | None = None
    doubt: str = ""
    windows: tuple[WindowReceipt, ...] = ()
    repairs: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    open_windows: int = 0
    retried: int = 0
    seconds: float | None = None
    earlier_listed: int = 0
    earlier_seconds: float = 0.0
    owed: bool = False
    to_store: int = 0

    @property
    def expected(self) -> int | None:
        """Return the expected number of identifiers, if known."""
        return self.counts.promised if self.settled is None else self.settled

    @property
    def missing(self) -> int:
        """Return how many expected records a finished list did not have."""
        if not self.ended or self.expected is None:
            return 0
        return max(0, self.expected - self.counts.distinct)

    @property
    def complete(self) -> bool:
        """Whether everything promised was listed, so that an update may start from here."""
        return self.ended and not self.missing and not self.doubt

    @property
    def whole(self) -> bool:
        """Whether everything promised was listed, and everything listed was stored."""
        return self.complete and not self.quarantined and not self.unreachable

    @property
    def name(self) -> str:
        """Return the format, and the set if there is one."""
        of_set = f", set {self.set_spec}" if self.set_spec else ""
        return self.metadata_prefix + of_set + (", owed" if self.owed else "")

    def losses(self) -> list[str]:
        """Return the faults as sentences; empty for a whole list."""
        found = []
        if not self.ended:
            found.append(f"{self.name}: stopped before the end of the list: {self.stopped}")
        if self.missing:
            are = "is" if self.missing == 1 else "are"
            found.append(
                f"{self.name}: the repository promised {counted(self.expected or 0, 'record')} and"
                f" listed {self.counts.distinct:,}; {self.missing:,} {are} missing"
            )
        if self.doubt and not self.missing:
            found.append(
                f"{self.name}: nothing shows that the {self.counts.distinct:,} records listed are"
                f" all there are ({self.doubt})"
            )
        found += [f"{self.name}: {one} was set aside" for one in self.quarantined]
        found += [f"{self.name}: {one} was not available" for one in self.unreachable]
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the list as in the receipt's ``lists``."""
        return {
            "metadata_prefix": self.metadata_prefix,
            "set": self.set_spec,
            "from": self.from_,
            "until": self.until,
            "response_date": _text(self.response_date),
            "whole": self.whole,
            "stopped": self.stopped or None,
            "counts": self.counts.to_json(),
            "settled": self.settled,
            "doubt": self.doubt or None,
            "remarks": list(self.remarks),
            "seconds": None if self.seconds is None else round(self.seconds, 3),
            **({"owed": True} if self.owed else {}),
        }


@dataclass(frozen=True, slots=True, repr=False)
class Receipt:
    """A harvest of one or several lists; a Python prompt shows it as `text`.

    Attributes:
        base_url: Without credentials.
        started: Aware UTC.
        ended: Aware UTC.
        lists: In the order harvested, without lists not begun.
        traffic: Requests and bytes.
        interrupted: Whether the user stopped it.
        sweep: The result of the sweep, if there was one.
        sweep_refused: Why the sweep did nothing, as a sentence.
        moved_to: The base URL that the repository redirects to; empty without redirects.
    """

    base_url: str
    started: datetime
    ended: datetime
    lists: tuple[ListReceipt, ...] = ()
    traffic: Traffic = field(default_factory=Traffic)
    interrupted: bool = False
    sweep: SweepReceipt | None = None
    sweep_refused: str = ""
    moved_to: str = ""

    @property
    def counts(self) -> Counts:
        """Return the numbers of all lists together."""
        return total(one.counts for one in self.lists)

    @property
    def repairs(self) -> Mapping[str, int]:
        """Return the numbers of repairs in all lists, by kind."""
        return dict(sum((Counter(one.repairs) for one in self.lists), Counter()))

    @property
    def seconds(self) -> float:
        """Return the working time of the lists in this run."""
        known = [one.seconds - one.earlier_seconds for one in self.lists if one.seconds is not None]
        return sum(known) if known else (self.ended - self.started).total_seconds()

    @property
    def whole(self) -> bool:
        """Whether the Silo now has everything promised."""
        return not self.interrupted and all(one.whole for one in self.lists)

    @property
    def remarks(self) -> list[str]:
        """Return other remarks as sentences."""
        said = [f"{one.name}: {remark}" for one in self.lists for remark in one.remarks]
        if self.moved_to:
            said.append(f"The repository redirects to {self.moved_to}; see --moved.")
        return said

    @property
    def losses(self) -> list[str]:
        """Return the faults as sentences; empty if the harvest is whole."""
        found = [sentence for one in self.lists for sentence in one.losses()]
        return [*found, f"sweep: {self.sweep_refused}"] if self.sweep_refused else found

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as JSON values.

        ``set``, ``from`` and ``until`` are those of the lists if all agree; else None, and
        ``lists`` has them.
        """
        return {
            "base_url": self.base_url,
            **({"moved_to": self.moved_to} if self.moved_to else {}),
            "metadata_prefix": list(dict.fromkeys(one.metadata_prefix for one in self.lists)),
            "set": _common(one.set_spec for one in self.lists),
            "from": _common(one.from_ for one in self.lists),
            "until": _common(one.until for one in self.lists),
            "started": _text(self.started),
            "ended": _text(self.ended),
            "whole": self.whole,
            "counts": self.counts.to_json(),
            "quarantined": [_named(one) for each in self.lists for one in each.quarantined],
            "unreachable": [_named(one) for each in self.lists for one in each.unreachable],
            "windows": [
                {"metadata_prefix": each.metadata_prefix, "set": each.set_spec, **one.to_json()}
                for each in self.lists
                for one in each.windows
            ],
            "repairs": dict(self.repairs),
            "requests": {
                "sent": self.traffic.sent,
                "retried": self.traffic.retried,
                "bytes": self.traffic.received,
            },
            "lists": [one.to_json() for one in self.lists],
            **({"sweep": self.sweep.to_json()} if self.sweep is not None else {}),
            **({"sweep_refused": self.sweep_refused} if self.sweep_refused else {}),
        }

    def text(self) -> str:
        """Return the receipt as text: a table of the lists, then remarks and faults."""
        return "\n".join(
            [
                f"{self.base_url}: {self._how_many()}",
                *_table(self.lists),
                *self.remarks,
                *([self.sweep.text()] if self.sweep is not None else []),
                *self._remarks(),
            ]
        )

    __repr__ = text

    def _repr_html_(self) -> str:
        rare, rows = _rows(self.lists)
        columns = _columns(rare)
        body = [(name, *(counts[one] for one in columns)) for name, counts in rows]
        head = ["", *(one.replace("_", " ") for one in columns)]
        swept = [self.sweep.text()] if self.sweep is not None else []
        told = [one.strip() for one in [*self.remarks, *swept, *self._remarks()]]
        caption = f"{self.base_url}: {self._how_many()}"
        return table(body, head=head, caption=caption) + sentences(told)

    def _how_many(self) -> str:
        listed = f"{counted(self.counts.listed, 'record')} listed"
        lists = len({one.name for one in self.lists})
        apart = f", counted in each of {lists:,} lists" if lists > 1 else ""
        if not any(one.earlier_seconds for one in self.lists):
            return f"{listed} in {self.seconds:,.1f} s{apart}"
        now = self.counts.listed - sum(one.earlier_listed for one in self.lists)
        return f"{listed}, {now:,} of them in this run of {self.seconds:,.1f} s{apart}"

    def _remarks(self) -> list[str]:
        if self.losses:
            return ["Not whole:", *(f"  {sentence}" for sentence in self.losses)]
        if self.interrupted:
            return ["Not whole: interrupted."]
        if not self.counts.listed:
            gone = [one.set_spec for one in self.lists if _SET_NOT_LISTED in one.repairs]
            sets = ", ".join(dict.fromkeys(filter(None, gone)))
            return [
                f"Nothing listed: the repository does not have the set {sets} any more."
                if sets
                else "Nothing new."
            ]
        if self.counts[Outcome.KEPT]:
            return [
                "Whole: every page is in harvests/; `silo harvest --replay` makes records of them."
            ]
        if not self.counts.written:
            return ["Nothing changed: everything listed is in the Silo already."]
        return ["Whole: everything listed is in the Silo."]


_SET_NOT_LISTED = "set is not listed"
"""A repair; see `oaipmhclient.walk.completeness`."""
_Numbers = dict[str, int | None]
_COLUMNS = ("listed", "new", "updated", "unchanged", "deleted", "stored")
_RARE_COLUMNS = ("deleted_before", "duplicates", "quarantined", "unreachable", "kept", "left_out")


def _rows(lists: Iterable[ListReceipt]) -> tuple[list[str], list[tuple[str, _Numbers]]]:
    """The rare columns that are needed, and the numbers of each list by its name."""
    by_name: dict[str, list[Counts]] = {}  # a harvest that was taken over, and its update
    for one in lists:
        by_name.setdefault(one.name, []).append(one.counts)
    rows = [(name, total(counts).to_json()) for name, counts in by_name.items()]
    return [name for name in _RARE_COLUMNS if any(counts[name] for _, counts in rows)], rows


def _columns(rare: Iterable[str]) -> list[str]:
    return [*_COLUMNS[:-1], *rare, _COLUMNS[-1]]


def _table(lists: Iterable[ListReceipt]) -> list[str]:
    rare, rows = _rows(lists)
    columns = _columns(rare)
    width = max([len(name) for name, _ in rows], default=0)
    widths = {name: max(12, len(name) + 2) for name in columns}
    heads = "".join(f"{name.replace('_', ' '):>{space}}" for name, space in widths.items())
    lines = [" " * (width + 2) + heads]
    for name, counts in rows:
        cells = (f"{counts[column]:>{space},}" for column, space in widths.items())
        lines.append(f"  {name:<{width}}" + "".join(cells))
    return lines


def _named(one: SetAside) -> dict[str, str]:
    return {"identifier": one.identifier, "reason": one.reason, "where": one.where}


def _common(values: Iterable[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else format_datestamp(moment, Granularity.SECOND)


class HarvestStopped(ScraperError):
    """A list broke off. Pages stored before are kept.

    Attributes:
        request: The request that failed, as a URL's query.
        receipt: The receipt until then.
        cause: The failure.
        formats: The repository's formats, if it does not have the one that was requested.
    """

    formats: Sequence[str] = ()

    def __init__(self, request: str, cause: Exception, receipt: Receipt) -> None:
        self.request = request
        self.cause = cause
        self.receipt = receipt
        at = "" if request in str(cause) else f" at {shortened(with_short_tokens(request), 300)}"
        super().__init__(f"the harvest stopped{at}: {with_short_tokens(str(cause))}")

    def __str__(self) -> str:
        told = super().__str__()
        return f"{told}; its formats: {', '.join(self.formats)}" if self.formats else told

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show: the user's lines, and the sentence."""
        return frames_and_sentence(self)


class HarvestInterrupted(KeyboardInterrupt):
    """Ctrl-C, handled between two pages. A KeyboardInterrupt, so that nothing catches it.

    Attributes:
        receipt: The receipt until then.
    """

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        super().__init__("interrupted between two pages; everything stored before is kept")
