"""When something is due again after a run, and when it is quarantined (pure)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from silowork.due.timetable import LONGEST_REST, rest_after, share_of

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Rests:
    """The rules.

    Attributes:
        first: Time to the next run after a failure; doubled with each further one.
        longest: Most of that.
        most_failures: Failures in a row after which something is quarantined.
        probe_every: Time to the next run of what is quarantined.
        most_fruitless: Runs in a row that ended without a result before they rest, too.
    """

    first: timedelta = timedelta(hours=6)
    longest: timedelta = LONGEST_REST
    most_failures: int = 8
    probe_every: timedelta = timedelta(days=30)
    most_fruitless: int = 5


class Again(NamedTuple):
    """What follows from a run.

    Attributes:
        due: When the next one is due.
        failures: Runs in a row that failed.
        is_quarantined: Whether it is asked seldom.
    """

    due: datetime
    failures: int = 0
    is_quarantined: bool = False


def after_success(key: str, start: datetime, every: timedelta, jitter: float) -> Again:
    """The next run is counted from the start of this one; missed runs are one.

    Args:
        key: Identifies what is repeated, for its jitter.
        start: Of the run.
        every: The interval.
        jitter: Share of the interval by which the next run may be earlier or later; always by
            the same for the same run.
    """
    factor = 1 + jitter * (2 * share_of(key, start) - 1)
    return Again(start + timedelta(every / _DAY * factor))


def after_failure(rules: Rests, before: Again, at: datetime) -> Again:
    """Later and later; after too many failures, quarantine.

    Args:
        before: What followed from the run before.
        at: The end of the run.
    """
    failures = before.failures + 1
    if before.is_quarantined or failures >= rules.most_failures:
        return Again(at + rules.probe_every, failures, True)
    return Again(at + rest_after(failures, rules.first, rules.longest), failures)


def after_pause(
    rules: Rests, before: Again, at: datetime, until: datetime | None, fruitless: int
) -> Again:
    """A pause that was asked for is no failure; after too many in a row there is a rest as well.

    Args:
        before: What followed from the run before.
        at: The end of the run.
        until: The end of the pause; None if it was not said.
        fruitless: Runs in a row without a result, this one included.
    """
    excess = fruitless - rules.most_fruitless
    rest = rest_after(max(1, excess), rules.first, rules.longest)
    return before._replace(due=max(until or at + rest, at + rest if excess > 0 else at))


def after_cut(rules: Rests, before: Again, at: datetime, fruitless: int) -> Again:
    """A run that was cut is begun again at once; too many in a row are failures.

    So a run that always crashes does not keep a place busy.

    Args:
        before: What followed from the run before.
        at: The end of the run.
        fruitless: Runs in a row without a result, this one included.
    """
    if fruitless <= rules.most_fruitless:
        return before._replace(due=at)
    return after_failure(rules, before, at)
