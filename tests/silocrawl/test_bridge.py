"""The bridge to a RabbitMQ, without one: its decisions, and what it tells people."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from feed_messages import outcome
from ports import free_port

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.amqp.bridge import (
    MOST_HELD,
    MOST_SENT,
    BridgeSummary,
    IncomingMessages,
    Outgoing,
)
from silocrawl.amqp.declaring import BrokerLost
from silocrawl.amqp.incoming import MOST_BYTES, MOST_KEPT, message_from
from silocrawl.amqp.settings import (
    AmqpRefused,
    AmqpSettings,
    amqp_settings,
    broker_of_url,
)
from silocrawl.heritrix.outcomes import crawled_of
from silocrawl.messages import (
    CATALOGUE,
    CRAWL,
    INDEX,
    CrawlAddress,
    FoundDocument,
    document_message,
    message_of,
)
from silocrawl.paths import amqp_file
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Message, MessageState, QueueSize

BROKER = broker_of_url("amqp://127.0.0.1")


class FakeChannel:
    """What a channel of the client does, and what was asked of it."""

    def __init__(self) -> None:
        self.published: list[tuple[str, str, bytes, Any]] = []
        self.acknowledged: list[int] = []
        self.consumers: dict[str, Callable[..., object]] = {}

    def confirm_delivery(self, answered: Callable[..., object]) -> None:
        self.answered = answered

    def add_on_return_callback(self, returned: Callable[..., object]) -> None:
        self.returned = returned

    def basic_publish(
        self, exchange: str, key: str, body: bytes, about: Any, *, mandatory: bool
    ) -> None:
        assert mandatory
        assert about.delivery_mode == 2
        self.published.append((exchange, key, body, about))

    def basic_qos(self, *, prefetch_count: int) -> None:
        assert prefetch_count == MOST_HELD

    def basic_consume(self, name: str, arrived: Callable[..., object]) -> None:
        self.consumers[name] = arrived

    def basic_ack(self, tag: int, *, multiple: bool) -> None:
        assert multiple
        self.acknowledged.append(tag)

    def answer(self, tag: int, *, multiple: bool = False, name: str = "Basic.Ack") -> None:
        method = SimpleNamespace(delivery_tag=tag, multiple=multiple, NAME=name)
        self.answered(SimpleNamespace(method=method))

    def deliver(self, queue: str, tag: int, body: bytes) -> None:
        self.consumers[queue](self, SimpleNamespace(delivery_tag=tag), None, body)


def size(queues: SqliteQueues, queue: str) -> QueueSize:
    return queues.sizes().get(queue, QueueSize())


# --------------------------------------------------------------------------- out


@pytest.fixture
def channel() -> FakeChannel:
    return FakeChannel()


@pytest.fixture
def outgoing(queues: SqliteQueues, channel: FakeChannel) -> Outgoing:
    found = Outgoing(queues, CRAWL, AmqpSettings(BROKER), BridgeSummary())
    found.begin(channel, lambda: None)
    return found


def put_addresses(queues: SqliteQueues, count: int) -> None:
    queues.put(message_of(CrawlAddress(f"http://a.example/{one}")) for one in range(count))


def test_an_address_is_done_when_the_broker_has_confirmed_it(
    queues: SqliteQueues, outgoing: Outgoing, channel: FakeChannel
) -> None:
    put_addresses(queues, 4)
    outgoing.publish()
    assert [one[:2] for one in channel.published] == [("umbra", "requests")] * 4
    assert json.loads(channel.published[0][2])["parentUrlMetadata"]["pathFromSeed"] == ""
    outgoing.settle()
    assert size(queues, CRAWL).taken == 4
    channel.answer(3, multiple=True)
    outgoing.settle()
    assert (size(queues, CRAWL).done, size(queues, CRAWL).taken) == (3, 1)
    channel.answer(4)
    outgoing.settle()
    assert (size(queues, CRAWL).done, outgoing.waits) == (4, False)


def test_what_is_not_confirmed_is_given_back_when_the_connection_is_lost(
    queues: SqliteQueues, outgoing: Outgoing, channel: FakeChannel
) -> None:
    put_addresses(queues, 3)
    outgoing.publish()
    channel.answer(2)
    outgoing.forget()
    assert (size(queues, CRAWL).done, size(queues, CRAWL).waiting) == (1, 2)


@pytest.mark.parametrize("is_returned", [True, False])
def test_an_address_for_which_the_broker_has_no_place_waits(
    queues: SqliteQueues, outgoing: Outgoing, channel: FakeChannel, is_returned: bool
) -> None:
    put_addresses(queues, 1)
    outgoing.publish()
    if is_returned:
        channel.returned(channel, None, channel.published[0][3], b"")
    channel.answer(1, name="Basic.Ack" if is_returned else "Basic.Nack")
    with pytest.raises(BrokerLost, match="umbra has no queue for requests now"):
        outgoing.settle()
    assert size(queues, CRAWL).later == 1


def test_an_address_that_would_end_the_consumer_is_a_dead_letter(
    queues: SqliteQueues, outgoing: Outgoing, channel: FakeChannel
) -> None:
    queues.put([Message(CRAWL, b"{}"), Message(CRAWL, b"\xff")])
    outgoing.publish()
    assert channel.published == []
    assert size(queues, CRAWL).dead == 2


def test_no_more_than_some_wait_for_a_confirmation(
    queues: SqliteQueues, outgoing: Outgoing, channel: FakeChannel
) -> None:
    put_addresses(queues, MOST_SENT + 600)
    outgoing.publish()
    outgoing.publish()
    assert len(channel.published) == MOST_SENT
    channel.answer(MOST_SENT // 2, multiple=True)
    outgoing.publish()
    assert len(channel.published) == MOST_SENT + MOST_SENT // 2


# --------------------------------------------------------------------------- in


@pytest.fixture
def incoming(queues: SqliteQueues, channel: FakeChannel) -> IncomingMessages:
    found = IncomingMessages(queues, AmqpSettings(BROKER), BridgeSummary())
    found.begin(channel, lambda: None)
    return found


def test_what_comes_is_acknowledged_when_our_queue_has_it(
    queues: SqliteQueues,
    incoming: IncomingMessages,
    channel: FakeChannel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for tag, number in enumerate([1, 2, 1], start=1):
        channel.deliver(INDEX, tag, outcome(number))
    with monkeypatch.context() as patched:
        patched.setattr(queues, "put", lambda _: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            incoming.settle()
    assert channel.acknowledged == []
    incoming.settle()
    incoming.settle()
    assert (channel.acknowledged, size(queues, INDEX).waiting) == ([3], 2)


def test_what_was_not_acknowledged_is_forgotten_when_the_connection_is_lost(
    queues: SqliteQueues, incoming: IncomingMessages, channel: FakeChannel
) -> None:
    channel.deliver(INDEX, 1, outcome())
    incoming.forget()
    incoming.settle()
    assert size(queues, INDEX) == QueueSize()


HOSTILE = {
    b"": "not JSON",
    b"\xff\xfe{}": "not JSON",
    b"[" * 100_000: "not JSON",
    b'{"a":' * 5_000 + b"1" + b"}" * 5_000: "not JSON",
    b"null": "not a JSON object",
    b"[1]": "not a JSON object",
    b"{}": "no address",
    outcome(url=None): "no address",
    outcome(url="http://a.example/\ud800"): "no address",
    outcome(url="http://a.example/\0"): "no address",
    outcome(url={"a": [1]}): "no address",
    outcome(timestamp=None): "no time",
    outcome(status_code=None): "no status",
    outcome(status_code=True): "no status",
    outcome(warc_filename="../../etc/passwd"): "not a WARC file",
    b"1" * 5_000: "JSON",
    b'{"a":' + b"1" * 5_000 + b"}": "not JSON",
    b"{" + b" " * MOST_BYTES + b"}": "262,146 bytes",
}


@pytest.mark.parametrize(("body", "reason"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_what_is_invalid_is_a_dead_letter_with_its_reason(
    queues: SqliteQueues, incoming: IncomingMessages, channel: FakeChannel, body: bytes, reason: str
) -> None:
    channel.deliver(INDEX, 1, body)
    channel.deliver(INDEX, 2, body)
    channel.deliver(INDEX, 3, outcome())
    incoming.settle()
    assert channel.acknowledged == [3]
    (letter,) = queues.peek(INDEX, MessageState.DEAD)
    assert reason in letter.reason
    assert letter.body == (body if len(body) <= MOST_BYTES else body[:MOST_KEPT])
    assert size(queues, INDEX).waiting == 1


def test_documents_are_catalogued_and_outcomes_that_come_as_documents_are_outcomes() -> None:
    document = FoundDocument("http://a.example/1.pdf", "A" * 32, "20261201020000", "a/b",
                             record="oai:x:1")  # fmt: skip
    put = document_message(document)
    assert message_from(CATALOGUE, put.body, len(put.body)) == put
    found = message_from(CATALOGUE, outcome(), 0)
    assert (found.queue, found.key) == (INDEX, "http://a.example/1 20261124061149123")
    assert found.key == crawled_of(found.body).key
    refused = message_from(CATALOGUE, b'{"document_url": 1}', 0)
    assert (refused.queue, bool(refused.reason)) == (CATALOGUE, True)


# --------------------------------------------------------------------------- settings


@pytest.fixture
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "netrc"
    path.write_text("machine mq.example.org login silo password of-netrc\n")
    monkeypatch.setenv("NETRC", str(path))


def test_an_address_has_usual_parts(netrc: None) -> None:
    one = broker_of_url("amqp://127.0.0.1")
    assert (one.host, one.port, one.vhost, one.user, one.password) == (
        "127.0.0.1", 5672, "/", "guest", "guest"
    )  # fmt: skip
    one = broker_of_url("amqps://a%40b:p%2Fw@mq.example.org/a%2Fb")
    assert (one.port, one.vhost, one.user, one.password) == (5671, "a/b", "a@b", "p/w")
    assert one.shown == "amqps://mq.example.org:5671/a%2Fb"
    assert "p/w" not in repr(one)
    for url in ("amqp://silo@mq.example.org", "amqp://mq.example.org"):
        one = broker_of_url(url)
        assert (one.user, one.password) == ("silo", "of-netrc")
    assert broker_of_url("amqp://guest@[::1]:1").shown == "amqp://[::1]:1"


@pytest.mark.parametrize("url", [
    "http://a.example", "amqp://", "amqp://a:b", "amqp://a:99999999", "amqp://a/b/c", "amqp://a/?b",
    "amqp://a/%ff", "amqp://a/#b", "a.example", "amqp://[::1",
])  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(AmqpRefused, match="an address is like"):
        broker_of_url(url)


def settings_file(silo: Silo, text: str, mode: int = 0o644) -> None:
    path = Path(amqp_file(silo.path))
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def test_the_file_has_names_and_the_environment_a_password(silo: Silo, netrc: None) -> None:
    settings_file(
        silo,
        'url = "amqp://silo@mq.example.org/c"\nexchange = "heritrix"\n[queues]\n'
        'uris-to-index = "FC-1-uris-to-index"\n',
    )
    found = amqp_settings(silo.path, "", {})
    assert (found.exchange, found.out, found.into) == (
        "heritrix", {}, {INDEX: "FC-1-uris-to-index"}
    )  # fmt: skip
    assert (found.broker.vhost, found.broker.password) == ("c", "of-netrc")
    assert amqp_settings(silo.path, "", {"AMQP_URL": "amqp://a:b@c"}).broker.host == "c"
    assert amqp_settings(silo.path, "amqp://d", {"AMQP_URL": "amqp://a:b@c"}).broker.host == "d"
    with pytest.raises(AmqpRefused, match="no queue is bridged"):
        found.only("out")


@pytest.mark.parametrize(("text", "said"), [
    ("", "no broker is known"),
    ('url = "amqp://a:b@c"', "chmod 600"),
    ('url = "amqp://nobody@c.example"', "no password of nobody at c.example"),
    ("urls = 1", "there is no setting 'urls'"),
    ('url = "amqp://c"\nqueues = 1', "queues"),
    ('url = "amqp://c"\n[queues]\nuris-to-check = "a"', "'uris-to-check' is not a queue"),
    ('url = "amqp://c"\nexchange = "amq.direct"', "cannot be the name"),
    ('url = "amqp://c"\n[queues]\nuris-to-index = 1', "cannot be the name"),
    ("[", "cannot be read"),
])  # fmt: skip
def test_a_file_that_is_invalid_is_refused_in_a_sentence(silo: Silo, text: str, said: str) -> None:
    settings_file(silo, text)
    with pytest.raises(AmqpRefused, match=said):
        amqp_settings(silo.path, "", {})


def test_a_password_may_be_in_a_file_of_its_owner(silo: Silo) -> None:
    settings_file(silo, 'url = "amqp://a:b@c"', 0o600)
    assert amqp_settings(silo.path, "", {}).broker.password == "b"


# --------------------------------------------------------------------------- commands


def test_a_password_in_a_command_is_refused(silo: Silo) -> None:
    command = ["crawl", "bridge", silo.path, "--amqp", "amqp://silo:secret@127.0.0.1"]
    done = CliRunner().invoke(silo_command, command)
    assert (done.exit_code, "secret" in done.output) == (2, False)
    assert "AMQP_URL" in done.stderr


def test_queues_are_listed_although_the_broker_does_not_answer(
    silo: Silo, queues: SqliteQueues
) -> None:
    put_addresses(queues, 1)
    address = f"amqp://127.0.0.1:{free_port()}"
    done = CliRunner().invoke(silo_command, ["crawl", "queue", "ls", silo.path, "--amqp", address])
    assert (done.exit_code, CRAWL in done.stdout) == (1, True)
    assert f"the broker {address} cannot be reached ([Errno 111] Conn" in done.stderr
    assert "Traceback" not in done.output
