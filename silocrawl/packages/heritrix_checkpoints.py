"""The checkpoints of a job of Heritrix on this disk.

A job has a directory for each launch, named by its time, with ``logs`` and ``warcs``. A checkpoint
renames the logs of its launch to ``crawl.log.NAME`` and ends the WARC files; it is complete when
``checkpoints/NAME/valid`` exists. What follows the last checkpoint of a launch that has ended is
packaged as if there were one named ``end-LAUNCH``. Tried with Heritrix 3.4.0-20220727 and 3.13.0.
"""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from crawlmatch.warcs import DAMAGED
from politeweb.warc.records import warc_records
from recordsilo.disk.regular_file import end_of, open_regular
from silocrawl.moments import moment_of
from silocrawl.packages.checkpoints import LogFacts, facts_of
from silocrawl.packages.values import (
    Checkpoint,
    LogRange,
    PackagingError,
    check_warc_name,
    stream_of,
)

END = "end-"
_LAUNCH, _CHECKPOINT = re.compile(r"\d{14}"), re.compile(r"cp\d{5,9}-(\d{14})")
_WARC = re.compile(r"(.+\.w?arc(?:\.gz)?)(\.open)?")
_OPENED = re.compile(r"-(\d{14})\d{3}-")
_NO_WARCS = {"logs", "reports", "scratch", "state", "action", "actions-done", "checkpoints"}
_CONFIGURATION = ("crawler-beans.cxml", "surts.dump", "negative-surts.dump", "job.log")
_OPEN, _MOST_OF_JOB_LOG = ".open", 1 << 20


class NoJob(PackagingError):
    """A directory is not that of a job of Heritrix, or has no such checkpoint."""


def heritrix_checkpoints(job: str) -> list[str]:
    """The names of the checkpoints of a job that can be packaged, the oldest first.

    Raises:
        NoJob: It is no directory of a job.
    """
    launches = _launches(job)
    there = os.path.join(job, "checkpoints")
    names = [
        name
        for name in (os.listdir(there) if os.path.isdir(there) else [])
        if _CHECKPOINT.fullmatch(name)
        and os.path.exists(os.path.join(there, name, "valid"))
        and any(_size(os.path.join(job, one, "logs", f"crawl.log.{name}")) for one in launches)
    ]
    ended = [END + one for one in launches if _has_ended(job, one, launches)]
    return sorted(names, key=lambda name: name[-14:]) + ended


def check_checkpoint(job: str, name: str) -> None:
    """Refuse the name of a checkpoint that a job does not have.

    Raises:
        NoJob: There is none of that name; names those that there are.
    """
    known = heritrix_checkpoints(job)
    if name not in known and name.removeprefix(END) not in _launches(job):
        raise NoJob(f"{job} has no checkpoint {name}; it has {', '.join(known[-20:]) or 'none'}")


def _launches(job: str) -> list[str]:
    try:
        names = sorted(one for one in os.listdir(job) if _LAUNCH.fullmatch(one))
    except OSError as error:
        raise NoJob(f"{job} cannot be read: {error.strerror}") from None
    found = [one for one in names if os.path.isdir(os.path.join(job, one, "logs"))]
    if not found:
        raise NoJob(f"{job} is not the directory of a job of Heritrix that was launched")
    return found


def _has_ended(job: str, launch: str, launches: list[str]) -> bool:
    """Whether a launch is over and has lines after its last checkpoint."""
    is_over = launch != launches[-1] or f"FINISHED {launch}" in _job_log(job)
    return is_over and _size(os.path.join(job, launch, "logs", "crawl.log")) > 0


def _job_log(job: str) -> str:
    try:
        return end_of(os.path.join(job, "job.log"), _MOST_OF_JOB_LOG).decode("utf-8", "replace")
    except OSError:
        return ""


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.isfile(path) else 0


def load_heritrix(job: str, name: str) -> Checkpoint:
    """Read a checkpoint of a job and what its logs say, over all launches.

    Args:
        job: Directory of the job.
        name: See `heritrix_checkpoints`; also ``end-LAUNCH`` of one that was killed.

    Raises:
        NoJob: There is none of that name.
        PackagingError: A WARC file that it names is absent or still open, or no log names one.
    """
    job = os.path.abspath(job)
    launches = _launches(job)
    check_checkpoint(job, name)
    suffix = "" if name.startswith(END) else f".{name}"
    mine = [name.removeprefix(END)] if not suffix else [
        one for one in launches
        if os.path.isfile(os.path.join(job, one, "logs", f"crawl.log{suffix}"))
    ]  # fmt: skip
    if not mine:
        raise NoJob(f"no launch of {job} has a crawl.log.{name}")
    logs = tuple(log for one in mine for log in _logs(job, one, suffix))
    facts, files = facts_of(logs), dict(_warcs(job, launches))
    names = sorted(facts.warcs) or _since_the_last(job, mine[-1], name, files)
    if not names and facts.answered:
        raise PackagingError(
            f"the log of {name} names no WARC files; set loggerModule.logExtraInfo=true in the job"
        )
    warcs = {one: _ended(job, name, one, files) for one in names}
    ended = moment_of(name[-14:])
    if not suffix:
        log = os.path.join(job, mine[-1], "logs", "crawl.log")
        ended = datetime.fromtimestamp(int(os.path.getmtime(log)), UTC)
    return Checkpoint(
        stream_of(os.path.basename(job)), name, job, facts.started or ended, ended,
        crawl_id=mine[-1], software=_software(warcs), logs=logs, warcs=warcs,
        viral=_viral(facts, warcs), configuration=_configuration(job, mine),
    )  # fmt: skip


def _logs(job: str, launch: str, suffix: str) -> Iterator[LogRange]:
    """The logs of a launch up to a checkpoint; those that go on are the ones without a suffix."""
    directory = os.path.join(job, launch, "logs")
    for name in sorted(os.listdir(directory)):
        bare = name.removesuffix(suffix)
        is_mine = name.endswith(suffix) if suffix else not _CHECKPOINT.search(name)
        path = os.path.join(directory, name)
        if is_mine and bare.endswith((".log", ".gz")) and _size(path):
            yield LogRange(f"{launch}/{name}", path, is_crawl=bare == "crawl.log")


def _warcs(job: str, launches: list[str]) -> Iterator[tuple[str, str]]:
    """The WARC files of all launches, also those that are still open: name → path."""
    for launch in launches:
        for directory, below, files in os.walk(os.path.join(job, launch)):
            below[:] = sorted(set(below) - _NO_WARCS)
            for name in files:
                if _WARC.fullmatch(name):
                    yield name, os.path.join(directory, name)


def _ended(job: str, checkpoint: str, name: str, files: Mapping[str, str]) -> str:
    if path := files.get(name):
        return path
    if path := files.get(name + _OPEN):
        raise PackagingError(
            f"the checkpoint {checkpoint} has the WARC file {name}, which is still open: {path};"
            " if no Heritrix is writing it, take away .open from its name"
        )
    raise PackagingError(
        f"the checkpoint {checkpoint} has the WARC file {name}, which is in no launch of {job}"
    )


def _since_the_last(job: str, launch: str, name: str, files: Mapping[str, str]) -> list[str]:
    """The WARC files of a launch by their times, for a log whose lines name none."""
    logs = os.listdir(os.path.join(job, launch, "logs"))
    times = [match[1] for match in map(_CHECKPOINT.search, logs) if match]
    until = "9" * 14 if name.startswith(END) else name[-14:]
    since = max((one for one in times if one < until), default="")
    own = os.path.join(job, launch, "")
    found = []
    for one, path in files.items():
        opened = _OPENED.search(one)
        if opened and path.startswith(own) and since <= opened[1] < until:
            found.append(check_warc_name(one.removesuffix(_OPEN)))
    return sorted(found)


def _viral(facts: LogFacts, warcs: Mapping[str, str]) -> dict[str, str]:
    """What was found, by the annotations of the log, or because the directory says it."""
    apart = [one for one, path in warcs.items() if "viral" in path.split(os.sep)[-3:-1]]
    return {one: facts.viral.get(one, "") for one in sorted({*apart, *facts.viral})}


def _software(warcs: Mapping[str, str]) -> str:
    """What the first WARC file says of who wrote it."""
    for path in list(warcs.values())[:1]:
        try:
            with open_regular(path) as file:
                record = next(iter(warc_records(file)))
                text = record.raw_stream.read(1 << 16).decode("utf-8", "replace")
        except (*DAMAGED, StopIteration):
            return "Heritrix"
        if found := re.search(r"^software:\s*([^\r\n]{1,200})", text, re.MULTILINE):
            return found[1].strip()
    return "Heritrix"


def _configuration(job: str, launches: list[str]) -> dict[str, str]:
    found = {"crawler-beans.cxml": os.path.join(job, "crawler-beans.cxml")}
    found |= {f"{one}/{name}": os.path.join(job, one, name)
              for one in launches for name in _CONFIGURATION}  # fmt: skip
    return {name: path for name, path in found.items() if os.path.isfile(path)}
