"""How the crawls of a Silo are, as metrics for Prometheus (pure)."""

from silocrawl.conditions import Word, worst
from silocrawl.status import CrawlStatus
from silowork.prometheus import gauge

_STATES = ("waiting", "later", "taken", "dead")


def metrics_of(found: CrawlStatus) -> str:
    """Return the metrics; no label has a value that grows with the crawls."""
    words, queues = list(Word), found.queues.items()
    known = {one.name: [two.word for two in found.conditions if two.name == one.name]
             for one in found.conditions}  # fmt: skip
    states = (({"what": name}, words.index(worst(some))) for name, some in known.items())
    messages = (
        ({"queue": name, "state": state}, getattr(size, state))
        for name, size in queues
        for state in _STATES
    )
    ages = (({"queue": name}, size.oldest if size.waiting else 0) for name, size in queues)
    return "".join((
        gauge("silo_crawl_state", "0 good, 1 warning, 2 alert.", states),
        gauge("silo_crawl_messages", "Messages by queue and state.", messages),
        gauge("silo_crawl_oldest_seconds", "Since when the oldest message waits.", ages),
        gauge("silo_crawl_targets", "Targets that can be read.", [({}, found.targets)]),
        gauge("silo_crawl_launches_overdue", "Targets whose launch nobody did in time.",
              [({}, len(found.overdue))]),
        gauge("silo_crawl_hosts_resting", "Hosts that are left alone for a while, at most 100.",
              [({}, len(found.resting))]),
        gauge("silo_crawl_disk_free_bytes", "Free bytes on the disk of the Silo.",
              [({}, found.free)]),
    ))  # fmt: skip
