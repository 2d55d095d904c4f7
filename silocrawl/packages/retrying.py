"""Packages whose step failed, tried again; and checkpoints of which no package was begun yet."""

from typing import NamedTuple

from silocrawl.messages import PACKAGE_QUEUES, TO_PACKAGE
from silocrawl.packages.kept import has_package
from silocrawl.packages.steps import STEPS
from silocrawl.packages.values import (
    Package,
    PackageInvalid,
    checkpoint_message,
    package_message,
)
from silowork.queues.values import MessageState, Queued, Queues

_MOST = 1_000
_OPEN = (MessageState.WAITING, MessageState.LATER, MessageState.TAKEN)


class Unbegun(NamedTuple):
    """A checkpoint that waits to be packaged, or cannot be.

    Attributes:
        package: The name of its package to be.
        reason: Why it failed last; empty if it did not.
        is_dead: Whether it failed too often.
    """

    package: str
    reason: str
    is_dead: bool


def unbegun(silo_path: str, queues: Queues) -> list[Unbegun]:
    """The checkpoints in the queue that have no package, the first thousand of each state."""
    return [
        Unbegun(one.key, one.reason, state is MessageState.DEAD)
        for state in MessageState
        for one in queues.peek(TO_PACKAGE, state, _MOST)
        if one.key and not _has_begun(silo_path, one.key)
    ]


def _has_begun(silo_path: str, key: str) -> bool:
    try:
        return has_package(silo_path, key)
    except PackageInvalid:  # the key of a message by others
        return False


def retry(queues: Queues, one: Package) -> bool:
    """Let the next step of a package be done again soon; return whether it was not to be yet.

    What failed too often is revived; if there is no message of it at all, it gets one.

    Args:
        queues: The Silo's own queues.
    """
    for queue in PACKAGE_QUEUES:
        dead = [two.number for two in _of(queues, queue, MessageState.DEAD) if two.key == one.id]
        if dead and queues.revive(queue, dead):
            return True
    step = next((step for step in STEPS if not one.has(step.state)), None)
    if step is None or any(
        two.key == one.id for state in _OPEN for two in _of(queues, step.queue, state)
    ):
        return False
    if step.queue == TO_PACKAGE:
        message = checkpoint_message(one.stream, one.checkpoint, one.directory)
    else:
        message = package_message(step.queue, one)
    return bool(queues.put([message]))


def _of(queues: Queues, queue: str, state: MessageState) -> list[Queued]:
    return queues.peek(queue, state, _MOST)
