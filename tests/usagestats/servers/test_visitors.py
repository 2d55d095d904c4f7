"""Events pass two steps over a real Kafka and a real Redis, each exactly once and in order."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from waiting import handles_sigterm, wait_until

pytestmark = pytest.mark.long
PARTITIONS = 4
VISITORS = 40
START = int(time.time() * 1000) - 10_000_000
MAIN = "from recordsilo.cli import main; main()"
QUICK = ("--set", "consumer.session.timeout.ms=1000", "--set", "consumer.heartbeat.interval.ms=200",
         "--set", "producer.transaction.timeout.ms=1500", "--set", "log_level=2")  # fmt: skip


def topics(kafka: str, name: str) -> dict[str, str]:
    """New topics of the two steps."""
    made = {one: f"{name}_{one}" for one in ("processed", "flattened", "persisted", "dead")}
    client = AdminClient({"bootstrap.servers": kafka})
    for done in client.create_topics([NewTopic(t, PARTITIONS, 1) for t in made.values()]).values():
        done.result()
    return made


def step(name: str, kafka: str, made: dict[str, str], url: str, *more: str) -> list[str]:
    way = {"flatten": ("processed", "flattened"), "profile": ("flattened", "persisted")}[name]
    redis = ["--redis", url] if name == "profile" else []
    return [sys.executable, "-c", MAIN, "usage", "visitors", name, "--kafka", kafka,
            "--from", made[way[0]], "--to", made[way[1]], "--dead-letters", made["dead"],
            "--group", f"{made[way[0]]}_group", *redis, *QUICK, *more]  # fmt: skip


def event(user: str | None, session: str, page: str, number: int) -> bytes:
    known = {
        "other_domain_userid": user, "other_domain_sessionid": session,
        "other_eventtype": "Pageview", "other_page_title": page, "number": number,
    }  # fmt: skip
    return json.dumps({"query": [{"name": n, "value": v} for n, v in known.items() if v]}).encode()


def produce(
    kafka: str, topic: str, messages: list[tuple[bytes | None, bytes | None]], first: int = 0
) -> None:
    producer = Producer(
        {"bootstrap.servers": kafka, "message.max.bytes": 900_000, "enable.idempotence": True}
    )
    for at, (key, value) in enumerate(messages, first):
        producer.produce(topic, value, key, timestamp=START + at // 5)
    producer.flush()


def consumed(kafka: str, topic: str) -> list[Any]:
    """All committed messages of a topic."""
    consumer = Consumer({
        "bootstrap.servers": kafka, "group.id": f"check-{time.time()}",
        "auto.offset.reset": "earliest", "isolation.level": "read_committed",
        "enable.partition.eof": True,
    })  # fmt: skip
    consumer.subscribe([topic])
    found, ended = [], set[int]()
    until = time.monotonic() + 120
    while len(ended) < PARTITIONS and time.monotonic() < until:
        message = consumer.poll(1)
        if message is not None and message.error():
            ended.add(message.partition())
        elif message is not None:
            found.append(message)
    consumer.close()
    assert len(ended) == PARTITIONS
    return found


def test_dead_letters_keep_key_and_bytes_and_say_why(
    kafka: str, redis_url: str, database: Any
) -> None:
    made = topics(kafka, "dead")
    huge = "p" * 899_000
    produce(kafka, made["processed"], [
        (b"k1", event("u1", "s", "Home", 1)), (b"k2", b"\xff\x00"), (b"k3", None),
        (b"k4", event(None, "s", "Home", 2)), (None, event("u2", "s", "Home", 3)),
        (b"k5", event("u5", "s", huge, 4)),
    ])  # fmt: skip
    for name in ("flatten", "profile"):
        done = subprocess.run(
            step(name, kafka, made, redis_url, "--until-idle", "3"),
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert "to dead_dead" in done.stderr
    dead = {one.key(): (one.value(), dict(one.headers())) for one in consumed(kafka, made["dead"])}
    assert {key: headers["reason"].decode() for key, (_, headers) in dead.items()} == {
        b"k2": "the message is not JSON in UTF-8",
        b"k3": "the message has no value",
        b"k4": "the event has no user id (query-other_domain_userid)",
        b"k5": "the event is too large with its profile",
    }
    assert dead[b"k2"][0] == b"\xff\x00"
    assert dead[b"k2"][1]["origin"].startswith(made["processed"].encode())
    sent = {one.key(): json.loads(one.value()) for one in consumed(kafka, made["persisted"])}
    assert set(sent) == {b"k1", None}
    assert sent[b"k1"]["profile_visitor_first_page"] == "Home"
    assert sent[b"k1"]["query-number"] == 1


def test_what_is_missing_is_said(kafka: str, redis_url: str) -> None:
    made = topics(kafka, "missing")
    wrong = {**made, "flattened": "nowhere"}
    for command, said in (
        (step("flatten", kafka, wrong, redis_url), "has no topic nowhere"),
        (
            step(
                "flatten",
                "127.0.0.1:1",
                made,
                "",
            ),
            "cannot be used",
        ),
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, said in done.stderr) == (3, True), done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kills", [6, pytest.param(30, marks=pytest.mark.slow)])
def test_killed_consumers_lose_nothing_and_repeat_nothing(
    kafka: str, redis_url: str, database: Any, kills: int
) -> None:
    made = topics(kafka, f"kills{kills}")
    drawn = random.Random(kills)
    events = [
        (f"u{drawn.randrange(VISITORS)}", f"s{drawn.randrange(3)}", drawn.choice("ABCDE"), number)
        for number in range(1, 700 * kills)
    ]
    part = max(1, len(events) // kills)
    commands = [step(name, kafka, made, redis_url, "--batch", "40") for name in
                ("flatten", "profile")]  # fmt: skip
    running: list[tuple[int, subprocess.Popen[bytes]]] = []

    def start(which: int) -> None:
        running.append((which, subprocess.Popen(commands[which])))

    try:
        for which in (0, 1, 1):
            start(which)
        for at in range(0, len(events), part):
            produce(kafka, made["processed"], [
                (user.encode(), event(user, session, page, number))
                for user, session, page, number in events[at : at + part]
            ], first=at)  # fmt: skip
            # Another joins and one is killed: two rebalances, at any moment of the work.
            time.sleep(drawn.uniform(0.3, 1.6))
            which, process = running.pop(drawn.randrange(len(running)))
            process.kill()
            process.wait()
            start(which)
        wait_until(
            lambda: (
                len(consumed(kafka, made["persisted"])) >= len(events)
                and all(handles_sigterm(process) for _, process in running)
            ),
            180,
            between=0.5,
        )
        for _, process in running:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(60) for _, process in running] == [75, 75, 75]
    finally:
        for _, process in running:
            process.kill()
            process.wait()

    found = defaultdict(list)
    for message in consumed(kafka, made["persisted"]):
        found[message.key().decode()].append(json.loads(message.value()))
    wanted = defaultdict(list)
    for user, session, page, number in events:
        wanted[user].append((session, page, number))
    assert {user: [one["query-number"] for one in told] for user, told in found.items()} == {
        user: [number for *_, number in told] for user, told in wanted.items()
    }
    for user, told in found.items():
        first, visit, visit_first = wanted[user][0][1], "", ""
        for one, (session, page, _) in zip(told, wanted[user], strict=True):
            if session != visit:
                visit, visit_first = session, page
            assert {n: v for n, v in one.items() if n.startswith("profile_")} == {
                "profile_visitor_id": user, "profile_visit_id": session,
                "profile_visitor_first_page": first, "profile_visit_first_page": visit_first,
                "profile_visitor_last_page": page, "profile_visit_last_page": page,
            }  # fmt: skip
    assert not consumed(kafka, made["dead"])
