"""A Silo that was made for a request nobody can answer is not left behind."""

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
    """Remove the Silo that the block made in ``directory``, where its request is refused.

    Only one that was made here and holds no record: whatever stood there before stays,
    and so does a Silo whose harvest can be gone on with. The Silo must be closed again
    when the block ends.
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
    """Whether something is there already: more than an empty directory or a half-made Silo."""
    try:
        return not may_become_a_silo(directory)
    except NotADirectoryError:
        return True
