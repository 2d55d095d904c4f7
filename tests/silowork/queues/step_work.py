"""What the steps of the tests do, in children."""

import os
import signal
import time
from collections.abc import Iterable

from silowork.queues.steps import MessageRefused
from silowork.queues.values import Message, Queued


def double(message: Queued) -> Iterable[Message]:
    """Put the double on; numbers of three digits do other things."""
    number = int(message.body)
    if number == 404:
        raise MessageRefused("there is no such page")
    if number == 503 and message.tries == 1:
        raise OSError("it does not answer")
    if number == 666:
        os.kill(os.getpid(), signal.SIGKILL)
    yield Message("doubled", b"%d" % (2 * number), message.key)


def note(notes: str, message: Queued) -> Iterable[Message]:
    """Append the number and this process to a file."""
    with open(notes, "a") as file:
        file.write(f"{message.body.decode()} {os.getpid()}\n")
    return ()


def wait(notes: str, message: Queued) -> Iterable[Message]:
    """Take long."""
    note(notes, message)
    time.sleep(600)
    return ()


def end_at_once(*_arguments: object) -> None:
    """A child that ends before it has begun."""
    os._exit(3)
