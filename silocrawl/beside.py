"""Works on the messages of some queues of a Silo in a child, while something else is done."""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import partial

from recordsilo.errors import RecordSiloError
from silocrawl.paths import queues_file
from silowork.errors import JobsError
from silowork.queues.opening import open_queues
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import QueueStep, run_steps
from silowork.queues.values import MessageState, Queues
from silowork.stop import Stop, working

_SECONDS_BETWEEN_LOOKS = 1.0
_ALIVE = MessageState.WAITING, MessageState.LATER, MessageState.TAKEN

logger = logging.getLogger("silocrawl")


def working_beside(
    silo_path: str, steps: Sequence[QueueStep], lease: float, failed: str
) -> AbstractContextManager[None]:
    """Work on what comes while the block runs.

    Args:
        steps: What is done with the messages of which queue.
        lease: See `open_queues`.
        failed: What is told, with the reason, if the queues cannot be used.
    """
    return working(partial(_work_until, silo_path, steps, lease, failed))


def _work_until(
    silo_path: str, steps: Sequence[QueueStep], lease: float, failed: str, stop: Stop
) -> None:
    """A thread: there is no child before there is a message."""
    try:
        with SqliteQueues(queues_file(silo_path), "read") as queues:
            while not has_messages(queues, steps):
                if stop.wait(_SECONDS_BETWEEN_LOOKS):
                    return
        run_steps(partial(open_queues, queues_file(silo_path), lease=lease), steps, 1, stop)
    except (RecordSiloError, JobsError, OSError) as error:
        logger.warning("%s: %s", failed, error)


def has_messages(queues: Queues, steps: Sequence[QueueStep]) -> bool:
    """Whether something is to be done."""
    return any(queues.peek(step.queue, state, 1) for step in steps for state in _ALIVE)
