"""Reads events from a topic and writes to others, each exactly once.

What a batch of events gives and the offsets of the batch are committed in one transaction of
Kafka. If a process dies, or its partitions go to another one, the transaction is aborted and
the events are read again.

Source: Kafka, KIP-447 ("Producer scalability for exactly once semantics").
"""

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from usagestats.packages import needed
from usagestats.visitors.errors import StreamUnusable
from usagestats.visitors.settings import StepRoute

_SECONDS_TO_CONNECT, _SECONDS_TO_ANSWER = 5.0, 15.0
_TRANSACTION_MS = 10_000


@dataclass(frozen=True, slots=True)
class Arrived:
    """An event as it was read.

    Attributes:
        time: Of the message, in milliseconds since 1970.
    """

    topic: str
    partition: int
    offset: int
    time: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True)
class RelayedEvent:
    """What is written for an event, with its key, time and headers.

    Attributes:
        reason: Why the event is a dead letter; ``""`` if it is none.
    """

    origin: Arrived
    value: bytes | None
    reason: str = ""


@dataclass(slots=True)
class Passed:
    """Numbers of events since the start."""

    read: int = 0
    sent: int = 0
    dead: int = 0


class Relay:
    """A consumer of a group, with its producer; close it in the end.

    Args:
        route: Where it reads and writes.

    Raises:
        PackageMissing: confluent-kafka is not installed.
        StreamUnusable: No broker answers, or it lacks a topic.
    """

    def __init__(self, route: StepRoute) -> None:
        self._kafka = needed("confluent_kafka", "kafka")
        self._route, self._revoked = route, set[tuple[str, int]]()
        self._idle_since: float | None = None
        self.passed = Passed()
        try:
            self._check_topics()
            self._producer = self._new_producer()
            self._consumer: Any = self._kafka.Consumer(
                {
                    "bootstrap.servers": route.brokers,
                    "group.id": route.group,
                    "enable.auto.commit": "false",
                    "auto.offset.reset": "earliest",
                    "isolation.level": "read_committed",
                    **self._settings("consumer."),
                }
            )
            self._consumer.subscribe(
                [route.source],
                on_assign=self._note_joined,
                on_revoke=self._note_revoked,
                on_lost=self._note_revoked,
            )
        except self._kafka.KafkaException as error:
            raise self._unusable(error) from None

    def run(
        self,
        step: Callable[[Sequence[Arrived]], Iterable[RelayedEvent]],
        stopped: Callable[[], bool],
        *,
        committed: Callable[[Iterable[tuple[str, int, int]]], None] = lambda _: None,
        idle: float | None = None,
    ) -> Passed:
        """Pass events on until stopped; return their numbers.

        Args:
            step: Makes what is written of a batch of events, in their order. It may be called
                again with the same events.
            stopped: Whether to end.
            committed: Called with topic, partition and offset of the events that are committed.
            idle: End when nothing arrives for this many seconds.

        Raises:
            StreamUnusable: Kafka cannot be used; every event is committed, or read again.
        """
        while not stopped():
            try:
                if batch := self._collected():
                    self._idle_since = time.monotonic()
                    if self._transaction(batch, step):
                        committed((one.topic, one.partition, one.offset) for one in batch)
                elif idle is not None and self._is_idle(idle):
                    break
            except self._kafka.KafkaException as error:
                raise self._unusable(error) from None
        return self.passed

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    # ------------------------------------------------------------------ reading

    def _collected(self) -> list[Arrived]:
        """Return the next events; without those of a partition that another process has now."""
        batch: list[Arrived] = []
        until = time.monotonic() + self._route.wait
        self._revoked.clear()
        while len(batch) < self._route.batch and (left := until - time.monotonic()) > 0:
            message = self._consumer.poll(left)
            if self._revoked:
                batch = [one for one in batch if (one.topic, one.partition) not in self._revoked]
                self._revoked.clear()
            if message is None:
                continue
            if error := message.error():
                if error.fatal() or not error.retriable():
                    raise self._kafka.KafkaException(error)
                continue
            batch.append(
                Arrived(
                    message.topic(), message.partition(), message.offset(),
                    message.timestamp()[1], message.key(), message.value(),
                    tuple(message.headers() or ()),
                )
            )  # fmt: skip
        return batch

    def _is_idle(self, seconds: float) -> bool:
        """Whether nothing arrived for a time, since the group gave this process its part."""
        since = self._idle_since
        return since is not None and time.monotonic() - since > seconds

    def _note_joined(self, _consumer: Any, _partitions: Sequence[Any]) -> None:
        self._idle_since = time.monotonic()

    def _note_revoked(self, _consumer: Any, partitions: Sequence[Any]) -> None:
        self._revoked.update((one.topic, one.partition) for one in partitions)

    # ------------------------------------------------------------------ writing

    def _transaction(
        self, batch: Sequence[Arrived], step: Callable[[Sequence[Arrived]], Iterable[RelayedEvent]]
    ) -> bool:
        """Write what a batch gives, and commit it with its offsets; return whether it was."""
        try:
            self._producer.begin_transaction()
            results = list(step(batch))
            dead = sum(map(self._produce, results))
            self._repeated(
                self._producer.send_offsets_to_transaction,
                self._positions(batch),
                self._consumer.consumer_group_metadata(),
            )
            self._repeated(self._producer.commit_transaction)
        except self._kafka.KafkaException as error:
            self._start_again(error)
            return False
        except BaseException:
            self._producer.abort_transaction(_SECONDS_TO_ANSWER)
            raise
        self.passed.read += len(batch)
        self.passed.dead += dead
        self.passed.sent += len(results) - dead
        return True

    def _produce(self, sent: RelayedEvent) -> bool:
        """Write a result; one that is too large becomes a dead letter. Return whether it is."""
        origin, reason = sent.origin, sent.reason
        topic, value = self._route.target, sent.value
        headers = list(origin.headers)
        while True:
            if reason:
                topic, value = self._route.dead_letters, origin.value
                headers += [
                    ("reason", reason.encode()),
                    ("origin", f"{origin.topic}/{origin.partition}/{origin.offset}".encode()),
                ]
            try:
                self._producer.produce(
                    topic, value, origin.key, timestamp=max(origin.time, 0), headers=headers
                )
            except BufferError:
                self._producer.poll(1.0)
            except self._kafka.KafkaException as error:
                if reason or error.args[0].code() != self._kafka.KafkaError.MSG_SIZE_TOO_LARGE:
                    raise
                reason = "the event is too large with its profile"
            else:
                return bool(reason)

    def _positions(self, batch: Sequence[Arrived]) -> list[Any]:
        after = {(one.topic, one.partition): one.offset + 1 for one in batch}
        return [self._kafka.TopicPartition(*place, offset) for place, offset in after.items()]

    def _repeated(self, call: Callable[..., object], *given: object) -> None:
        """Call a function of the transaction until it does not fail for a moment only."""
        for left in range(4, -1, -1):
            try:
                call(*given, _SECONDS_TO_ANSWER)
                return
            except self._kafka.KafkaException as error:
                if not (error.args[0].retriable() and left):
                    raise

    def _start_again(self, error: Any) -> None:
        """Abort the transaction, and go back to what is committed."""
        cause = error.args[0]
        if cause.fatal():
            self._producer = self._new_producer()
        elif cause.txn_requires_abort():
            self._repeated(self._producer.abort_transaction)
        else:
            self._producer.abort_transaction(_SECONDS_TO_ANSWER)
            raise error
        assigned = self._consumer.assignment()
        for place in self._consumer.committed(assigned, _SECONDS_TO_ANSWER) if assigned else ():
            if place.offset < 0:
                place.offset = self._kafka.OFFSET_BEGINNING
            self._consumer.seek(place)

    # ------------------------------------------------------------------ connecting

    def _new_producer(self) -> Any:
        producer = self._kafka.Producer(
            {
                "bootstrap.servers": self._route.brokers,
                "transactional.id": f"{self._route.group}-{uuid.uuid4()}",
                "transaction.timeout.ms": str(_TRANSACTION_MS),
                "partitioner": "murmur2_random",
                **self._settings("producer."),
            }
        )
        producer.init_transactions(_SECONDS_TO_ANSWER)
        return producer

    def _check_topics(self) -> None:
        asking = self._kafka.Producer(
            {"bootstrap.servers": self._route.brokers, **self._settings("producer.")}
        )
        known = asking.list_topics(timeout=_SECONDS_TO_CONNECT).topics
        if missing := [topic for topic in self._route.topics if topic not in known]:
            raise StreamUnusable(
                f"Kafka at {self._route.brokers} has no topic {' and no topic '.join(missing)}; "
                "create it, or name another"
            )

    def _settings(self, role: str) -> dict[str, str]:
        other = {"consumer.": "producer.", "producer.": "consumer."}[role]
        return {
            name.removeprefix(role): value
            for name, value in self._route.settings.items()
            if not name.startswith(other)
        }

    def _unusable(self, error: Any) -> StreamUnusable:
        reason = error.args[0].str()
        return StreamUnusable(f"Kafka at {self._route.brokers} cannot be used: {reason}")
