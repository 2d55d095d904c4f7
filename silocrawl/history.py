"""What became of the launches of a target, read from their logs piece by piece."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from crawlmatch.errors import CrawlNotFound
from crawlmatch.kept import crawl_named
from crawlmatch.outcomes import OWN, LinkOutcome
from recordsilo.disk.regular_file import open_regular
from silocrawl import crawl_log
from silocrawl.answers import Answers, Spent
from silocrawl.launching import launch_name
from silocrawl.messages import moment_of_launch
from silocrawl.paths import answers_file, log_file

MOST_READ = 16_000_000
"""Bytes of a log that are read for one page of a list."""
REASONS = {
    "trap": "its address is too long or repeats itself",
    "ignored": "the target ignores it",
    "tooManyHops": "the limit of hops was reached",
    "timeLimit": "the limit of time was reached",
    "pageLimit": "the limit of addresses was reached",
    "sizeLimit": "the limit of bytes was reached",
    "lenTrunc": "only its beginning was kept: too long",
    "timeTrunc": "only its beginning was kept: too slow",
    "notRendered": "no browser could show it; its HTML was kept",
    "midFetchTrunc": "only its beginning was kept: the body broke off",
}
"""Annotation of the log → what it means."""
STATUSES = {
    crawl_log.DNS: "unknown host",
    crawl_log.CONNECT: "no connection",
    crawl_log.LOST: "the connection was lost",
    crawl_log.TIME: "no answer in time",
    crawl_log.BAD_ADDRESS: "invalid address",
    crawl_log.ROBOTS_UNKNOWN: "its robots.txt cannot be had",
    crawl_log.OUT_OF_SCOPE: "not to be fetched",
    crawl_log.ROBOTS: "excluded by robots.txt",
}
"""Status of the log that is not one of HTTP → what it means."""
_STATUS, _IN_PART = slice(25, 30), (b"Trunc", b"notRendered")


@dataclass(frozen=True, slots=True)
class PastLaunch:
    """A launch of a target that has a log.

    Attributes:
        name: As in messages.
        due: When it was due.
        spent: What was answered.
    """

    name: str
    due: datetime
    spent: Spent


@dataclass(frozen=True, slots=True)
class FailedAddress:
    """An address that was not fetched, or not completely.

    Attributes:
        when: Moment of its outcome, ISO 8601 in UTC.
        status: As in the log.
        meaning: A text in `REASONS` or `STATUSES`, or the name of a status of HTTP.
        detail: What else is known; may be empty.
        via: The page on which it was found; empty for a seed.
    """

    when: str
    url: str
    status: int
    meaning: str
    detail: str
    via: str


@dataclass(frozen=True, slots=True)
class FailurePage:
    """Some failures of a log.

    Attributes:
        following: Where the next ones may begin; None if the log ends here.
    """

    failures: tuple[FailedAddress, ...]
    following: int | None


MOST_LAUNCHES = 20


def past_launches(silo_path: str, target: str) -> list[PastLaunch]:
    """Return the launches of a target that have a log, the newest first.

    Cost: that of `Answers.spent_in` for each.
    """
    directory, begin = os.path.dirname(log_file(silo_path, "")), f"{target}-"
    moments = []
    with suppress(FileNotFoundError):
        for name in os.listdir(directory):
            with suppress(ValueError):  # a log of another target
                text = name.removeprefix(begin).removesuffix(".log")
                moments.append(moment_of_launch(text))
    found = []
    with Answers(answers_file(silo_path), "read") as answers:
        for due in sorted(moments, reverse=True)[:MOST_LAUNCHES]:
            launch = launch_name(target, due)
            found.append(PastLaunch(launch, due, answers.spent_in(launch)))
    return found


def outcome_of_address(silo_path: str, url: str) -> str:
    """Return the outcome of a seed; empty if it has none yet."""
    where = "terminal = 1 AND initial_url = ? LIMIT 1"
    return next((str(row["outcome"]) for row in _matched(silo_path, where, url)), "")


def outcomes_of_seeds(
    silo_path: str, identifiers: Sequence[str]
) -> Mapping[tuple[str, str], LinkOutcome]:
    """Return the outcomes of the links of some records, by identifier and link."""
    where = "terminal = 1 AND identifier IN (SELECT value FROM json_each(?))"
    rows = _matched(silo_path, where, json.dumps(list(identifiers)))
    return {(row["identifier"], row["initial_url"]): LinkOutcome(row["outcome"]) for row in rows}


def _matched(silo_path: str, where: str, value: str) -> list[dict[str, Any]]:
    asked = f"SELECT identifier, initial_url, outcome FROM crawl_result WHERE {where}"  # noqa: S608
    try:
        return crawl_named(silo_path, OWN).rows(asked, (value,))
    except CrawlNotFound:
        return []


def failures_in(silo_path: str, launch: str, place: int = 0, most: int = 50) -> FailurePage:
    """Return addresses of a launch that were not fetched, not completely, or not found.

    Args:
        launch: Its name.
        place: `FailurePage.following` of the page before.
        most: Most of them.

    Cost: reads at most `MOST_READ` bytes of the log.
    """
    found: list[FailedAddress] = []
    try:
        with open_regular(log_file(silo_path, launch)) as file:
            for line, end in _lines(file.fileno(), place):
                if (failure := _failure_of(line)) is not None:
                    found.append(failure)
                if len(found) == most or end - place >= MOST_READ:
                    is_end = end >= os.fstat(file.fileno()).st_size
                    return FailurePage(tuple(found), None if is_end else end)
    except FileNotFoundError:
        pass
    return FailurePage(tuple(found), None)


def _lines(descriptor: int, place: int) -> Iterator[tuple[bytes, int]]:
    """The whole lines that begin at or after a place, each with where it ends."""
    with open(descriptor, "rb", closefd=False) as file:
        if place > 0:
            file.seek(place - 1)
            file.readline()
            place = file.tell()
        for line in file:
            if not line.endswith(b"\n"):
                return  # it is being written
            place += len(line)
            yield line, place


def _failure_of(line: bytes) -> FailedAddress | None:
    """The failure of a line; None if it is none."""
    try:
        status = int(line[_STATUS])
    except ValueError:
        return None
    if 200 <= status < 400 and not any(note in line for note in _IN_PART):
        return None
    fields = line.decode("utf-8", "replace").split(None, 12)
    if len(fields) < 13:
        return None
    notes = [one for one in fields[11].split(",") if one != "-"]
    known = next((one for one in notes if one in REASONS), "")
    if 200 <= status < 400 and not known:
        return None
    detail = "; ".join(one.replace("_", " ") for one in notes if one != known)
    meaning = REASONS.get(known) or STATUSES.get(status) or _phrase(status)
    via = fields[5] if fields[5] != "-" else ""
    return FailedAddress(fields[0], fields[3], status, meaning, detail, via)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
