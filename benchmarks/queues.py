"""What a queue costs, beside the bare cost of the same work in the same run.

    .venv/bin/python benchmarks/queues.py                 20,000 messages in each store

The bare work puts the same rows into a table of SQLite, or the same entries into a stream of Redis,
changes them as often, and commits as often; it knows no leases or tries, and no keys in Redis.
Goals: 5,000 puts and 2,500 takes with their acknowledgement a second of CPU, in batches, and one by
one by 32 threads.
"""

import argparse
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path

import redis
from store import Line, Spent, compared, timed

from silowork.queues.redis_streams import RedisKind, RedisQueues
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import QueueStep, StepWorker
from silowork.queues.values import Message, Queued, Queues
from silowork.stop import Stop

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "shared"))
from redis_server import redis_in

BATCH, THREADS = 100, 32
BODY = (
    b'{"uri": "https://eprints.example.org/id/eprint/%d/", "record": "oai:example:%d"}' + b" " * 100
)
Parts = Iterator[range]
Measure = Callable[[Callable[[range], None], Parts], Spent]


def parts(messages: int, size: int) -> Parts:
    for first in range(0, messages, size):
        yield range(first, min(first + size, messages))


def message(number: int) -> Message:
    return Message("first", BODY % (number, number), f"https://eprints.example.org/{number}")


# --------------------------------------------------------------------------- ours


def put(queues: Queues, numbers: range) -> None:
    assert queues.put(map(message, numbers)) == len(numbers)


def take(queues: Queues, numbers: range) -> None:
    """Take, acknowledge, and send on."""
    taken = queues.take("first", len(numbers))
    assert len(taken) == len(numbers)
    queues.done(taken, [Message("second", one.body, one.key) for one in taken])


# --------------------------------------------------------------------------- bare


class Bare:
    """The same rows in a table of its own, with the same durability."""

    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            self.connection.execute(f"PRAGMA {pragma}")
        self.connection.execute(
            "CREATE TABLE row"
            " (number INTEGER PRIMARY KEY, queue TEXT, key TEXT, body BLOB, due REAL)"
        )
        self.connection.execute("CREATE UNIQUE INDEX by_key ON row (queue, key)")
        self.connection.execute("CREATE INDEX by_due ON row (queue, due, number)")

    def put(self, numbers: range, queue: str = "first") -> None:
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany(
                "INSERT INTO row (queue, key, body, due) VALUES (?, ?, ?, 0)",
                [(queue, one.key, one.body) for one in map(message, numbers)],
            )

    def take(self, numbers: range) -> None:
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            rows = self.connection.execute(
                "SELECT number, body FROM row WHERE queue = 'first' AND due = 0"
                " ORDER BY number LIMIT ?",
                (len(numbers),),
            ).fetchall()
            marked = [(number,) for number, _ in rows]
            self.connection.executemany("UPDATE row SET due = 1 WHERE number = ?", marked)
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany(
                "UPDATE row SET due = 2, body = x'' WHERE number = ?", marked
            )
            self.connection.executemany(
                "INSERT INTO row (queue, key, body, due) VALUES ('second', ?, ?, 0)",
                [(f"{number}", body) for number, body in rows],
            )


class BareStream:
    """The same entries in a stream, by the commands of Redis alone."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        client.xgroup_create("bare", "workers", "0", mkstream=True)

    def put(self, numbers: range) -> None:
        with self.client.pipeline(transaction=True) as pipe:
            for one in map(message, numbers):
                pipe.xadd("bare", {"key": one.key, "body": one.body})
            pipe.execute()

    def take(self, numbers: range) -> None:
        found = self.client.xreadgroup("workers", "a", {"bare": ">"}, len(numbers))
        entries = found[b"bare"][0] if isinstance(found, dict) else found[0][1]
        with self.client.pipeline(transaction=True) as pipe:
            pipe.xack("bare", "workers", *(number for number, _ in entries))
            pipe.xdel("bare", *(number for number, _ in entries))
            for _, fields in entries:
                pipe.xadd("bare second", fields)
            pipe.execute()


# --------------------------------------------------------------------------- compared


def spent(work: Callable[[range], None], numbers: Parts) -> Spent:
    with timed() as found:
        for some in numbers:
            work(some)
    return found


def by_threads(work: Callable[[range], None], numbers: Parts) -> Spent:
    with timed() as found, ThreadPoolExecutor(THREADS) as threads:
        for _ in threads.map(work, numbers):
            pass
    return found


def lines_of(
    store: str, what: str, number: int, size: int, queues: Queues, bare: Bare | BareStream,
    measure: Measure,
) -> Iterator[Line]:  # fmt: skip
    """Put and take with both; bare work waits for nobody, so that it needs one thread."""
    alone = spent if measure is by_threads else measure
    for verb, mine, theirs in (
        ("put", partial(put, queues), bare.put),
        ("take, done and put on", partial(take, queues), bare.take),
    ):
        yield compared(
            f"{store}, {verb}, {what}",
            number,
            measure(mine, parts(number, size)),
            alone(theirs, parts(number, size)),
            "bare",
        )


def sqlite_lines(messages: int, directory: str) -> Iterator[Line]:
    for what, size, measure in (
        (f"in batches of {BATCH}", BATCH, spent),
        ("one by one", 1, spent),
        (f"one by one, {THREADS} threads", 1, by_threads),
    ):
        number = messages if size > 1 else messages // 4
        path = os.path.join(directory, f"{size}{measure.__name__}")
        bare = Bare(f"{path}.bare")
        with SqliteQueues(path) as queues, closing(bare.connection):
            yield from lines_of("SQLite", what, number, size, queues, bare, measure)


def redis_lines(messages: int, directory: str) -> Iterator[Line]:
    """The CPU is that of the client and of the Redis, which flushes once a second."""
    with redis_in(Path(directory)) as url, redis.Redis.from_url(url) as client:
        client.config_set("appendonly", "yes")

        def cpu() -> float:
            used = client.info("cpu")
            return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])

        def measure(work: Callable[[range], None], numbers: Parts) -> Spent:
            before = cpu()
            found = spent(work, numbers)
            return Spent(found.wall, found.cpu + cpu() - before)

        for what, size in ((f"in batches of {BATCH}", BATCH), ("one by one", 1)):
            client.flushall()
            queues = RedisQueues(client, RedisKind(lambda error: error))
            bare = BareStream(client)
            yield from lines_of("Redis", what, messages, size, queues, bare, measure)


def step_lines(messages: int, directory: str) -> Iterator[Line]:
    """A step of a warm child, without its work: it puts one message on."""

    def send_on(message: Queued) -> Iterator[Message]:
        yield Message("second", message.body, message.key)

    for most in (1, 10):
        with SqliteQueues(os.path.join(directory, f"steps{most}")) as queues:
            put(queues, range(messages // 4))
            worker = StepWorker(queues, [QueueStep("first", send_on, most)], Stop())
            with timed() as found:
                while worker.work_once():
                    pass
            each = 1000 * found.cpu / (messages // 4)
            yield Line(f"a step beside its work, {most} taken at once", f"{each:.2f} ms CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="silo-queues-", dir=arguments.directory) as directory:
        for line in chain(
            sqlite_lines(arguments.messages, directory),
            redis_lines(arguments.messages, directory),
            step_lines(arguments.messages, directory),
        ):
            print(" | ".join((line.what, line.ours, line.beside, line.ratio)), flush=True)


if __name__ == "__main__":
    main()
