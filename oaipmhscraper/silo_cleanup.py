"""Remove a new Silo if its first request is refused."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from oaipmhprotocol import BadArgument, CannotDisseminateFormat
from oaipmhscraper.receipt import HarvestStopped
from politeweb.errors import RequestRefused
from recordsilo import Silo
from recordsilo.silo import may_become_a_silo


@contextmanager
def undone_if_refused(directory: str) -> Iterator[None]:
    """Remove the Silo that the block created in ``directory`` if its request is refused.

    Only if it was created by the block and has no record; a Silo that existed before, or whose
    harvest can be resumed, stays. The Silo must be closed when the block ends.
    """
    was_there, was_used = os.path.lexists(directory), holds_something(directory)
    try:
        yield
    except (RequestRefused, HarvestStopped) as error:
        if not was_used and _is_refused(error) and _is_empty_silo(directory):
            _empty(directory)
            if not was_there:
                os.rmdir(directory)
        raise


def _is_refused(error: RequestRefused | HarvestStopped) -> bool:
    if isinstance(error, RequestRefused):
        return True
    wrong = isinstance(error.cause, CannotDisseminateFormat | BadArgument)
    return wrong and not error.receipt.counts.listed


def _is_empty_silo(directory: str) -> bool:
    if not holds_something(directory):
        return False
    with Silo(directory, create=False) as silo:
        return not len(silo)


def _empty(directory: str) -> None:
    with os.scandir(directory) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def holds_something(directory: str) -> bool:
    """Whether the directory is more than empty or an incomplete Silo."""
    try:
        return not may_become_a_silo(directory)
    except NotADirectoryError:
        return True
