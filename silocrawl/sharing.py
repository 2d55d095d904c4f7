"""Crawls by several processes: their queues in one Redis, which belongs to one crawl.

The Silo with the targets launches. Any process with the same broker takes the messages, for the
same Silo or, on another machine, for a Silo of its own: it writes archives, log and index there.
What it needs to know of a target, it reads from the Redis.
"""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from recordsilo.disk.atomic_file import make_file, make_parents, replace_file
from recordsilo.disk.locks import Locks
from silocrawl.errors import CrawlingError, TargetNotFound
from silocrawl.launching import Launched, launched, launched_mark
from silocrawl.messages import CRAWL, RENDER
from silocrawl.paths import broker_file, broker_name_file, queues_file
from silocrawl.shared_queues import SharedQueues
from silocrawl.targets import (
    CrawlTarget,
    load_target,
    load_targets,
    target_names,
    target_of,
    target_text,
)
from silowork.errors import without_login
from silowork.ledger_file import Mode
from silowork.queues.opening import open_queues
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Message, Queues, QueueSize

SECONDS_OF_LEASE = 20.0
MOST_TRIES = 1_000
"""After which an address is a dead letter. A process that is killed had taken thousands of them,
and each of these counts as tried."""
PREFIX, OWNER = "crawl", "crawl-owner"
"""Of the keys in the Redis: those of the queues; of a queue with the name of the crawl."""
NONE, LOCK = "none", "crawl"
"""In place of a URL; the name of what a process holds that alone fetches for a Silo."""
_TOLD = "told"


class BrokerRefused(CrawlingError):
    """The queues of a Silo cannot be where they are wished."""


def broker_of(silo_path: str) -> str:
    """Return the URL of the Redis that has a Silo's queues; empty if a file has them."""
    with suppress(FileNotFoundError), open(broker_file(silo_path), encoding="utf-8") as file:
        return file.read().strip()
    return ""


def has_queues(silo_path: str) -> bool:
    """Whether something was ever launched or injected, or may have been by others."""
    return bool(broker_of(silo_path)) or os.path.exists(queues_file(silo_path))


@contextmanager
def fetching_alone(silo_path: str) -> Iterator[bool]:
    """Hold what says that a process fetches for a Silo, if it is free; yields whether it was."""
    for is_last in (False, False, True):
        with Locks.of_silo(silo_path).hold_name_if_free(LOCK) as is_free:
            if is_free or is_last:
                yield is_free
                return
        time.sleep(0.05)  # somebody looks: `is_fetched`


def is_fetched(silo_path: str) -> bool:
    """Whether a process fetches for a Silo whose queues are in a file."""
    locks = Locks.of_silo(silo_path)
    with suppress(OSError), locks.hold_name_if_free(LOCK) as is_free:
        return not is_free
    return False  # nothing can be written, so nothing is fetched


def open_crawl_queues(silo_path: str, mode: Mode = "create") -> Queues:
    """Open the queues of a Silo's crawls, where they are; those of documents are in the file.

    Args:
        mode: Of a file; `create` makes it.

    Raises:
        BrokerRefused: The Redis belongs to another crawl.
        QueueUnreachable: It does not answer.
    """
    return _opened(silo_path, broker_of(silo_path), mode)


def open_own_queues(silo_path: str) -> Queues:
    """Open the queues of what only this machine can do: work on what it has archived."""
    return _opened(silo_path, "", "create")


def _opened(silo_path: str, broker: str, mode: Mode) -> Queues:
    path = queues_file(silo_path)
    if not broker:
        if mode == "create":
            make_parents(path, silo_path)
        return SqliteQueues(path, mode, lease=SECONDS_OF_LEASE, most_tries=MOST_TRIES)
    with open_queues(path, broker, prefix=OWNER) as owner:
        _check_owner(silo_path, owner, broker)
    shared = open_queues(path, broker, prefix=PREFIX, lease=SECONDS_OF_LEASE, most_tries=MOST_TRIES)
    return SharedQueues(shared, _opened(silo_path, "", "create"))


def _check_owner(silo_path: str, queues: Queues, broker: str) -> None:
    """Take a Redis that nobody has; refuse one of another crawl.

    A Silo that has no name yet is of the crawl of the Redis from then on, unless it has targets.
    """
    path = broker_name_file(silo_path)
    name = _text_of(path)
    mine = name or secrets.token_hex(8)
    is_new = bool(queues.put([Message(OWNER, mine.encode(), OWNER)]))
    owner = mine if is_new else next(one.body.decode() for one in queues.peek(OWNER, most=1))
    if owner != mine and (name or target_names(silo_path)):
        raise BrokerRefused(
            f"the Redis {without_login(broker)} belongs to another crawl; take another one of its"
            " databases (redis://HOST/1); a Silo that shall take part in that crawl has no targets,"
            f" and no {path}"
        )
    if not name:
        make_parents(path, silo_path)
        with suppress(FileExistsError):
            make_file(path, owner.encode())


def _text_of(path: str) -> str:
    with suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        return file.read().strip()
    return ""


def use_broker(silo_path: str, broker: str) -> None:
    """Note where the queues of a Silo's crawls are from now on.

    The times of the launches go along; addresses do not, so there must not be any.

    Args:
        broker: URL of a Redis; ``none`` for the file.

    Raises:
        BrokerRefused: Addresses wait where the queues are now, or the Redis is of another crawl.
        QueueUnreachable: The Redis does not answer, or its URL is wrong.
    """
    new, old = "" if broker == NONE else broker, broker_of(silo_path)
    if new == old:
        return
    had_queues = has_queues(silo_path)
    locks = Locks.of_silo(silo_path)
    with locks.hold_name_if_free(LOCK) as is_free, _opened(silo_path, new, "create") as after:
        if not is_free:
            raise BrokerRefused(f"a crawl of {silo_path} is running with the file; end it first")
        if had_queues:
            with _opened(silo_path, old, "write") as before:
                _move(silo_path, before, after, without_login(old) or queues_file(silo_path))
        path = broker_file(silo_path)
        if new:
            make_parents(path, silo_path)
            replace_file(path, new.encode(), 0o600)
        else:
            os.unlink(path)


def _move(silo_path: str, before: Queues, after: Queues, place: str) -> None:
    """Let the times of the launches be known in other queues."""
    sizes = before.sizes()
    if any(sizes.get(name, QueueSize()).alive for name in (CRAWL, RENDER)):
        raise BrokerRefused(f"addresses wait in {place}; let a run fetch them first")
    for name in target_names(silo_path):
        mark = launched(before, name)
        if mark.due is not None and launched(after, name) == Launched():
            after.put((), mark=(launched_mark(name), mark.mark()))


# --------------------------------------------------------------------------- targets


def tell_targets(silo_path: str, queues: Queues) -> None:
    """Put what other Silos have to know of the targets of this one beside the queues.

    Those that this Silo told of and does not have any more are taken back.
    """
    there = target_names(silo_path)
    with open_own_queues(silo_path) as own:
        before = own.mark(_TOLD)
        texts = dict.fromkeys(set(before.split()).difference(there), "")
        texts |= {one.name: target_text(one) for one in load_targets(silo_path)[0]}
        for name, text in texts.items():
            if queues.mark(_mark(name)) != text:
                queues.put((), mark=(_mark(name), text))
        if " ".join(there) != before:
            own.put((), mark=(_TOLD, " ".join(there)))


def told_target(silo_path: str, queues: Queues, name: str) -> CrawlTarget:
    """Return a target of this Silo, or what another one has told of it.

    Raises:
        TargetRefused: There is none, or it is invalid.
    """
    try:
        return load_target(silo_path, name)
    except TargetNotFound:
        if text := queues.mark(_mark(name)):
            return target_of(name, text)
        raise


def _mark(name: str) -> str:
    return f"target {name}"
