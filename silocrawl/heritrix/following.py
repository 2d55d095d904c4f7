"""Reads the log of a job, and indexes what it tells, once or until the job has ended."""

import logging
from collections.abc import Callable

from silocrawl.heritrix.errors import AnswerInvalid, NoAnswer
from silocrawl.heritrix.indexing import indexing
from silocrawl.heritrix.tailing import Tail
from silowork.stop import Stop

SECONDS_BETWEEN_LOOKS, SECONDS_AFTER_A_FAULT = 2.0, 10.0

logger = logging.getLogger("silocrawl")


def follow(
    silo_path: str,
    tail: Tail,
    stop: Stop,
    *,
    is_following: bool,
    shown: Callable[[int], object] = lambda _lines: None,
) -> bool:
    """Read a log to its end, and go on when it grows, also when Heritrix is started again.

    Args:
        tail: Reads the log.
        stop: Asks to end.
        is_following: Whether to go on at the end of the log, until the job has ended.
        shown: Told how many lines were read.

    Returns:
        Whether it was read to its end; False if this was asked to stop before.

    Raises:
        HeritrixError: The log cannot be read; when following, a Heritrix that does not answer is
            waited for.
        CrawlingError, OSError: The Silo cannot be written.
    """
    told = ""
    with indexing(silo_path):
        while not stop.asked:
            try:
                is_new = tail.read_once()
                is_over = not is_new and (not is_following or _is_over(tail))
                told = ""
            except (NoAnswer, AnswerInvalid) as error:
                if not is_following:
                    raise
                if not told:
                    logger.warning("%s; it is asked again", error)
                told = str(error)
                stop.wait(SECONDS_AFTER_A_FAULT)
                continue
            shown(tail.lines)
            if is_over:
                return True
            if not is_new:
                stop.wait(SECONDS_BETWEEN_LOOKS)
    return False


def _is_over(tail: Tail) -> bool:
    """Whether the job has ended, and its log is read: it is ended before the job."""
    return tail.has_ended() and not tail.read_once()
