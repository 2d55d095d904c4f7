"""How the crawls are: conditions, queues and hosts; messages that failed; figures for programs."""

import re
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from silocrawl.messages import ALL_QUEUES, gist_of
from silocrawl.metrics import metrics_of
from silocrawl.monitor import look
from silocrawl.status import CrawlStatus
from silowork.prometheus import MEDIA_TYPE
from silowork.queues.values import MessageState, Queued
from webui.activity import note
from webui.crawling import opening
from webui.crawling.opening import hidden, queues_of, told
from webui.http.errors import BadRequest, NotFound
from webui.http.messages import Response, whole_number
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.sentences import sentence
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

LISTED = 50
_DUE = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?")
NAMES = {
    "targets": "Targets",
    "messages": "Messages",
    "launches": "Launches",
    "queue": "Queue",
    "disk": "Disk",
    "heritrix": "Heritrix",
    "job": "Crawl job",
    "checkpoint": "Checkpoint",
    "amqp": "AMQP",
    "packages": "Packages",
    "node": "Access node",
    "store": "Store",
}
"""Condition → its name; English texts of the catalogue, as the below."""
WORDS = {"good": "good", "warning": "warning", "alert": "alert"}


@dataclass(frozen=True, slots=True)
class Letter:
    """A message that failed too often."""

    number: str
    url: str
    reason: str
    tries: int
    died: str

    @classmethod
    def of(cls, one: Queued) -> "Letter":
        """Read a message; its body may be anything."""
        died = f"{datetime.fromtimestamp(one.due, UTC):%Y-%m-%dT%H:%M:%S}"
        return cls(one.number, gist_of(one.body).url, one.reason, one.tries, died)


def show(call: Call) -> View:
    """Show how the crawls are, with one word for each thing that somebody may have to look at."""
    found = _status(call)
    data = {
        "found": found,
        "sentence": sentence,
        "names": {name: _(label) for name, label in NAMES.items()},
        "words": {word: _(label) for word, label in WORDS.items()},
        "targets_url": opening.targets(),
        "dead": opening.dead,
        "age": _age,
        "free": numeral(found.free / 1e9, decimals=1),
    }
    return View("crawl_status.mako", data, _twin(found), opening.status())


def metrics(call: Call) -> Response:
    """Send figures of the crawls for Prometheus."""
    return Response(200, metrics_of(_status(call)).encode(), MEDIA_TYPE)


def _status(call: Call) -> CrawlStatus:
    found = look(call.site.path)
    conditions = (
        replace(one, said=hidden(call, one.said), advice=hidden(call, one.advice))
        for one in found.conditions
    )
    return replace(found, conditions=tuple(conditions))


def _twin(found: CrawlStatus) -> dict[str, Any]:
    return {
        "conditions": {
            one.label: {
                "state": one.word,
                "said": one.said,
                "advice": one.advice,
                "figures": one.figures,
            }
            for one in found.conditions
        },
        "queues": {name: asdict(size) for name, size in found.queues.items()},
        "overdue": list(found.overdue),
        "free_bytes": found.free,
        "resting": [{"host": host, "seconds": round(left)} for host, left in found.resting],
    }


def _age(seconds: float) -> str:
    if seconds >= 2 * 86_400:
        return counted("{n} day", "{n} days", int(seconds // 86_400))
    if seconds >= 2 * 3_600:
        return counted("{n} hour", "{n} hours", int(seconds // 3_600))
    if seconds >= 120:
        return counted("{n} minute", "{n} minutes", int(seconds // 60))
    return counted("{n} second", "{n} seconds", int(seconds))


def show_dead(call: Call) -> View:
    """List the messages of a queue that failed too often, the oldest first."""
    queue, after = _queue(call), _after(call)
    with told(call), queues_of(call) as queues:
        peeked = queues.peek(queue, MessageState.DEAD, LISTED + 1, after) if queues else []
    letters, following = [Letter.of(one) for one in peeked[:LISTED]], ""
    if len(peeked) > LISTED:
        last = peeked[LISTED - 1]
        following = opening.dead(queue, after=f"{last.due!r}-{last.number}")
    data = {
        "queue": queue,
        "letters": letters,
        "action": opening.dead(queue),
        "status_url": opening.status(),
        "next_url": following,
        "done": _revived(call.request.query.get("revived", "")),
    }
    twin = {"letters": [asdict(one) for one in letters], "next": following or None}
    url = opening.dead(queue, after=call.request.query.get("after", ""))
    return View("crawl_dead.mako", data, twin, url)


def retry(call: Call) -> Response:
    """Let messages be worked on again: one (``number``), or all of the queue that failed."""
    queue, number = _queue(call), call.field("number")
    if number and whole_number(number, 0, 2**62) is None:
        raise BadRequest("The number of a message has digits only (number).")
    with told(call), queues_of(call, "write") as queues:
        revived = queues.revive(queue, [number] if number else None) if queues else 0
    note(call, "retry crawl messages", message=f"{queue} {number}".strip())
    url = opening.dead(queue, revived=revived)
    return changed_answer(call, url, {"queue": queue, "revived": revived}, 200)


def _revived(text: str) -> str:
    number = whole_number(text, 0, 10**9) if text else None
    if number is None:
        return ""
    return counted("{n} message is tried again.", "{n} messages are tried again.", number)


def _queue(call: Call) -> str:
    if call.params["queue"] not in ALL_QUEUES:
        raise NotFound("There is no queue of this name.")
    return call.params["queue"]


def _after(call: Call) -> Queued | None:
    text = call.request.query.get("after", "")
    if not text:
        return None
    due, _dash, number = text.rpartition("-")
    if not (_DUE.fullmatch(due) and whole_number(number, 0, 2**62) is not None):
        raise BadRequest("Unknown place in the list (after).")
    return Queued("", number, "", b"", 0, due=float(due))
