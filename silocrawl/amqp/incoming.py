"""Judges what came from a broker, which may be anything by anybody (pure).

What is valid is put into a queue of ours under a key, so that what comes twice counts once. What is
not becomes a dead letter, which says why.
"""

import hashlib

from silocrawl.errors import MessageInvalid
from silocrawl.heritrix import outcomes
from silocrawl.messages import CATALOGUE, document_message, document_of, table_of
from silowork.queues.values import Message

MOST_BYTES, MOST_KEPT = 262_144, 65_536
"""Of a message; of one that is larger, in a dead letter."""


def message_from(queue: str, body: bytes, size: int) -> Message:
    """Return the message to put for one that came.

    Outcomes of a crawl that come as documents, as the second feed of the UK Web Archive sends
    them, are put among the outcomes, from which documents follow.

    Args:
        queue: That of ours for which it came.
        body: Of the message; if it is larger than `MOST_BYTES`, its first `MOST_KEPT`.
        size: Bytes that it has.
    """
    try:
        if size > MOST_BYTES:
            raise MessageInvalid(
                f"it has {size:,} bytes, and at most {MOST_BYTES:,} are taken; the first"
                f" {MOST_KEPT:,} are kept"
            )
        if queue == CATALOGUE and "document_url" in table_of(body):
            return document_message(document_of(body))
        return outcomes.message_of(outcomes.crawled_of(body))
    except MessageInvalid as error:
        key = f"refused {hashlib.sha256(body).hexdigest()} {size}"
        return Message(queue, body, key, reason=str(error))
