"""Jobs, lists and windows as values, and as the columns the journal keeps them in (pure)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhclient.walk.values import ListJob, Position
from oaipmhclient.walk.windows import Window
from oaipmhscraper.receipt import Counts


@dataclass(frozen=True, slots=True)
class Job:
    """An open harvest.

    Attributes:
        id: When it began, UTC: ``20261121T211331.123456Z``.
        base_url: Of the repository, without credentials.
        request: What was asked for, as JSON; the same request goes on with it.
        said: How its last run ended, in a sentence; empty if it was killed.
        traffic: Requests sent, retried, and bytes received, of earlier runs.
    """

    id: str
    base_url: str
    request: str
    said: str = ""
    traffic: tuple[int, int, int] = (0, 0, 0)

    @property
    def started(self) -> datetime:
        """When it began, aware UTC."""
        return datetime.strptime(self.id, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListFacts:
    """What is known of a list beside its windows.

    Attributes:
        promised: The latest completeListSize for all of it.
        response_date: The repository's clock at the first response.
        begun: Whether a page of it was stored.
        single: Whether it is not to be cut, since windows do not work there.
        settled: How many identifiers ListIdentifiers gave, where that was asked.
        repairs: How often which repair and which rung was needed.
        remarks: Sentences for the receipt.
        seconds: How long it was worked at, in all runs.
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
"""A window's mode: by ListRecords."""
IDENTIFIERS = "identifiers"
"""By ListIdentifiers, then record by record, since its list cannot be had."""
COUNT = "count"
"""Likewise, over the whole list, to know that everything came."""
AGAIN = "again"
"""Record by record, what was set aside or could not be had."""


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A window of a list.

    Attributes:
        state: ``open``, ``done``, ``cut`` (others took its place) or ``broken``.
        window: Its bounds.
        mode: How it is fetched: `LIST`, `IDENTIFIERS`, `COUNT` or `AGAIN`.
        relists: Whether some of it was listed before.
        alone: Whether it came of a window that broke: it is not joined with others.
        restarts: How often it was begun again without getting further.
        note: Why it was cut, or broke.
        pages: Pages stored.
        position: Where the walk stands; None at its start.
        counts: What it added to the list's numbers.
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
    position: Position | None = None
    counts: Counts = field(default_factory=Counts)


# --------------------------------------------------------------------------- as columns


def job_id(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%S.%fZ}"


def job_row(row: Sequence[Any]) -> Job:
    identifier, request, base_url, said, traffic = row
    sent, retried, received = json.loads(traffic)
    return Job(identifier, base_url, request, said, (sent, retried, received))


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
        position=None if position is None else Position.from_json(json.loads(position)),
        counts=Counts.from_json(json.loads(counts)),
        **known,
    )


def loss_fields(one: SetAside) -> tuple[str, str, str]:
    return storable(one.identifier), storable(one.reason), storable(one.where)


def storable(text: str) -> str:
    """A text as SQLite can hold it: without lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
