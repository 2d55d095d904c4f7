"""The bridge to a real RabbitMQ, which is killed, and is killed itself."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import pika
import pytest
from certificates import self_signed
from click.testing import CliRunner, Result
from feed_messages import outcome
from pika.exceptions import AMQPError
from ports import free_port
from rabbitmq_server import RabbitMQ, connected, rabbitmq_in
from waiting import wait_until

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.messages import CATALOGUE, CRAWL, INDEX, CrawlAddress, address_of, message_of
from silocrawl.paths import amqp_file
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import MessageState, QueueSize

pytestmark = pytest.mark.long
MANY, KILLS_OF_BROKER, KILLS_OF_BRIDGE = 2_000, 5, 10
SECONDS_UNTIL_KNOWN = 8.0
"""RabbitMQ 3.10.8 forgets a quorum queue that was declared a second before it is killed: it then
has no leader for ever, and nobody can take from it."""


@pytest.fixture
def mq(rabbitmq: RabbitMQ) -> RabbitMQ:
    """The RabbitMQ, without queues."""
    with connected(rabbitmq.url) as channel:
        for name in ("requests", INDEX, CATALOGUE):
            channel.queue_delete(name)
        channel.exchange_delete("umbra")
    return rabbitmq


def bridge(silo: Silo, mq: RabbitMQ, *more: str) -> Result:
    """Run the bridge until it is idle."""
    command = ["crawl", "bridge", silo.path, "--until-idle", *more]
    run = CliRunner(env={"AMQP_URL": mq.url})
    return run.invoke(silo_command, command, catch_exceptions=False, standalone_mode=False)


@contextmanager
def bridging(silo: Silo, mq: RabbitMQ, *more: str) -> Iterator["subprocess.Popen[str]"]:
    """The bridge in a process of its own."""
    main = "from recordsilo.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", main, "crawl", "bridge", silo.path, *more],
        env={**os.environ, "AMQP_URL": mq.url}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def put_addresses(queues: SqliteQueues, count: int, first: int = 0) -> None:
    found = [
        CrawlAddress(f"http://a.example/{one}", launch="a/20261201T020000Z")
        for one in range(first, first + count)
    ]
    assert queues.put(map(message_of, found)) == count


def publish(
    channel: pika.adapters.blocking_connection.BlockingChannel, queue: str, body: bytes
) -> None:
    about = pika.BasicProperties("application/json", delivery_mode=2)
    channel.basic_publish("umbra", queue, body, about, mandatory=True)


def taken(mq: RabbitMQ, name: str = "requests") -> list[bytes]:
    """All messages of a queue of the broker."""
    with connected(mq.url) as channel:
        found = []
        while (message := channel.basic_get(name, auto_ack=True))[0] is not None:
            found.append(message[2])
        return found


def size(queues: SqliteQueues, queue: str) -> QueueSize:
    return queues.sizes().get(queue, QueueSize())


def test_messages_pass_both_ways(silo: Silo, queues: SqliteQueues, mq: RabbitMQ) -> None:
    put_addresses(queues, MANY)
    assert bridge(silo, mq, "--only", "out").stdout == f"{MANY:,} out, 0 in\n"
    sent = [address_of(body) for body in taken(mq)]
    assert len(sent) == len({one.url for one in sent}) == MANY
    assert {one.launch for one in sent} == {"a/20261201T020000Z"}
    assert bridge(silo, mq, "--only", "in").stdout == "0 out, 0 in\n"
    with connected(mq.url) as channel:
        for number in range(MANY):
            publish(channel, INDEX, outcome(number))
        publish(channel, CATALOGUE, outcome(7))
        publish(channel, CATALOGUE, outcome(7, status_code=None))
    done = bridge(silo, mq)
    assert (done.stdout, done.return_value) == (
        f"0 out, {MANY + 2:,} in (1 known already); 1 dead letter\n", 1
    )  # fmt: skip
    assert (size(queues, INDEX).waiting, size(queues, CATALOGUE).dead) == (MANY, 1)


class Others:
    """Programs of others: one takes addresses, one says what became of addresses."""

    def __init__(self, mq: RabbitMQ) -> None:
        self._mq, self._ended = mq, threading.Event()
        self.got: list[str] = []
        self.told, self._wanted = 0, 0
        self._threads = [threading.Thread(target=one) for one in (self._take, self._tell)]

    def __enter__(self) -> "Others":
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for one in self._threads:
            one.join()

    def tell(self, count: int) -> None:
        """Say what became of so many more addresses."""
        self._wanted += count

    def _take(self) -> None:
        while not self._ended.is_set():
            with suppress(AMQPError, OSError), connected(self._mq.url) as channel:
                while not self._ended.is_set():
                    method, _, body = channel.basic_get("requests")
                    if method is None:
                        self._ended.wait(0.05)
                    else:
                        self.got.append(address_of(body).url)
                        channel.basic_ack(method.delivery_tag)
            self._ended.wait(0.2)

    def _tell(self) -> None:
        while not self._ended.is_set():
            with suppress(AMQPError, OSError), connected(self._mq.url) as channel:
                channel.confirm_delivery()
                while not self._ended.is_set():
                    if self.told == self._wanted:
                        self._ended.wait(0.02)
                    else:
                        publish(channel, INDEX, outcome(self.told))
                        self.told += 1
            self._ended.wait(0.2)


def urls(count: int) -> set[str]:
    return {f"http://a.example/{one}" for one in range(count)}


def all_passed(queues: SqliteQueues, others: Others) -> bool:
    return set(others.got) == urls(MANY) and size(queues, INDEX).waiting == MANY


def has_begun(queues: SqliteQueues, others: Others, first: int) -> bool:
    """Whether some messages of a part have passed in each direction."""
    return len(set(others.got)) > first and size(queues, INDEX).waiting > first


def told_urls(queues: SqliteQueues) -> set[str]:
    found = queues.peek(INDEX, MessageState.WAITING, 2 * MANY)
    assert len(found) == MANY
    return {json.loads(one.body)["url"] for one in found}


def test_a_broker_that_is_killed_loses_nothing(
    silo: Silo, queues: SqliteQueues, tmp_path: Path
) -> None:
    with rabbitmq_in(tmp_path / "mq") as mq, bridging(silo, mq) as process, Others(mq) as others:
        assert process.stderr is not None
        assert (
            process.stderr.readline()
            == f"silo: bridged to {mq.url.replace('guest:guest@', '')[:-4]}\n"
        )
        time.sleep(SECONDS_UNTIL_KNOWN)
        for number in range(KILLS_OF_BROKER):
            some = MANY // KILLS_OF_BROKER
            first = number * some
            others.tell(some)
            put_addresses(queues, some, first)
            wait_until(lambda first=first: has_begun(queues, others, first))
            mq.kill()
            mq.start()
        wait_until(lambda: all_passed(queues, others))
        process.terminate()
        _, complaints = process.communicate(timeout=60)
    assert told_urls(queues) == urls(MANY)
    lines = complaints.splitlines()
    assert process.returncode == 75
    assert sum("trying again until it answers" in one for one in lines) == KILLS_OF_BROKER


def test_a_bridge_that_is_killed_loses_nothing(
    silo: Silo, queues: SqliteQueues, mq: RabbitMQ
) -> None:
    with Others(mq) as others:
        for number in range(KILLS_OF_BRIDGE):
            before, some = size(queues, INDEX).waiting, MANY // KILLS_OF_BRIDGE
            put_addresses(queues, some, number * some)
            others.tell(some)
            with bridging(silo, mq) as process:
                wait_until(lambda before=before: size(queues, INDEX).waiting > before)
                process.kill()
        assert bridge(silo, mq).return_value == 0
        wait_until(lambda: all_passed(queues, others))
    assert told_urls(queues) == urls(MANY)


def test_hostile_messages_stop_nothing(silo: Silo, queues: SqliteQueues, mq: RabbitMQ) -> None:
    bridge(silo, mq, "--only", "in")
    with connected(mq.url) as channel:
        publish(channel, INDEX, b"[" * 100_000)
        publish(channel, INDEX, b"\xff" * 100)
        publish(channel, INDEX, b" " * (100 << 20))
        publish(channel, INDEX, outcome(1))
        publish(channel, CATALOGUE, b"null")
    with suppress(AMQPError), connected(mq.url) as channel:
        publish(channel, INDEX, b" " * (256 << 20))  # the broker itself takes no more than 128 MiB
        channel.queue_declare(INDEX, passive=True)
        pytest.fail("the broker took it")
    assert bridge(silo, mq).stdout == "0 out, 5 in; 4 dead letters\n"
    letters = queues.peek(INDEX, MessageState.DEAD)
    assert sum("104,857,600 bytes" in one.reason for one in letters) == 1
    assert (len(letters), size(queues, CATALOGUE).dead, size(queues, INDEX).waiting) == (3, 1, 1)


def test_queues_are_listed_on_both_sides(silo: Silo, queues: SqliteQueues, mq: RabbitMQ) -> None:
    put_addresses(queues, 3)
    bridge(silo, mq, "--only", "out")
    with connected(mq.url) as channel:
        channel.basic_consume("requests", lambda *_: None)
        channel.basic_cancel(channel.basic_consume("requests", lambda *_: None))
        found = CliRunner(env={"AMQP_URL": mq.url}).invoke(
            silo_command, ["crawl", "queue", "ls", silo.path]
        )
    lines = [line.split() for line in found.stdout.splitlines()]
    assert lines[-4:] == [
        ["at", "the", "broker", "messages", "takers"],
        ["requests", "0", "1"],
        [INDEX, "is", "not", "there"],
        [CATALOGUE, "is", "not", "there"],
    ]
    as_json = CliRunner(env={"AMQP_URL": mq.url}).invoke(
        silo_command, ["crawl", "queue", "ls", silo.path, "--json"]
    )
    (one,) = (row["at_broker"] for row in json.loads(as_json.stdout) if row["queue"] == CRAWL)
    assert (one["name"], one["messages"], one["is_there"]) == ("requests", 3, True)


def test_what_is_declared_otherwise_is_refused(silo: Silo, mq: RabbitMQ) -> None:
    with connected(mq.url) as channel:
        channel.queue_declare("requests", auto_delete=True)
    with pytest.raises(click.ClickException, match=r"requests of .* is declared otherwise"):
        bridge(silo, mq)
    stranger = mq.url.replace("guest:guest", "nobody:x")
    command = ["crawl", "bridge", silo.path]
    done = CliRunner(env={"AMQP_URL": stranger}).invoke(silo_command, command)
    assert (done.exit_code, "does not admit nobody" in done.stderr) == (2, True)
    settings = Path(amqp_file(silo.path))
    settings.write_text("declare = false\n")
    with pytest.raises(click.ClickException, match=f"lacks the queue {INDEX}"):
        bridge(silo, mq)
    settings.write_text('declare = false\n[queues]\nuris-to-crawl = "requests"\n')
    assert bridge(silo, mq).stdout == "0 out, 0 in\n"


def test_a_broker_is_known_by_its_certificate(
    silo: Silo, queues: SqliteQueues, tmp_path: Path
) -> None:
    key, port = self_signed(tmp_path), free_port()
    more = (
        f"listeners.ssl.default = 127.0.0.1:{port}\nssl_options.cacertfile = {key}\n"
        f"ssl_options.certfile = {key.with_suffix('.crt')}\nssl_options.keyfile = {key}\n"
    )
    put_addresses(queues, 3)
    with rabbitmq_in(tmp_path / "mq", more):
        url = f"amqps://guest@127.0.0.1:{port}"
        ls = ["crawl", "queue", "ls", silo.path, "--amqp", url]
        unknown = CliRunner().invoke(silo_command, ls)
        assert "certificate verify failed" in unknown.stderr
        Path(amqp_file(silo.path)).write_text(
            f'url = "{url}"\ncertificate = "{key.with_suffix(".crt")}"\n'
        )
        done = CliRunner().invoke(silo_command, ["crawl", "bridge", silo.path, "--until-idle"])
        assert done.stdout == "3 out, 0 in\n"


def test_a_run_bridges_by_itself(silo: Silo, queues: SqliteQueues, mq: RabbitMQ) -> None:
    put_addresses(queues, 50)
    Path(amqp_file(silo.path)).write_text(f'url = "amqp://127.0.0.1:{mq.port}"\n')
    command = ["crawl", "run", silo.path, "--until-idle"]
    done = CliRunner().invoke(silo_command, command, catch_exceptions=False, standalone_mode=False)
    assert (done.return_value, "bridged to" in done.stderr) == (0, True)
    assert len({address_of(one).url for one in taken(mq)}) == 50
    assert size(queues, CRAWL).done == 50
