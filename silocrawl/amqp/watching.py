"""How a broker and the queues of the bridge there are, as conditions."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from silocrawl.amqp.declaring import BrokerQueue, sizes_at
from silocrawl.amqp.settings import amqp_settings
from silocrawl.conditions import Condition, Word, good


def look_at_amqp(silo_path: str, _now: datetime) -> Iterator[Condition]:
    """Ask the broker for its queues, which takes and changes nothing.

    Raises:
        CrawlingError: The settings are invalid, or it does not answer.
    """
    yield of_queues(sizes_at(amqp_settings(silo_path)))


def of_queues(found: Iterable[BrokerQueue]) -> Condition:
    """Judge the queues of a bridge at its broker (pure)."""
    known = list(found)
    there = [one for one in known if one.is_there]
    counts = (f"{one.messages:,} in {one.name} ({one.consumers:,} take them)" for one in there)
    said = ", ".join(counts)
    if missing := [one.name for one in known if not one.is_there]:
        why = f"there is no queue {', '.join(missing)}"
        advice = "silo crawl bridge DIR declares it"
        return Condition("amqp", Word.ALERT, "; ".join(filter(None, (why, said))), advice)
    becalmed = [one.name for one in known if one.messages and not one.consumers]
    if becalmed:
        why = f"becalmed, as nobody takes from them: {', '.join(becalmed)}"
        advice = "start silo crawl bridge DIR, or what takes from them (Heritrix)"
        return Condition("amqp", Word.WARNING, f"{why}; {said}", advice)
    return good("amqp", said or "no queue is bridged")
