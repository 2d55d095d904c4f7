"""Jobs, lists and windows as values, and as columns of the journal (pure)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhclient.walk.values import ListJob, WindowPosition
from oaipmhclient.walk.windows import Window
from oaipmhscraper.receipt import Counts


@dataclass(frozen=True, slots=True)
class OpenHarvest:
    """An open harvest.

    Attributes:
        id: When it began, UTC: ``20261121T211331.123456Z``.
        base_url: Of the repository, without credentials.
        request: The request as JSON; the same request resumes the job.
        said: How its last run ended, as a sentence; empty if it was killed.
        traffic: Requests sent, retried, and bytes received, of earlier runs.
    """

    id: str
    base_url: str
    request: str
    said: str = ""
    traffic: tuple[int, int, int] = (0, 0, 0)

    @property
    def started(self) -> datetime:
        """Return when it began, aware UTC."""
        return datetime.fromisoformat(self.id)


@dataclass(frozen=True, slots=True)
class ListFacts:
    """The facts of a list, except its windows.

    Attributes:
        promised: The latest completeListSize for all of it.
        response_date: The repository's clock at the first response.
        begun: Whether a page of it was stored.
        single: Whether it must not be split, because windows do not work.
        settled: The number of identifiers from ListIdentifiers, if it was used.
        repairs: Repair or rung → number.
        remarks: Sentences for the receipt.
        seconds: Working time, in all runs.
    """

    promised: int | None = None
    response_date: datetime | None = None
    begun: bool = False
    single: bool = False
    settled: int | None = None
    repairs: tuple[tuple[str, int], ...] = ()
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ListRow:
    """A list of a job."""

    id: int
    job: ListJob
    facts: ListFacts


LIST = "list"
"""Mode of a window: by ListRecords."""
IDENTIFIERS = "identifiers"
"""By ListIdentifiers, then record by record, because its list is not available."""
IDENTIFIERS_FIRST = "identifiers first"
"""The same, because the user wants it or ListRecords was of no use; its list was not tried."""
SINGLY = frozenset({IDENTIFIERS, IDENTIFIERS_FIRST})
"""Modes whose requests for records have no order."""
COUNT = "count"
"""Likewise for the whole list, to check that it is complete."""
AGAIN = "again"
"""Record by record, for records that were set aside or not available."""

DENIED = "denied"
"""A few requests, to find out whether the records of long windows are denied."""


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A window of a list.

    Attributes:
        state: ``open``, ``done``, ``cut`` (replaced by others) or ``broken``.
        window: Its bounds.
        mode: How it is fetched: `LIST`, `IDENTIFIERS`, `IDENTIFIERS_FIRST`, `COUNT`,
            `AGAIN` or `DENIED`.
        relists: Whether a part of it was listed before.
        alone: Whether it is a part of a broken window, and is not joined with others.
        restarts: How often it was restarted without progress.
        note: Why it was cut, or broke.
        pages: Number of pages stored.
        position: The position of the walk; None at its start.
        counts: Its contribution to the list's numbers.
    """

    id: int
    state: str = "open"
    window: Window = field(default_factory=Window)
    mode: str = LIST
    relists: bool = False
    alone: bool = False
    restarts: int = 0
    note: str = ""
    pages: int = 0
    position: WindowPosition | None = None
    counts: Counts = field(default_factory=Counts)


# --------------------------------------------------------------------------- as columns


def job_id(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%S.%fZ}"


def job_row(row: Sequence[Any]) -> OpenHarvest:
    identifier, request, base_url, said, traffic = row
    sent, retried, received = json.loads(traffic)
    return OpenHarvest(identifier, base_url, request, said, (sent, retried, received))


def facts_text(facts: ListFacts) -> str:
    date = facts.response_date
    found = {name: getattr(facts, name) for name in facts.__slots__}
    return json.dumps({**found, "response_date": date and date.isoformat()})


def facts_of(text: str) -> ListFacts:
    found = json.loads(text)
    found.pop("broke", None)  # of earlier versions
    date = found["response_date"]
    return ListFacts(
        **{
            **found,
            "response_date": date and datetime.fromisoformat(date),
            "repairs": tuple((kind, number) for kind, number in found["repairs"]),
            "remarks": tuple(found["remarks"]),
        }
    )


def window_values(row: WindowRow) -> tuple[Any, ...]:
    what = {
        "from": row.window.from_,
        "until": row.window.until,
        "mode": row.mode,
        "relists": row.relists,
        "alone": row.alone,
        "restarts": row.restarts,
        "note": row.note,
        "pages": row.pages,
    }
    position = None if row.position is None else json.dumps(row.position.to_json())
    return row.state, json.dumps(what), position, json.dumps(row.counts.to_json())


def window_row(row: Sequence[Any]) -> WindowRow:
    number, state, what, position, counts = row
    known = json.loads(what)
    return WindowRow(
        number,
        state,
        Window(known.pop("from"), known.pop("until")),
        position=None if position is None else WindowPosition.from_json(json.loads(position)),
        counts=Counts.from_json(json.loads(counts)),
        **known,
    )


def loss_fields(one: SetAside) -> tuple[str, str, str]:
    return storable(one.identifier), storable(one.reason), storable(one.where)


def storable(text: str) -> str:
    """Return a text that SQLite can store, without lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
