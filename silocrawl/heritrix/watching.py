"""How Heritrix and its jobs are: asked once, and judged by what is expected of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from silocrawl.conditions import Condition, Word, ago, good
from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.engines import EngineSettings, connected
from silocrawl.heritrix.errors import HeritrixJobNotFound
from silocrawl.heritrix.states import HeritrixEngine, HeritrixJob, HeritrixState
from silocrawl.moments import logged, moment_of_checkpoint

MOST_JOBS = 50
"""That are at work and asked for their figures."""
STUCK_AFTER = timedelta(minutes=15)
SECONDS_OF_AN_ANSWER = 3.0


@dataclass(frozen=True, slots=True)
class JobSeen:
    """A job as it was seen.

    Attributes:
        name: Its name.
        job: What Heritrix says of it; None if it has none of that name.
        checkpoint: The name of its newest checkpoint; empty for none.
    """

    name: str
    job: HeritrixJob | None
    checkpoint: str = ""


def job_seen(client: Heritrix, name: str) -> JobSeen:
    """Ask for a job.

    Raises:
        HeritrixError: There is no answer.
    """
    try:
        return JobSeen(name, client.job(name), client.newest_checkpoint(name))
    except HeritrixJobNotFound:
        return JobSeen(name, None)


def look_at(settings: EngineSettings, now: datetime) -> list[Condition]:
    """Ask a Heritrix how it is and what its jobs do.

    Raises:
        HeritrixError: There is no answer.
    """
    client = connected(settings, SECONDS_OF_AN_ANSWER)
    engine = client.engine()
    active = [name for name, said in engine.jobs if said.startswith("Active")]
    names = list(dict.fromkeys([*settings.jobs, *active]))[:MOST_JOBS]
    return list(conditions_of(settings, engine, [job_seen(client, one) for one in names], now))


def conditions_of(
    settings: EngineSettings, engine: HeritrixEngine, jobs: list[JobSeen], now: datetime
) -> Iterator[Condition]:
    """Judge a Heritrix, and those of its jobs that are at work or are to be (pure)."""
    heap = f"{engine.heap_used / 1e6:,.0f} of {engine.heap_most / 1e6:,.0f} MB of memory"
    said = f"{engine.version}, {len(engine.jobs):,} jobs, {heap}"
    if engine.heap_most and engine.heap_used > 0.97 * engine.heap_most:
        advice = "give it more memory (-Xmx in JAVA_OPTS), or fewer threads"
        yield Condition("heritrix", Word.WARNING, said, advice, settings.name)
    else:
        yield good("heritrix", said, settings.name)
    yield from (_of_job(settings, one, now) for one in jobs)


def _of_job(settings: EngineSettings, one: JobSeen, now: datetime) -> Condition:
    name, job = f"{settings.name}/{one.name}", one.job
    if job is None:
        advice = f"silo crawl heritrix create {one.name}, or take it out of crawling/heritrix.toml"
        return Condition("job", Word.ALERT, "there is no such job", advice, name)
    age = _age(one.checkpoint, now)
    said = ", ".join(filter(None, (_at_work(job), _checkpoint_said(one.checkpoint, age))))
    figures = {"rate": job.rate, "fetched": job.downloaded, "queued": job.queued}
    figures |= {"checkpoint_age_seconds": age.total_seconds()} if age is not None else {}
    fault = _fault(settings, job, age, now)
    if fault is None:
        return Condition("job", Word.GOOD, said, of=name, figures=figures)
    word, why, advice = fault
    return Condition("job", word, f"{why}; {said}", advice.format(one.name), name, figures)


def _fault(
    settings: EngineSettings, job: HeritrixJob, age: timedelta | None, now: datetime
) -> tuple[Word, str, str] | None:
    """What is wrong with a job: its word, why, and what to do; None if nothing is."""
    if not job.is_active:
        why = job.description or job.state
        return Word.ALERT, f"it is not at work ({why})", "silo crawl heritrix resume {0}"
    if job.state is HeritrixState.PAUSED:
        return Word.WARNING, "it is paused", "silo crawl heritrix unpause {0}"
    last = logged(next(iter(job.crawl_log), ""))
    if job.state is HeritrixState.RUNNING and job.queued and last:
        if now - last > STUCK_AFTER:
            why = f"stuck: nothing was fetched since {last:%Y-%m-%d %H:%M} UTC"
            return Word.ALERT, why, "silo crawl heritrix pending-urls {0}, then kill-toethreads {0}"
        if job.rate < settings.least_rate:
            why = f"slow: less than {settings.least_rate:g} addresses a second"
            return Word.WARNING, why, "silo crawl heritrix job-info {0} shows what it waits for"
    if job.alerts and job.faults:
        return Word.WARNING, job.faults[0], "silo crawl heritrix job-info {0} shows its log"
    limit, since = settings.checkpoint, age or timedelta(seconds=job.seconds)
    if limit is not None and since > limit:
        return Word.WARNING, "its last checkpoint is old", "silo crawl heritrix checkpoint {0}"
    return None


def _at_work(job: HeritrixJob) -> str:
    rate = f", {job.rate:.1f} a second" if job.is_active else ""
    return f"{job.state}: {job.downloaded:,} fetched, {job.queued:,} wait{rate}"


def _checkpoint_said(name: str, age: timedelta | None) -> str:
    return f"checkpoint {name} ({ago(age)})" if age is not None else "no checkpoint"


def _age(checkpoint: str, now: datetime) -> timedelta | None:
    made = moment_of_checkpoint(checkpoint)
    return now - made if made else None


_LONGEST = """
job.crawlController.frontier.largestQueues.topSet.each { rawOut.println "${it.value} ${it.key}" }
"""
"""Heritrix notes its 20 longest queues, each about a host."""


def longest_queues(client: Heritrix, name: str) -> list[tuple[str, int]]:
    """Ask for the longest queues of a job that was launched: what they are of, and their addresses.

    Raises:
        HeritrixError: There is no answer.
    """
    found = []
    for line in client.script(name, _LONGEST).splitlines():
        number, _, queue = line.strip().partition(" ")
        if number.isascii() and number.isdigit() and queue:
            found.append((queue, int(number)))
    return sorted(found, key=lambda one: (-one[1], one[0]))
