"""The home page: the collection, pending decisions, the latest harvests and activity.

Nothing is counted record by record: counts come from the index and are cached until it
changes, harvests come from the newest receipts, jobs from their ledger.
"""

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from oaipmhscraper.errors import ScraperError
from recordsilo import Silo
from recordsilo.formats.quality import UNREADABLE
from recordsilo.index import FacetValue, PageRequest, SearchFilters
from recordsilo.index.facets import labels_of
from silocuration.activity import ActivityFilter, activity
from silocuration.upstream import Undecided, undecided
from silowork.errors import JobsError
from silowork.values import Job, State
from webui import urls
from webui.activity import ActivityEntry, entries, with_titles
from webui.bulk.jobs import title_of_edit
from webui.collections import cards
from webui.contributed import HomePart, contributed
from webui.crawling import opening as crawled
from webui.found_duplicates import last_found
from webui.harvest_lines import HarvestLine, harvest_history, harvest_lines, url_of_running
from webui.job_view import JobOutcome, has_only_skipped, may_steer
from webui.overview import CHARTED, NEWEST, RecordLink, counts_json, facet_charts, years_chart
from webui.people.roles import Role
from webui.rendering import View
from webui.search.request import YEAR
from webui.site import Call, Site
from webui.timed_cache import TimedCache
from webui.words.field_labels import field_label
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

logger = logging.getLogger("webui")
HARVESTS, HISTORY, JOBS, RECENT, FINDINGS, COLLECTIONS = 3, 12, 50, 8, 5, 8
"""Maximum numbers of harvests listed and drawn, of jobs, entries and findings read, and of
collections shown."""
LOG_LINES = 1000
"""Number of lines of the activity log that are read for the recent entries."""
LOOKED_AT = 50
"""Maximum number of records whose manifests are read to count source changes."""
_SIGN_IN = frozenset({"sign in", "sign out", "sign-in failed", "change password"})


@dataclass(frozen=True, slots=True)
class RecordNumbers:
    """Numbers of the Silo's records, in all and by value, and the newest ones.

    Attributes:
        facets: The counts of `CHARTED`, and of years.
    """

    records: int = 0
    deleted: int = 0
    curated: int = 0
    with_findings: int = 0
    unreadable: int = 0
    formats: tuple[tuple[str, int], ...] = ()
    findings: tuple[tuple[str, int], ...] = ()
    with_file: int = 0
    facets: Mapping[str, Sequence[FacetValue]] = field(default_factory=dict)
    newest: tuple[RecordLink, ...] = ()

    @property
    def there(self) -> int:
        """The records that the source has not deleted: only they can have findings."""
        return self.records - self.deleted


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that awaits a decision.

    Attributes:
        kind: A name for programs.
        number: How many; None if not counted yet.
        outcome: The number in words, and how bad it is.
        next_step: The button's text, if this is the next step.
    """

    kind: str
    number: int | None
    outcome: JobOutcome
    url: str
    next_step: str = ""


_COUNTS: TimedCache[RecordNumbers] = TimedCache()
_UNDECIDED: TimedCache[Undecided] = TimedCache()


def show(call: Call) -> View:
    """Show the home page; for an empty Silo, how to start."""
    site = call.site
    counts = _counts(site.silo)
    harvests, fault = _harvests(site)
    jobs, waiting = _jobs(call)
    if counts.records:
        waiting = [*_unreadable(counts), *waiting]
        waiting += [*_source_changes(site.silo), *_documents(site.path)]
        waiting += _quality(site.silo, counts)
    recent: list[ActivityEntry] = []
    if call.user.may(Role.CURATOR):
        try:
            recent = _recent(call, jobs)
        except OSError:
            logger.exception("activity")
            said = _("The activity log cannot be read; see the log of the server.")
            waiting.append(Waiting("activity", None, JobOutcome("failed", said), urls.activity()))
    base_url = str(site.silo.state.get("base_oai_url") or "")
    labels = labels_of("finding")
    findings = [
        {"code": code, "means": _(labels.get(code, code)), "count": number,
         "url": urls.search([("finding", code)])}
        for code, number in counts.findings
    ]  # fmt: skip
    told: dict[str, Any] = {"base_url": base_url, "findings": findings}
    collections = cards(site.silo) if counts.records else ()
    parts = list(_parts(site)) if counts.records else []
    data = told | {
        "counts": counts,
        "years": years_chart(counts.facets.get(YEAR, ())),
        "charts_of": facet_charts(site, counts.facets),
        "parts_of_packages": parts,
        "collections": collections[:COLLECTIONS],
        "share": _share(counts),
        "harvests": harvests[:HARVESTS],
        "history": harvest_history(harvests) if len(harvests) > 1 else None,
        "fault": JobOutcome("failed", fault) if fault else None,
        "waiting": waiting,
        "next_step": next((one for one in waiting if one.next_step), None),
        "recent": recent,
        "field_label": field_label,
        "may_harvest": call.user.may(Role.MANAGER),
        "may_look_back": call.user.may(Role.CURATOR),
    }
    twin = told | {
        "name": site.name,
        "records": counts.records,
        "deleted": counts.deleted,
        "curated": counts.curated,
        "with_findings": counts.with_findings,
        "formats": dict(counts.formats),
        "collection": counts_json(counts.facets),
        "collections": [one.to_json() for one in collections],
        "newest": [asdict(one) for one in counts.newest],
        "of_packages": {name: part.told for name, part in parts},
        "harvests": [one.to_json() for one in harvests],
        "waiting": [asdict(one) for one in waiting],
        "activity": [one.to_json() for one in recent],
    }
    summary = counted("{n} record", "{n} records", counts.records) if counts.records else ""
    return View("home.mako", data, twin, urls.home(), summary=summary)


def _parts(site: Site) -> Iterator[tuple[str, HomePart]]:
    """What packages show; those that fail are logged and left out."""
    for pages in contributed():
        try:
            part = pages.on_home(site) if pages.on_home else None
        except Exception:
            logger.warning("the part of %s of the home page failed", pages.name, exc_info=True)
            continue
        if part:
            yield pages.name, part


def _counts(silo: Silo) -> RecordNumbers:
    silo.count()  # looks for what was mended since
    return _COUNTS.get(silo, "counts", lambda: _counted(silo), silo.index_stamp())


def _counted(silo: Silo) -> RecordNumbers:
    records = len(silo)
    if not records:
        return RecordNumbers()
    codes = labels_of("finding")
    few = PageRequest(limit=1, sort="newest", facet_limit=len(codes), whole_facets=(YEAR,))
    wanted = ["format", "finding", "has_file", YEAR, *CHARTED]
    facets = silo.search("", None, wanted, few).facets
    there = SearchFilters({"deleted": False})
    newest = silo.search("", there, [], PageRequest(limit=NEWEST, sort="newest")).rows
    found = silo.search("", SearchFilters(values={"finding": [*codes]}), [], few).total
    return RecordNumbers(
        records=records,
        deleted=silo.count(deleted=True),
        curated=silo.count(curated=True),
        with_findings=found,
        unreadable=next((one.count for one in facets["finding"] if one.value == UNREADABLE), 0),
        formats=tuple((one.value, one.count) for one in facets["format"]),
        findings=tuple((one.value, one.count) for one in facets["finding"][:FINDINGS]),
        with_file=next((one.count for one in facets["has_file"] if one.value == "true"), 0),
        facets=facets,
        newest=tuple(map(RecordLink.of, newest)),
    )


def _share(counts: RecordNumbers) -> str:
    """Percent of the records that are not deleted without a finding; 100 only if all are."""
    whole = counts.there - counts.with_findings
    tenths = whole * 1000 // max(1, counts.there)
    return numeral(tenths / 10)


def _harvests(site: Site) -> tuple[tuple[HarvestLine, ...], str]:
    """The last harvests, or the reason why they cannot be listed."""
    try:
        job_url = url_of_running(site.jobs.ledger.active())
        return harvest_lines(site.silo.path, HISTORY, site.set_name, job_url), ""
    except (ScraperError, JobsError, OSError):
        logger.exception("harvests")
        return (), _("The harvests cannot be listed; see the log of the server.")


def _jobs(call: Call) -> tuple[dict[str, Job], list[Waiting]]:
    """The newest jobs by id, and the failed ones that were neither repeated nor dismissed."""
    try:
        jobs = call.site.jobs.ledger.jobs(JOBS)
    except JobsError:
        logger.exception("jobs")
        said = _("The list of jobs cannot be read; see the log of the server.")
        return {}, [Waiting("jobs", None, JobOutcome("failed", said), urls.jobs())]
    settled: set[tuple[str, str]] = set()
    failed = []
    for job in jobs:
        named = (job.kind, job.title)
        if job.state is State.FAILED and named not in settled and _is_open(job):
            failed.append(job)
        if job.state in {State.FAILED, State.DONE}:
            settled.add(named)
    if not failed:
        return {job.job_id: job for job in jobs}, []
    said = counted("{n} failed job", "{n} failed jobs", len(failed))
    url = urls.job(failed[0].job_id) if len(failed) == 1 else urls.jobs()
    waiting = Waiting("failed_jobs", len(failed), JobOutcome("failed", said), url)
    if any(may_steer(call.user, job) for job in failed):
        look = _("Look at the failed job") if len(failed) == 1 else _("Look at the failed jobs")
        waiting = replace(waiting, next_step=look)
    return {job.job_id: job for job in jobs}, [waiting]


def _is_open(job: Job) -> bool:
    """Whether something is to be done about a failed job."""
    return not (job.is_dismissed or has_only_skipped(job))


def _source_changes(silo: Silo) -> Iterator[Waiting]:
    found = _UNDECIDED.get(silo, "", lambda: undecided(silo, LOOKED_AT), silo.index_stamp())
    if found.changes or not found.is_all:
        said = _more(
            counted("{n} source change", "{n} source changes", found.changes), found.is_all
        )
        url = urls.upstream_list()
        yield Waiting(
            "source_changes",
            found.changes,
            JobOutcome("partial", said),
            url,
            _("Review the source changes"),
        )
    if found.proposals:
        said = _more(
            counted("{n} proposal to accept", "{n} proposals to accept", found.proposals),
            found.is_all,
        )
        url = urls.with_query(urls.upstream_list(), {"kind": "proposed"})
        yield Waiting(
            "proposals",
            found.proposals,
            JobOutcome("partial", said),
            url,
            _("Review the proposals"),
        )


def _documents(silo_path: str) -> Iterator[Waiting]:
    number = crawled.documents_waiting(silo_path)
    if number:
        said = counted("{n} proposed document", "{n} proposed documents", number)
        url = crawled.proposals()
        look = _("Review the proposed documents")
        yield Waiting("documents", number, JobOutcome("partial", said), url, look)


def _more(said: str, is_all: bool) -> str:
    return said if is_all else _("{said} or more", said=said)


def _unreadable(counts: RecordNumbers) -> Iterator[Waiting]:
    if counts.unreadable:
        said = counted("{n} record cannot be read", "{n} records cannot be read", counts.unreadable)
        url = urls.search([("finding", UNREADABLE)])
        yield Waiting("unreadable", counts.unreadable, JobOutcome("failed", said), url)


def _quality(silo: Silo, counts: RecordNumbers) -> Iterator[Waiting]:
    if counts.with_findings:
        said = counted(
            "{n} record with findings", "{n} records with findings", counts.with_findings
        )
        yield Waiting("findings", counts.with_findings, JobOutcome("partial", said), urls.quality())
    kept = last_found(silo)
    groups = kept.to_decide if kept is not None else None
    if groups is None:
        said = _("Probable duplicates (not counted yet)")
        yield Waiting("duplicates", None, JobOutcome("partial", said), urls.duplicates())
    elif groups:
        said = counted(
            "{n} group of probable duplicates", "{n} groups of probable duplicates", len(groups)
        )
        yield Waiting("duplicates", len(groups), JobOutcome("partial", said), urls.duplicates())


# --------------------------------------------------------------------------- activity


def _recent(call: Call, jobs: Mapping[str, Job]) -> list[ActivityEntry]:
    """The last entries of the log, the newest first; one for all lines of a job."""
    lines = itertools.islice(activity(call.site.silo.path, ActivityFilter()), LOG_LINES)
    shown = [one for _place, one in lines if one.action not in _SIGN_IN]
    title_of = partial(title_of_edit, call.site.silo.path)
    found = entries(shown, jobs, title_of, is_cut=len(shown) == LOG_LINES)[:RECENT]
    return with_titles(call.site.silo, found, call.site.set_name)
