"""What a Heritrix says of itself and its jobs, as values; what each state permits. No I/O.

Source: Heritrix 3 REST API; `CrawlController.State`, and answers of 3.4.0-20220727 and 3.13.0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum

from lxml import etree

from recordsilo.formats.documents import NoDocument, parsed_whole
from silocrawl.heritrix.errors import AnswerInvalid


class HeritrixState(StrEnum):
    """Of a job: those of its crawl controller, and `UNBUILT` if it has none."""

    UNBUILT = "UNBUILT"
    NASCENT = "NASCENT"
    PREPARING = "PREPARING"
    RUNNING = "RUNNING"
    EMPTY = "EMPTY"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    CHECKPOINTING = "CHECKPOINTING"
    STOPPING = "STOPPING"
    FINISHED = "FINISHED"


class HeritrixAction(StrEnum):
    """What can be done with a job."""

    BUILD = "build"
    LAUNCH = "launch"
    PAUSE = "pause"
    UNPAUSE = "unpause"
    CHECKPOINT = "checkpoint"
    TERMINATE = "terminate"
    TEARDOWN = "teardown"


@dataclass(frozen=True, slots=True)
class HeritrixEngine:
    """A Heritrix.

    Attributes:
        version: Such as ``3.13.0``.
        jobs_directory: On its machine.
        heap_used: Bytes.
        heap_most: Bytes.
        jobs: Names and descriptions of its jobs, such as ``Active: RUNNING``; no profiles.
    """

    version: str
    jobs_directory: str
    heap_used: int
    heap_most: int
    jobs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HeritrixJob:
    """A job at one moment; numbers are 0 where nothing was launched.

    Attributes:
        description: In Heritrix's words, such as ``Finished: ABORTED``.
        actions: What it permits now.
        last_launch: ISO 8601, UTC; "" if never.
        downloaded: Addresses fetched by this launch; `queued` wait, `known` are all.
        rate: Addresses a second, now; `mean_rate` since the launch.
        kib_rate: KiB a second, now.
        seconds: Since the launch, without pauses.
        checkpoints: Those to go on from, the newest first; only told of a built job that was
            not launched.
        log: The last lines of the job's log, the newest first; `crawl_log` likewise.
        configuration: Path of its ``crawler-beans.cxml``, on its machine.
    """

    name: str
    state: HeritrixState
    description: str = ""
    actions: frozenset[str] = frozenset()
    launches: int = 0
    last_launch: str = ""
    downloaded: int = 0
    queued: int = 0
    known: int = 0
    bytes: int = 0
    rate: float = 0.0
    mean_rate: float = 0.0
    kib_rate: int = 0
    busy_threads: int = 0
    threads: int = 0
    seconds: float = 0.0
    alerts: int = 0
    checkpoints: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    crawl_log: tuple[str, ...] = ()
    configuration: str = ""

    @property
    def is_active(self) -> bool:
        """Whether it was launched and has not ended."""
        return self.state not in {
            HeritrixState.UNBUILT,
            HeritrixState.NASCENT,
            HeritrixState.FINISHED,
        }

    @property
    def faults(self) -> tuple[str, ...]:
        """The lines of the end of its log that are not well."""
        return tuple(one for one in self.log if " SEVERE " in one or " WARNING " in one)


# --------------------------------------------------------------------------- reading


def parsed(content: bytes, root: str) -> etree._Element:
    """Return the root element of an answer.

    Raises:
        AnswerInvalid: It is no XML, has a document type, is too large, or has another root.
    """
    try:
        found = parsed_whole(content)
    except NoDocument as error:
        reason = "is empty" if not content.strip() else error.reason
        raise AnswerInvalid(f"the answer of Heritrix {reason}") from None
    if found.tag != root:
        raise AnswerInvalid(f"the answer of Heritrix is no <{root}>")
    return found


def engine_of(content: bytes) -> HeritrixEngine:
    """Read the answer about the engine.

    Raises:
        AnswerInvalid: It is none.
    """
    root = parsed(content, "engine")
    entries = (one for one in root.findall("jobs/value") if _text(one, "isProfile") != "true")
    return HeritrixEngine(
        version=_text(root, "heritrixVersion"),
        jobs_directory=_text(root, "jobsDir"),
        heap_used=_whole(root, "heapReport/usedBytes"),
        heap_most=_whole(root, "heapReport/maxBytes"),
        jobs=tuple((_text(one, "shortName"), _text(one, "statusDescription")) for one in entries),
    )


def job_of(content: bytes) -> HeritrixJob:
    """Read the answer about a job.

    Raises:
        AnswerInvalid: It is none, or its state is not known.
    """
    root = parsed(content, "job")
    told = _text(root, "crawlControllerState") or HeritrixState.UNBUILT
    if told not in set(HeritrixState):
        raise AnswerInvalid(f"Heritrix tells of a state {told[:40]!r}, which is not known")
    return HeritrixJob(
        name=_text(root, "shortName"),
        state=HeritrixState(told),
        description=_text(root, "statusDescription"),
        actions=frozenset(_values(root, "availableActions")),
        launches=_whole(root, "launchCount"),
        last_launch=_text(root, "lastLaunch"),
        downloaded=_whole(root, "uriTotalsReport/downloadedUriCount"),
        queued=_whole(root, "uriTotalsReport/queuedUriCount"),
        known=_whole(root, "uriTotalsReport/totalUriCount"),
        bytes=_whole(root, "sizeTotalsReport/total"),
        rate=_number(root, "rateReport/currentDocsPerSecond"),
        mean_rate=_number(root, "rateReport/averageDocsPerSecond"),
        kib_rate=_whole(root, "rateReport/currentKiBPerSec"),
        busy_threads=_whole(root, "loadReport/busyThreads"),
        threads=_whole(root, "loadReport/totalThreads"),
        seconds=_whole(root, "elapsedReport/elapsedMilliseconds") / 1000,
        alerts=_whole(root, "alertCount"),
        checkpoints=tuple(_values(root, "checkpointFiles")),
        log=tuple(_values(root, "jobLogTail")),
        crawl_log=tuple(_values(root, "crawlLogTail")),
        configuration=_text(root, "primaryConfig"),
    )


def output_of(content: bytes) -> tuple[str, str]:
    """Read the answer to a script: what it printed, and its exception or "".

    Raises:
        AnswerInvalid: It is none.
    """
    root = parsed(content, "script")
    return root.findtext("rawOutput") or "", _text(root, "exception")


def _text(element: etree._Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _values(element: etree._Element, path: str) -> Iterator[str]:
    return ((one.text or "").strip() for one in element.findall(f"{path}/value"))


def _number(element: etree._Element, path: str) -> float:
    """Return a number; 0 for none, and for the ``NaN`` and ``Infinity`` of Java."""
    try:
        found = float(_text(element, path) or 0)
    except ValueError:
        return 0.0
    return found if abs(found) < 1e18 else 0.0


def _whole(element: etree._Element, path: str) -> int:
    return int(_number(element, path))


# --------------------------------------------------------------------------- deciding


class Next(Enum):
    """What an action does next."""

    SEND = "send"
    WAIT = "wait"
    DONE = "done"


def _rule(*states: str) -> tuple[frozenset[HeritrixState], ...]:
    """In which states an action is asked for, waited for, done, and done once it was asked for."""
    return tuple(frozenset(map(HeritrixState, one.split())) for one in states)


_RULES = {
    HeritrixAction.BUILD: _rule(
        "UNBUILT", "", "NASCENT PREPARING RUNNING EMPTY PAUSING PAUSED CHECKPOINTING", ""
    ),
    HeritrixAction.LAUNCH: _rule(
        "NASCENT", "PREPARING", "RUNNING EMPTY PAUSING PAUSED CHECKPOINTING", "FINISHED"
    ),
    HeritrixAction.PAUSE: _rule("RUNNING EMPTY", "PREPARING PAUSING CHECKPOINTING", "PAUSED", ""),
    HeritrixAction.UNPAUSE: _rule(
        "PAUSED PAUSING", "PREPARING CHECKPOINTING", "RUNNING EMPTY", "STOPPING FINISHED"
    ),
    HeritrixAction.CHECKPOINT: _rule(
        "RUNNING EMPTY PAUSED", "PREPARING PAUSING CHECKPOINTING", "", ""
    ),
    HeritrixAction.TERMINATE: _rule(
        "PREPARING RUNNING EMPTY PAUSING PAUSED", "CHECKPOINTING STOPPING",
        "UNBUILT NASCENT FINISHED", "",
    ),
    # Torn down while it runs, 3.4.0 interrupts its database and then hangs.
    HeritrixAction.TEARDOWN: _rule("NASCENT FINISHED", "STOPPING", "UNBUILT", ""),
}  # fmt: skip


def next_of(action: HeritrixAction, job: HeritrixJob, *, is_sent: bool) -> Next | str:
    """Decide what an action does next: what is done already is not asked for.

    Args:
        job: The job as it is.
        is_sent: Whether the action was asked for.

    Returns:
        The next step; else why it is refused, as the end of a sentence about the job.
    """
    send, wait, done, done_if_sent = _RULES[action]
    if job.state in done or (is_sent and job.state in done_if_sent):
        return Next.DONE
    if job.state in wait or (is_sent and job.state in send):
        return Next.WAIT
    if job.state in send and action in job.actions:
        return Next.SEND
    faults = f"; its log says: {job.faults[0]}" if job.faults and not job.is_active else ""
    first = ""
    if job.state is HeritrixState.FINISHED and action in {
        HeritrixAction.BUILD,
        HeritrixAction.LAUNCH,
    }:
        first = "; tear it down first"
    elif action is HeritrixAction.TEARDOWN:
        first = "; terminate it first"
    return f"is {job.state}, and permits no {action}{first}{faults}"
