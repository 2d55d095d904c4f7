"""Whether what was launched is in the index: a message of ``uris-to-check`` for each seed.

An address that waits for its host is looked for again later. One that was acknowledged and has
neither a capture nor a failure is launched once more: its line in the index was lost.
"""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from silocrawl.answers import Answers
from silocrawl.cdxj import Segments, key_of
from silocrawl.errors import MessageInvalid
from silocrawl.heritrix.feeding import fed_mark
from silocrawl.messages import CHECK, CRAWL, RENDER, CrawlAddress, address_of, message_of
from silowork.queues.values import Message, Queued, Queues

SECONDS_BETWEEN_CHECKS = 6 * 3_600.0
"""After which an address is looked for once more."""
MOST_CHECKED = 200
"""Addresses that are looked for at a time."""
LONGEST_WAIT = timedelta(days=30)
"""From a launch on; after that, an address that was not fetched is a failure."""
LOST, NEVER_FETCHED = "it is not in the index", "it was not fetched in 30 days"

logger = logging.getLogger("silocrawl")


def check_launched(
    queues: Queues,
    segments: Segments,
    answers: Answers,
    now: datetime | None = None,
    *,
    is_shared: bool = False,
) -> int:
    """Check some of the addresses that are to be checked now; return how many were launched again.

    Args:
        segments: The index.
        answers: Where failures are noted.
        is_shared: Whether others fetch for the same queues, into indexes of their own. What they
            acknowledged is in these. What a Heritrix was fed with, it fetches in its own time.
    """
    done: list[Queued] = []
    waiting: list[Queued] = []
    again: list[Message] = []
    taken = [(one, _address_of(queues, one)) for one in queues.take(CHECK, MOST_CHECKED)]
    if not taken:
        return 0
    known = [(message, one) for message, one in taken if one is not None]
    keys = [one.key for _, one in known]
    rendered = queues.done_keys(RENDER, keys)
    fetched = queues.done_keys(CRAWL, keys) | rendered
    oldest = (now or datetime.now(UTC)) - LONGEST_WAIT
    for message, one in known:
        is_others = is_shared or queues.mark(fed_mark(one.launch))
        if _is_known(one, segments, answers) or (is_others and one.key in fetched):
            done.append(message)
        elif one.key not in fetched:
            if one.launched is not None and one.launched < oldest:
                queues.failed([message], NEVER_FETCHED, None)
            else:
                waiting.append(message)
        elif one.is_forced:
            queues.failed([message], LOST, None)
        else:
            logger.warning("%s was fetched, and is not in the index; launched again", one.url)
            forced = replace(one, is_forced=True)
            again += [
                message_of(forced, RENDER if one.key in rendered else CRAWL),
                message_of(forced, CHECK, wait=SECONDS_BETWEEN_CHECKS),
            ]
            done.append(message)
    if done:
        queues.done(done, again)
    if waiting:
        queues.give_back(waiting, SECONDS_BETWEEN_CHECKS)
    return len(again) // 2


def _address_of(queues: Queues, message: Queued) -> CrawlAddress | None:
    try:
        return address_of(message.body)
    except MessageInvalid as error:
        queues.failed([message], str(error), None)
        return None


def _is_known(one: CrawlAddress, segments: Segments, answers: Answers) -> bool:
    """Whether an address has a capture since its launch, or an outcome without one."""
    since = f"{one.launched:%Y%m%d%H%M%S}" if one.launched else ""
    lines = segments.find(key_of(one.url))
    is_indexed = any(line.split(" ", 2)[1] >= since for line in lines)
    return is_indexed or answers.has_failed(one.launch, one.url)
