"""How the crawls of a Silo are, as metrics for Prometheus (pure)."""

from collections.abc import Iterator

from silocrawl.conditions import Word, worst
from silocrawl.status import CrawlStatus
from silowork.prometheus import Sample, gauge

_STATES = ("waiting", "later", "taken", "dead")


def metrics_of(found: CrawlStatus) -> str:
    """Return the metrics; no label has a value that grows with the crawls, but for the names
    of jobs and nodes."""
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
        *_figures(found),
    ))  # fmt: skip


def _figures(found: CrawlStatus) -> Iterator[str]:
    """The figures of conditions: a metric for each kind of thing and figure."""
    known: dict[tuple[str, str], list[Sample]] = {}
    for one in found.conditions:
        for figure, value in one.figures.items():
            labels = {"of": one.of} if one.of else {}
            known.setdefault((one.name, figure), []).append((labels, value))
    for (name, figure), samples in known.items():
        text = f"{figure.replace('_', ' ').capitalize()}: {name}, as silo crawl status has it."
        yield gauge(f"silo_crawl_{name}_{figure}", text, samples)
