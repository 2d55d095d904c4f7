"""The relay of events over a made-up Kafka that fails in every way, and the steps on it."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from click.testing import CliRunner

from recordsilo.cli import silo_command
from usagestats.commands import visitors as visitors_command
from usagestats.visitors import relay as relay_room
from usagestats.visitors.errors import StreamUnusable
from usagestats.visitors.events import Visit, written
from usagestats.visitors.relay import Arrived, Passed, Relay, RelayedEvent
from usagestats.visitors.settings import FieldNames, Keeping, StepRoute
from usagestats.visitors.steps import flatten, profile

ROUTE = StepRoute("k:9092", "in", "out", "dead", "g", wait=0.05)


class KafkaError:
    """What confluent_kafka says of an error."""

    MSG_SIZE_TOO_LARGE = 10

    def __init__(self, text: str = "", code: int = 0, **marks: bool) -> None:
        self._text, self._code, self._marks = text, code, marks

    def str(self) -> str:
        return self._text

    def code(self) -> int:
        return self._code

    def fatal(self) -> bool:
        return self._marks.get("fatal", False)

    def retriable(self) -> bool:
        return self._marks.get("retriable", False)

    def txn_requires_abort(self) -> bool:
        return self._marks.get("abort", False)


class KafkaException(Exception):
    """Carries a `KafkaError`."""


@dataclass
class TopicPartition:
    topic: str
    partition: int
    offset: int = -1001


@dataclass
class Message:
    """A message of the topic that is read; `failing` is an error in its place."""

    place: int
    data: bytes | None = b"{}"
    failing: KafkaError | None = None
    part: int = 0

    def topic(self) -> str:
        return "in"

    def partition(self) -> int:
        return self.part

    def offset(self) -> int:
        return self.place

    def timestamp(self) -> tuple[int, int]:
        return 1, 1000 + self.place

    def key(self) -> bytes:
        return b"k%d" % self.place

    def value(self) -> bytes | None:
        return self.data

    def headers(self) -> list[tuple[str, bytes]] | None:
        return [("h", b"1")] if self.place else None

    def error(self) -> KafkaError | None:
        return self.failing


@dataclass
class Broker:
    """A Kafka in memory: the messages to read, and what was committed.

    Attributes:
        fails: Name of a method of the producer → errors that its next calls raise.
    """

    messages: list[Message] = field(default_factory=list)
    fails: dict[str, list[BaseException]] = field(default_factory=dict)
    topics: Sequence[str] = ("in", "out", "dead")
    read: int = 0
    committed_offset: int = 0
    open: list[tuple[Any, ...]] = field(default_factory=list)
    committed: list[tuple[Any, ...]] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    settings: list[dict[str, str]] = field(default_factory=list)
    handlers: dict[str, Callable[..., None]] = field(default_factory=dict)
    moves: dict[int, Callable[[], None]] = field(default_factory=dict)
    BufferError = BufferError
    KafkaException = KafkaException
    KafkaError = KafkaError
    TopicPartition = TopicPartition
    OFFSET_BEGINNING = -2

    def call(self, name: str) -> None:
        self.called.append(name)
        if errors := self.fails.get(name):
            raise errors.pop(0)

    def Producer(self, settings: dict[str, str]) -> "Producer":
        self.settings.append(settings)
        return Producer(self)

    def Consumer(self, settings: dict[str, str]) -> "Consumer":
        self.settings.append(settings)
        return Consumer(self)


@dataclass
class Producer:
    broker: Broker

    def list_topics(self, timeout: float) -> Any:
        assert timeout
        self.broker.call("list_topics")
        return type("Known", (), {"topics": dict.fromkeys(self.broker.topics)})

    def init_transactions(self, _seconds: float) -> None:
        self.broker.call("init")

    def begin_transaction(self) -> None:
        self.broker.call("begin")
        self.broker.open = []

    def produce(self, topic: str, value: bytes, key: bytes, **more: Any) -> None:
        self.broker.call("produce")
        headers = [(name, text.decode()) for name, text in more["headers"]]
        self.broker.open.append((topic, value, key, more["timestamp"], headers))

    def poll(self, _seconds: float) -> None:
        self.broker.call("poll")

    def send_offsets_to_transaction(self, places: Any, _group: Any, _seconds: float) -> None:
        self.broker.call("offsets")
        self.offset = max(one.offset for one in places)

    def commit_transaction(self, _seconds: float) -> None:
        self.broker.call("commit")
        self.broker.committed += self.broker.open
        self.broker.committed_offset = self.offset

    def abort_transaction(self, _seconds: float) -> None:
        self.broker.call("abort")
        self.broker.open = []


@dataclass
class Consumer:
    broker: Broker

    def subscribe(self, topics: list[str], **handlers: Callable[..., None]) -> None:
        assert topics == ["in"]
        self.broker.handlers = handlers

    def poll(self, _seconds: float) -> Message | None:
        if move := self.broker.moves.pop(self.broker.read, None):
            move()
        if self.broker.read >= len(self.broker.messages):
            return None
        self.broker.read += 1
        return self.broker.messages[self.broker.read - 1]

    def consumer_group_metadata(self) -> str:
        return "group"

    def assignment(self) -> list[TopicPartition]:
        return [TopicPartition("in", 0)]

    def committed(self, places: list[TopicPartition], _seconds: float) -> list[TopicPartition]:
        offset = self.broker.committed_offset or -1001
        return [TopicPartition(one.topic, one.partition, offset) for one in places]

    def seek(self, place: TopicPartition) -> None:
        self.broker.called.append(f"seek {place.offset}")
        self.broker.read = max(place.offset, 0)

    def close(self) -> None:
        self.broker.called.append("close")


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    found = Broker([Message(number, b'{"n": %d}' % number) for number in range(3)])
    monkeypatch.setattr(relay_room, "needed", lambda _module, _extra: found)
    return found


def passed_on(batch: Sequence[Arrived]) -> Iterable[RelayedEvent]:
    return [RelayedEvent(one, one.value) for one in batch]


def run(broker: Broker, step: Any = passed_on, route: StepRoute = ROUTE, **more: Any) -> Passed:
    """Run until every message is committed."""
    relay = Relay(route)
    turns = iter(range(30))
    return relay.run(
        step,
        lambda: broker.committed_offset == len(broker.messages) or next(turns, None) is None,
        **more,
    )


def test_each_event_is_written_with_its_key_time_and_headers(broker: Broker) -> None:
    told: list[list[tuple[str, int, int]]] = []
    passed = run(broker, committed=lambda some: told.append(list(some)))
    assert passed == Passed(3, 3, 0)
    assert broker.committed == [
        ("out", b'{"n": %d}' % n, b"k%d" % n, 1000 + n, [("h", "1")] if n else []) for n in range(3)
    ]
    assert told == [[("in", 0, 0), ("in", 0, 1), ("in", 0, 2)]]
    assert broker.called.count("commit") == 1


def test_a_batch_has_a_most_number_of_events(broker: Broker) -> None:
    sizes: list[int] = []

    def step(batch: Sequence[Arrived]) -> Iterable[RelayedEvent]:
        sizes.append(len(batch))
        return passed_on(batch)

    run(broker, step, StepRoute("k", "in", "out", "dead", "g", batch=2, wait=0.05))
    assert sizes == [2, 1]


@pytest.mark.parametrize("where", ["produce", "offsets", "commit"])
def test_an_aborted_transaction_is_read_again_and_written_once(broker: Broker, where: str) -> None:
    broker.fails[where] = [KafkaException(KafkaError("fenced", abort=True))]
    told: list[Any] = []
    assert run(broker, committed=told.extend).sent == 3
    assert [one[1] for one in broker.committed] == [b'{"n": %d}' % n for n in range(3)]
    assert "abort" in broker.called
    assert f"seek {Broker.OFFSET_BEGINNING}" in broker.called
    assert len(told) == 3


def test_what_was_committed_before_is_not_read_again(broker: Broker) -> None:
    route = StepRoute("k", "in", "out", "dead", "g", batch=1, wait=0.05)
    broker.fails["begin"] = []
    broker.moves[1] = lambda: broker.fails.update(
        commit=[KafkaException(KafkaError("fenced", abort=True))]
    )
    assert run(broker, route=route).sent == 3
    assert "seek 1" in broker.called
    assert [one[2] for one in broker.committed] == [b"k0", b"k1", b"k2"]


def test_a_producer_that_is_beyond_help_is_replaced(broker: Broker) -> None:
    broker.fails["commit"] = [KafkaException(KafkaError("dead", fatal=True))]
    assert run(broker).sent == 3
    names = [one["transactional.id"] for one in broker.settings if "transactional.id" in one]
    assert len(set(names)) == len(names) == 2
    assert all(one.startswith("g-") for one in names)


def test_what_fails_for_a_moment_is_repeated_and_not_for_ever(broker: Broker) -> None:
    busy = KafkaException(KafkaError("busy", retriable=True))
    broker.fails["commit"] = [busy] * 4
    assert run(broker).sent == 3
    assert (broker.called.count("commit"), broker.called.count("abort")) == (5, 0)
    broker.fails["commit"], broker.committed_offset, broker.read = [busy] * 5, 0, 0
    with pytest.raises(StreamUnusable, match="Kafka at k:9092 cannot be used: busy"):
        run(broker)
    assert "abort" in broker.called


def test_an_error_of_the_step_commits_nothing(broker: Broker) -> None:
    def step(_batch: Sequence[Arrived]) -> Iterable[RelayedEvent]:
        raise StreamUnusable("Redis is away")

    with pytest.raises(StreamUnusable, match="Redis is away"):
        run(broker, step)
    assert (broker.committed, broker.called[-1]) == ([], "abort")


def test_a_full_buffer_is_emptied_first(broker: Broker) -> None:
    broker.fails["produce"] = [BufferError(), BufferError()]
    assert run(broker).sent == 3
    assert broker.called.count("poll") == 2


def test_an_event_that_is_too_large_becomes_a_dead_letter(broker: Broker) -> None:
    large = KafkaException(KafkaError("large", KafkaError.MSG_SIZE_TOO_LARGE))
    broker.fails["produce"] = [large]
    assert run(broker) == Passed(3, 2, 1)
    topic, value, key, _, headers = broker.committed[0]
    assert (topic, value, key) == ("dead", b'{"n": 0}', b"k0")
    assert headers == [
        ("reason", "the event is too large with its profile"), ("origin", "in/0/0"),
    ]  # fmt: skip
    broker.fails["produce"], broker.committed_offset, broker.read = [large, large], 0, 0
    with pytest.raises(StreamUnusable, match="large"):
        run(broker)


def test_events_of_a_partition_that_moved_away_are_left_to_its_new_owner(broker: Broker) -> None:
    broker.messages = [Message(0, part=1), Message(1), Message(2)]
    broker.moves[1] = lambda: broker.handlers["on_revoke"](None, [TopicPartition("in", 1)])
    assert run(broker).read == 2
    assert [one[2] for one in broker.committed] == [b"k1", b"k2"]


def test_errors_of_reading_end_the_run_unless_they_pass(broker: Broker) -> None:
    broker.messages.insert(1, Message(1, failing=KafkaError("slow", retriable=True)))
    relay = Relay(ROUTE)
    assert relay.run(passed_on, lambda: bool(broker.committed)).sent == 3
    for error in (KafkaError("gone"), KafkaError("broken", retriable=True, fatal=True)):
        broker.messages, broker.read = [Message(0, failing=error)], 0
        with pytest.raises(StreamUnusable, match=f"cannot be used: {error.str()}"):
            relay.run(passed_on, lambda: False)


def test_it_ends_when_nothing_arrives_after_it_has_joined(broker: Broker) -> None:
    broker.messages = []
    broker.moves[0] = lambda: broker.handlers["on_assign"](None, [])
    relay = Relay(ROUTE)
    assert relay.run(passed_on, lambda: False, idle=0.01) == Passed()
    relay.close()
    assert broker.called[-1] == "close"


def test_missing_topics_are_named_before_anything_is_read(broker: Broker) -> None:
    broker.topics = ("in",)
    with pytest.raises(StreamUnusable, match="has no topic out and no topic dead; create it, or"):
        Relay(ROUTE)
    broker.fails["list_topics"] = [KafkaException(KafkaError("no broker"))]
    with pytest.raises(StreamUnusable, match="Kafka at k:9092 cannot be used: no broker"):
        Relay(ROUTE)


def test_settings_are_for_both_or_for_one(broker: Broker) -> None:
    settings = {"a": "1", "consumer.b": "2", "producer.c": "3", "group.id": "other"}
    Relay(StepRoute("k", "in", "out", "dead", "g", settings))
    consumer = next(one for one in broker.settings if "auto.offset.reset" in one)
    producer = next(one for one in broker.settings if "transactional.id" in one)
    assert {name: consumer.get(name) for name in "abc"} == {"a": "1", "b": "2", "c": None}
    assert {name: producer.get(name) for name in "abc"} == {"a": "1", "b": None, "c": "3"}
    assert not {"producer.c", "consumer.b"} & {*consumer, *producer}
    assert consumer["group.id"] == "other"
    assert consumer["isolation.level"] == "read_committed"


# --------------------------------------------------------------------------- the steps


class MadeUpProfiles:
    """Answers with the number of the event, and keeps what it was asked."""

    def __init__(self) -> None:
        self.visits: list[tuple[str, int, int, Visit]] = []

    def after(self, visits: list[tuple[str, int, int, Visit]]) -> list[dict[str, str]]:
        self.visits += visits
        return [{"visit_id": f"v{offset}", "visitor_id": one.user} for _, _, offset, one in visits]


def test_each_event_gets_its_own_profile_between_dead_letters() -> None:
    names, made_up = FieldNames(user="u", session="s", page="p", event_type="e"), MadeUpProfiles()
    events = [{"u": "anna", "s": "1", "e": "Pageview", "p": "Home"}, {"s": "1"}, {"u": 7, "e": "x"}]
    values = [*(json.dumps(one).encode() for one in events), b"\xff"]
    batch = [Arrived("in", 3, at, 50 + at, None, value) for at, value in enumerate(values)]
    found = list(profile(batch, made_up, names, 10_000))  # type: ignore[arg-type]
    assert [one.reason for one in found] == [
        "", "the event has no user id (u)", "", "the message is not JSON in UTF-8",
    ]  # fmt: skip
    assert json.loads(found[0].value or b"") == {
        **events[0], "profile_visit_id": "v0", "profile_visitor_id": "anna",
    }  # fmt: skip
    assert json.loads(found[2].value or b"")["profile_visit_id"] == "v2"
    assert [one.value for one in (found[1], found[3])] == [values[1], values[3]]
    assert made_up.visits == [
        ("in", 3, 0, Visit("anna", "1", "Home", 50)), ("in", 3, 2, Visit("7", "", None, 52)),
    ]  # fmt: skip


def test_flattened_events_keep_every_character() -> None:
    text = '{"query": [{"name": "ä", "value": "\\ud800 ü"}]}'
    (sent,) = flatten([Arrived("in", 0, 0, 0, None, text.encode())])
    assert sent.value == b'{"query-\xc3\xa4": "\xed\xa0\x80 \xc3\xbc"}'
    assert written({"a": None}) == b'{"a": null}'


@pytest.mark.parametrize(
    ("passed", "dead", "code"),
    [(Passed(1, 1, 0), "", 0), (Passed(1200, 1000, 200), ", 200 to tracking_dead_letters", 1)],
)
def test_the_command_says_how_many_events_passed(
    monkeypatch: pytest.MonkeyPatch, passed: Passed, dead: str, code: int
) -> None:
    asked: list[Any] = []

    def run_flatten(route: StepRoute, _stop: Any, *, idle: float | None) -> Passed:
        asked.append((route, idle))
        return passed

    monkeypatch.setattr(visitors_command, "run_flatten", run_flatten)
    words = ["usage", "visitors", "flatten", "--kafka", "k:1", "--set", "a=b=c", "--set", "d="]
    done = CliRunner().invoke(silo_command, [*words, "--until-idle", "2"], standalone_mode=False)
    assert done.return_value == code
    noun = "event" if passed.read == 1 else "events"
    assert done.stderr == f"{passed.read:,} {noun} read, {passed.sent:,} sent{dead}\n"
    (route, idle) = asked[0]
    assert (route.settings, route.group, idle) == ({"a": "b=c", "d": ""}, "python_flattener", 2.0)
    assert route.topics == ("tracking_processed", "tracking_flattened", "tracking_dead_letters")


def test_the_options_of_profiles_are_their_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run_profile(route: StepRoute, url: str, _stop: Any, **more: Any) -> Passed:
        asked.append((route.source, url, more["names"], more["keeping"]))
        raise StreamUnusable("Kafka is away")

    monkeypatch.setattr(visitors_command, "run_profile", run_profile)
    words = ["usage", "visitors", "profile", "--kafka", "k:1", "--redis", "redis://r", "--days",
             "3", "--prefix", "p", "--user-field", "u", "--time-field", "t"]  # fmt: skip
    done = CliRunner().invoke(silo_command, words)
    assert (done.exit_code, "Kafka is away" in done.output) == (3, True)
    assert asked == [
        ("tracking_flattened", "redis://r", FieldNames(user="u", time="t"), Keeping("p", 3))
    ]


@pytest.mark.parametrize("pair", ["x", "=y"])
def test_a_setting_without_a_name_or_a_value_is_refused(pair: str) -> None:
    words = ["usage", "visitors", "flatten", "--kafka", "k:1", "--set", pair]
    done = CliRunner().invoke(silo_command, words)
    assert (done.exit_code, "is not NAME=VALUE" in done.output) == (2, True)
