"""Harvests in words, for their own page, the home page and the directory of Silos."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from oaipmhscraper.harvests.past_harvests import (
    INTERRUPTED,
    NOT_BEGUN,
    PastHarvest,
    harvests_of,
)
from oaipmhscraper.receipt import Counts, ListReceipt, total
from silowork.values import Job, State
from webui import urls
from webui.charts.pictures import BarFigures, Picture, Series, columns
from webui.job_view import JobOutcome, SetName
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

KINDS = ("new", "updated", "deleted")


@dataclass(frozen=True, slots=True)
class HarvestLine:
    """One harvest.

    Attributes:
        id: Its start time in UTC, which names its receipt.
        started: ISO 8601; empty if neither the receipt nor the id has it.
        what: Its formats and its set.
        state: `PastHarvest.state`.
        job_url: The job that runs it; empty if none does.
        outcome: How it ended, as for a job.
        missing: Phrases that say what is missing, or of a running harvest how far it is.
        counts: Numbers of entries of its lists: ``listed``, ``new``, ``updated``, ``deleted`` …
            A record that came in three formats is counted three times.
        records: Numbers of records, each counted once: `records_of`.
        files: Number of its WARC files.
        elsewhere: Those of them that are in an object store: name → address.
    """

    id: str
    started: str
    what: str
    state: str
    outcome: JobOutcome
    missing: tuple[str, ...]
    counts: Mapping[str, int | None]
    records: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    job_url: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON."""
        return asdict(self)


def harvest_lines(
    silo_path: str, newest: int, set_name: SetName = str, job_url: str = ""
) -> tuple[HarvestLine, ...]:
    """The newest harvests, the newest first; arguments as `line_of`.

    Raises:
        JournalUnreadable: The journal of open harvests is damaged.

    Cost: reads as many receipts as lines are returned, whatever the size of the Silo.
    """
    found = reversed([*harvests_of(silo_path, newest=newest)])
    return tuple(line_of(one, set_name, job_url) for one in found)


def url_of_running(jobs: Iterable[Job]) -> str:
    """The page of the job that harvests; empty if there is none, or several.

    Args:
        jobs: Those that wait or run.
    """
    urls_of = [
        urls.job(one.job_id)
        for one in jobs
        if one.kind in {"harvest", "update"} and one.state is State.RUNNING
    ]
    return urls_of[0] if len(urls_of) == 1 else ""


def harvest_history(lines: Sequence[HarvestLine]) -> Picture:
    """New, updated and deleted records of each harvest, the oldest first."""
    oldest = [*reversed(lines)]
    labels = _labels([one.started or one.id for one in oldest])
    return columns(
        _("Records in each harvest"),
        _("Harvest"),
        [
            Series(_("New")),
            Series(_("Updated"), "second"),
            Series(_("Deleted"), "bad"),
        ],
        [
            BarFigures(label, tuple(one.records.get(kind, 0) for kind in KINDS))
            for label, one in zip(labels, oldest, strict=True)
        ],
    )


def _labels(moments: Sequence[str]) -> list[str]:
    """The days of harvests; with the time where a day has several."""
    of_day = Counter(moment[:10] for moment in moments)
    return [
        moment[:10] if of_day[moment[:10]] == 1 else moment[:16].replace("T", " ")
        for moment in moments
    ]


def records_of(one: PastHarvest) -> dict[str, int]:
    """Count the records of a harvest by `KINDS`, each once in whatever formats it came.

    The format with the most is counted: of every record there is an ``oai_dc``.

    Source: OAI-PMH 2.0, section 2.5, "metadataPrefix and Metadata Schema".
    """
    of_format: dict[str, list[Counts]] = {}
    for each in one.so_far:
        of_format.setdefault(each.metadata_prefix, []).append(each.counts)
    for told in () if one.so_far else one.receipt.get("lists") or ():
        counts = Counts.from_json(told.get("counts") or {})
        of_format.setdefault(str(told.get("metadata_prefix")), []).append(counts)
    totals = [total(counts).to_json() for counts in of_format.values()] or [dict(one.counts)]
    return {kind: max(each.get(kind) or 0 for each in totals) for kind in KINDS}


def line_of(one: PastHarvest, set_name: SetName = str, job_url: str = "") -> HarvestLine:
    """A harvest in words.

    Args:
        set_name: Returns what the set of a setSpec is called.
        job_url: The page of the job that runs it, if it is running.
    """
    spec = str(one.receipt.get("set") or "")
    outcome = {
        "whole": JobOutcome("done", _("Whole")),
        "incomplete": JobOutcome("partial", _("Not whole")),
        "running": JobOutcome("running", _("Running")),
        "open": JobOutcome("failed", _("Interrupted")),
    }[one.state]
    return HarvestLine(
        id=one.id,
        started=str(one.receipt.get("started") or _moment(one.id)),
        what=one.what.replace(f"set {spec}", f"set {set_name(spec)}") if spec else one.what,
        state=one.state,
        outcome=outcome,
        missing=tuple(_missing(one)),
        counts=dict(one.counts),
        records=records_of(one),
        files=len(one.files),
        elsewhere={file.file: file.url for file in one.elsewhere},
        job_url=job_url if one.state == "running" else "",
    )


def _moment(harvest_id: str) -> str:
    try:
        moment = datetime.strptime(harvest_id, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return ""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _missing(one: PastHarvest) -> list[str]:
    if one.state == "running":
        return [_so_far(each) for each in one.so_far]
    if one.is_open or one.said:
        return [one.said] if one.said not in {"", INTERRUPTED, NOT_BEGUN} else []
    phrases = {
        "stopped": lambda n: counted("{n} list stopped early", "{n} lists stopped early", n),
        "missing": lambda n: counted("{n} record missing", "{n} records missing", n),
        "uncertain": lambda n: counted(
            "{n} list may be incomplete", "{n} lists may be incomplete", n
        ),
        "quarantined": lambda n: counted("{n} record set aside", "{n} records set aside", n),
        "unreachable": lambda n: counted(
            "{n} record could not be retrieved", "{n} records could not be retrieved", n
        ),
    }
    return [phrases[kind](number) for kind, number in one.shortfalls.items() if number]


def _so_far(one: ListReceipt) -> str:
    listed = numeral(one.counts.distinct)
    if one.expected is None:
        return _("{list}: {n} listed", list=one.name, n=listed)
    return _("{list}: {n} of {all} listed", list=one.name, n=listed, all=numeral(one.expected))
