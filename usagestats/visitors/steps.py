"""The two steps over Kafka and Redis: `flatten` and `profile`."""

import time
from collections.abc import Callable, Iterator, Sequence

from usagestats.visitors.errors import DeadLetter
from usagestats.visitors.events import (
    Event,
    Visit,
    flattened,
    parsed,
    visit_of,
    with_profile,
    written,
)
from usagestats.visitors.profiles import Profiles
from usagestats.visitors.relay import Arrived, Passed, Relay, RelayedEvent
from usagestats.visitors.settings import FieldNames, Keeping, StepRoute


def run_flatten(
    route: StepRoute, stopped: Callable[[], bool], *, idle: float | None = None
) -> Passed:
    """Flatten events until stopped; see `Relay.run`."""
    relay = Relay(route)
    try:
        return relay.run(flatten, stopped, idle=idle)
    finally:
        relay.close()


def flatten(batch: Sequence[Arrived]) -> Iterator[RelayedEvent]:
    """Yield each event flattened, or as a dead letter."""
    for one in batch:
        try:
            yield RelayedEvent(one, written(flattened(parsed(one.value))))
        except DeadLetter as error:
            yield RelayedEvent(one, one.value, str(error))


def run_profile(
    route: StepRoute,
    redis_url: str,
    stopped: Callable[[], bool],
    *,
    names: FieldNames | None = None,
    keeping: Keeping | None = None,
    idle: float | None = None,
) -> Passed:
    """Add profiles to events until stopped; see `Relay.run`.

    Raises:
        PackageMissing, StreamUnusable: As `Relay` and `Profiles`.
    """
    profiles = Profiles(redis_url, route.group, keeping or Keeping())
    names = names or FieldNames()
    try:
        relay = Relay(route)
        try:
            return relay.run(
                lambda batch: profile(batch, profiles, names, int(time.time() * 1000)),
                stopped,
                committed=profiles.committed,
                idle=idle,
            )
        finally:
            relay.close()
    finally:
        profiles.close()


def profile(
    batch: Sequence[Arrived], profiles: Profiles, names: FieldNames, now: int
) -> Iterator[RelayedEvent]:
    """Yield each event with its visitor's profile, or as a dead letter."""
    read = [_read(one, names, now) for one in batch]
    visits = [
        (one.topic, one.partition, one.offset, known[1])
        for one, known in zip(batch, read, strict=True)
        if not isinstance(known, DeadLetter)
    ]
    found = iter(profiles.after(visits))
    for one, known in zip(batch, read, strict=True):
        if isinstance(known, DeadLetter):
            yield RelayedEvent(one, one.value, str(known))
        else:
            yield RelayedEvent(one, written(with_profile(known[0], next(found))))


def _read(one: Arrived, names: FieldNames, now: int) -> tuple[Event, Visit] | DeadLetter:
    try:
        event = parsed(one.value)
        return event, visit_of(event, names, one.time, now)
    except DeadLetter as error:
        return error
