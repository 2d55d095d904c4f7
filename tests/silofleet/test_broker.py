"""Runs on nodes that a real Redis reaches: sent, leased, reported, lost."""

import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from kombu.exceptions import OperationalError
from ports import free_port

from politeweb.redis_pace import RedisPace
from politeweb.shared_pace import PaceSpec, turns_beside
from silofleet import node
from silofleet.broker import (
    LEASE,
    MARK,
    NODES,
    ORDERS,
    QUEUES,
    REPORTS,
    TASK,
    Nodes,
    queue_of,
)
from silofleet.errors import BrokerOfAnother, BrokerUnreachable, FleetRefused
from silofleet.fields import of_json, to_json
from silofleet.ledger import Run
from silofleet.node import FleetNode
from silofleet.orders import NodeReport, RunOrder, RunReport
from silofleet.slots import Slots
from silofleet.values import BeforeRun, Ended, Endpoint, Node, RunOutcome
from silofleet.wishes import wishes_path
from silowork import broker as job_broker
from silowork.due.hours import hours_of
from silowork.queues.redis_streams import RedisQueues
from silowork.queues.values import Message

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
WHOLE = Ended(RunOutcome.WHOLE, "said", NOW, 3)
ENDED = to_json(WHOLE)
ORDER = RunOrder(
    7, "/data/one",
    Endpoint(
        "one", "http://one.example.org/oai", prefixes=("oai_dc", "x"), sets=("a",), depth="pages",
        hours=hours_of("20:00-06:00 Asia/Jakarta"), window=timedelta(days=30), is_spread=True,
        warc_store="s3://bucket/x",
    ),
    2, False, BeforeRun(10, None, 0.2), PaceSpec(1.5, "one.example.org", "/data/fleet", 3),
    "me@x.org", True,
)  # fmt: skip
PACE = {"interval": 1, "host": "", "place": "", "nodes": 1, "turns": 1, "decides": True}
WISH = {"name": "one", "url": "http://one.example.org/oai"}


def test_an_order_comes_back() -> None:
    assert of_json(RunOrder, json.dumps(to_json(ORDER)), "an order") == ORDER


def test_a_node_puts_its_own_directories_into_an_order(broker: str, tmp_path: Path) -> None:
    Nodes(broker).start(ORDER, "n1")
    with redis.Redis.from_url(broker) as client:
        assert b"/data" not in client.hget(ORDERS, "7")  # type: ignore[operator]
    found = FleetNode(str(tmp_path), "n1", broker, 1)._order(7)
    pace = replace(ORDER.pace, place=broker, nodes=1)
    assert found == replace(ORDER, silo_path=f"{tmp_path}/one", pace=pace)


@pytest.mark.parametrize(
    "changed",
    [
        {"wish": None},
        {"wish": {"name": "one"}},
        {"wish": WISH | {"name": "../x"}},
        {"wish": WISH | {"name": "curation"}},
        {"wish": WISH | {"name": "x.exports"}},
        {"wish": WISH | {"prefixes": 3}},
        {"wish": WISH | {"prefixes": [3]}},
        {"wish": WISH | {"window": 1e99}},
        {"wish": WISH | {"sets": ["\ud800"]}},
        {"wish": WISH | {"warc_store": "file:///etc"}},
        {"wish": WISH | {"warc_store": 3}},
        {"wish": WISH | {"url": "http://me:secret@one.example.org/"}},
        {"run": "x"},
        {"before": None},
        {"pace": []},
        {"pace": PACE | {"interval": []}},
        {"pace": PACE | {"interval": float("inf")}},
        {"pace": PACE | {"interval": -1}},
    ],
)
def test_a_malformed_order_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(FleetRefused):
        of_json(RunOrder, json.dumps(to_json(ORDER) | changed), "an order")


@given(
    st.sampled_from(RunOutcome), st.text(max_size=9), st.none() | st.integers(0, 9), st.booleans()
)
def test_ends_come_back(outcome: RunOutcome, said: str, records: int | None, held: bool) -> None:
    hold = NOW + timedelta(hours=1) if held else None
    ended = Ended(outcome, said, NOW, records, records, 3, hold, "http://b.example.org/")
    report = RunReport(7, "one", ended)
    assert of_json(RunReport, json.dumps(to_json(report)), "a report") == report
    earlier = to_json(report) | {"ended": {**to_json(report)["ended"]}}
    del earlier["ended"]["listed"]  # of a node with an earlier release
    assert of_json(RunReport, json.dumps(earlier), "a report") == report


@pytest.mark.parametrize("name", ["at", "began", "hold"])
@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-01:00"])
def test_a_moment_that_utc_does_not_have_is_refused(name: str, moment: str) -> None:
    report = to_json(RunReport(7, "one", Ended(RunOutcome.WHOLE, "", NOW)))
    report["ended"][name] = moment
    with pytest.raises(FleetRefused, match="malformed"):
        of_json(RunReport, json.dumps(report), "a report")
    report["ended"][name] = "2026-05-01T12:00:00+02:00"
    ended = of_json(RunReport, json.dumps(report), "a report").ended
    assert getattr(ended, name).isoformat() == "2026-05-01T10:00:00+00:00"


def test_a_run_is_sent_to_the_queue_of_its_node_as_a_number(broker: str) -> None:
    nodes = Nodes(broker)
    nodes.start(ORDER, "n1")
    with redis.Redis.from_url(broker) as client:
        (message,) = client.lrange(queue_of("n1"), 0, -1)
        assert b"example.org" not in message
        assert json.loads(client.hget(ORDERS, "7"))["wish"]["url"] == ORDER.wish.url  # type: ignore[arg-type]
        assert 0 < client.ttl(f"{LEASE}7") <= 120  # type: ignore[operator]


def test_a_message_does_not_wait_for_ever_for_a_redis_that_says_nothing(
    broker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_broker, "_SECONDS_TO_ANSWER", 1.0)
    nodes = Nodes(broker)
    nodes.start(ORDER, "n1")
    with redis.Redis.from_url(broker) as client:
        client.client_pause(60_000, all=False)
        try:
            with pytest.raises(OperationalError, match="Timeout"):
                nodes._app.send_task(TASK, (8,), queue=queue_of("n1"), retry=False)
        finally:
            client.client_unpause()


def _report(client: "redis.Redis[bytes]", ended: Ended) -> None:
    said = json.dumps(to_json(RunReport(7, "one", ended)))
    RedisQueues(client, QUEUES).put([Message(REPORTS, said.encode())])


def test_reports_are_taken_once_and_malformed_ones_left_out(broker: str) -> None:
    nodes = Nodes(broker)
    nodes.start(ORDER, "n1")
    ended = Ended(RunOutcome.WHOLE, "said", NOW, 3)
    with redis.Redis.from_url(broker) as client:
        client.xadd("fleet:reports:stream", {"body": "nonsense"})
        client.xadd("fleet:reports:stream", {"other": "x"})
        _report(client, ended)
        assert nodes.finished(0) == [(7, ended)]
        assert nodes.finished(0) == []
        assert not client.hexists(ORDERS, "7")
        assert not client.exists(f"{LEASE}7")


@pytest.mark.parametrize(
    "changed",
    [
        {"run": 1e999},
        {"ended": ENDED | {"records": 10**30}},
        {"ended": ENDED | {"promised": -1}},
        {"endpoint": "another"},
        {"run": 8},
    ],
)
def test_a_report_that_cannot_be_of_the_run_is_left_out(
    broker: str, changed: dict[str, Any]
) -> None:
    nodes = Nodes(broker)
    nodes.start(ORDER, "n1")
    said = to_json(RunReport(7, "one", WHOLE))
    with redis.Redis.from_url(broker) as client:
        body = json.dumps(said | changed).encode()
        RedisQueues(client, QUEUES).put([Message(REPORTS, body)])
        assert nodes.finished(0) == nodes.finished(0) == []
        assert client.hexists(ORDERS, "7")
        assert client.xlen("fleet:reports:stream") == 0


def test_reports_are_kept_while_the_redis_is_away(
    broker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, ended = Nodes(broker), Ended(RunOutcome.WHOLE, "said", NOW, 3)
    nodes.start(ORDER, "n1")
    with redis.Redis.from_url(broker) as client:
        _report(client, ended)
    assert nodes.finished(0) == [(7, ended)]
    with monkeypatch.context() as broken:
        broken.setattr(nodes._redis, "hdel", lambda *_: nodes._redis.execute_command("NONSENSE"))
        assert nodes.finished(0) == []
    with redis.Redis.from_url(broker) as client:
        assert client.hexists(ORDERS, "7")
        assert nodes.finished(0) == []
        assert not client.hexists(ORDERS, "7")


def test_a_silo_of_a_report_has_an_epoch(broker: str) -> None:
    nodes, ended = Nodes(broker), Ended(RunOutcome.WHOLE, "said", NOW, 3)
    nodes.start(ORDER, "n1")
    with redis.Redis.from_url(broker) as client:
        _report(client, ended._replace(epoch=0))
    assert nodes.finished(0) == [(7, ended._replace(epoch=1))]


def test_a_report_can_be_stored_whatever_it_says() -> None:
    said = Ended(RunOutcome.MOVED, "\ud800" + "x" * 10**6, NOW, moved_to="http://x/\udcff")
    ended = of_json(Ended, json.dumps(to_json(said)), "a report")
    assert len(ended.said.encode()) < 10**5
    assert ended.moved_to == "http://x/?"


def test_a_run_without_lease_is_cut_once_the_redis_is_trusted(broker: str) -> None:
    nodes = Nodes(broker)
    nodes.start(ORDER, "n1")
    with redis.Redis.from_url(broker) as client:
        client.delete(f"{LEASE}7")
    assert nodes.finished(0) == []  # the Redis may have been restarted just now
    nodes._since = nodes._looked = time.monotonic() - 500
    ((number, ended),) = nodes.finished(0)
    assert (number, ended.outcome) == (7, RunOutcome.CUT)
    assert "n1 said nothing" in ended.said


@pytest.mark.parametrize("kept", ["", "an earlier state"])
def test_runs_are_not_cut_because_the_redis_forgot_their_leases(broker: str, kept: str) -> None:
    nodes = Nodes(broker)
    nodes.start(ORDER, "n1")
    nodes.finished(0)
    with redis.Redis.from_url(broker) as client:
        client.flushall()
        if kept:
            client.set(MARK, kept)
        nodes._since = nodes._looked = time.monotonic() - 500
        assert nodes.finished(0) == []
        client.set(f"{LEASE}7", "[1, 2]", ex=120)  # the node renews it
    nodes._since = nodes._looked = time.monotonic() - 500
    assert nodes.finished(0) == []
    assert nodes.progress == {7: (1, 2)}


def test_a_new_clock_takes_the_report_of_a_run_that_ended_before_it_began(broker: str) -> None:
    Nodes(broker).start(ORDER, "n1")
    ended = Ended(RunOutcome.WHOLE, "said", NOW, 3)
    with redis.Redis.from_url(broker) as client:
        client.delete(f"{LEASE}7")
        _report(client, ended)
    again = Nodes(broker)
    assert again.keeps(Run(7, "one", "n1", 2, NOW, NOW))
    assert again.finished(0) == [(7, ended)]


def test_a_report_that_a_killed_clock_did_not_keep_is_read_again(broker: str) -> None:
    killed = Nodes(broker)
    killed.start(ORDER, "n1")
    ended = Ended(RunOutcome.WHOLE, "said", NOW, 3)
    with redis.Redis.from_url(broker) as client:
        _report(client, ended)
    assert killed.finished(0) == [(7, ended)]
    again = Nodes(broker)
    assert again.keeps(Run(7, "one", "n1", 2, NOW, NOW))
    assert again.finished(0) == [(7, ended)]
    assert again.finished(0) == []
    assert Nodes(broker).finished(0) == []


def test_a_new_clock_cuts_a_run_that_nobody_heard_of_for_long(broker: str) -> None:
    nodes = Nodes(broker)
    assert nodes.keeps(Run(8, "two", "n1", 2, NOW, NOW))
    assert nodes.finished(0) == []
    nodes._since = nodes._looked = time.monotonic() - 500
    assert [number for number, _ in nodes.finished(0)] == [8]


def test_a_lease_of_deep_json_is_a_lease(broker: str) -> None:
    nodes = Nodes(broker)
    nodes.start(ORDER, "n1")
    with redis.Redis.from_url(broker) as client:
        client.set(f"{LEASE}7", "[" * 100_000)
    assert nodes.finished(0) == []
    assert nodes.progress == {}


def _reported(seconds: int, free_bytes: int = 10) -> str:
    node = Node("n", 2, free_bytes, 20, datetime.fromtimestamp(seconds, UTC))
    return json.dumps(to_json(NodeReport(node, "/srv")))


def test_only_nodes_that_report_are_alive(broker: str) -> None:
    with redis.Redis.from_url(broker) as client:
        seconds, _ = client.time()
        client.hset(NODES, "here", _reported(seconds))
        client.hset(NODES, "gone", _reported(seconds - 500))
        client.hset(NODES, "../x", _reported(seconds))
        client.hset(NODES, "broken", "[]")
        client.hset(NODES, "deep", "[" * 100_000)
        client.hset(NODES, "huge", _reported(seconds, free_bytes=10**30))
    assert [(one.name, one.slots) for one in Nodes(broker).nodes()] == [("here", 2)]


@pytest.mark.parametrize("skew", [-5000, 5000])
def test_a_redis_whose_clock_is_wrong_loses_no_node(
    broker: str, monkeypatch: pytest.MonkeyPatch, skew: int
) -> None:
    nodes, before = Nodes(broker), datetime.now(UTC)
    seconds = int(before.timestamp()) + skew
    monkeypatch.setattr(nodes._redis, "time", lambda: (seconds, 0))
    with redis.Redis.from_url(broker) as client:
        client.hset(NODES, "here", _reported(seconds - 40))
        client.hset(NODES, "gone", _reported(seconds - 130))
    (found,) = nodes.nodes()
    assert 35 < (before - found.seen).total_seconds() <= 40
    assert nodes.nodes() == [found]  # it said nothing new


def test_a_name_under_which_another_directory_reports_is_refused(
    broker: str, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    one = FleetNode(str(tmp_path / "a"), "n1", broker, 1)
    one.join()
    one.join()  # as after a crash
    turns = turns_beside(str(tmp_path / "a" / "some-silo"))
    assert turns is not None
    RedisPace(broker, "repo.example", 60.0).reserve()
    assert turns("https://repo.example/a.pdf", 1.0).reserve() > 60
    with pytest.raises(FleetRefused, match=f"at work in {tmp_path}/a on .*another --node"):
        FleetNode(str(tmp_path / "b"), "n1", broker, 1).join()
    with redis.Redis.from_url(broker) as client:
        client.hset(NODES, "n1", "[]")
    FleetNode(str(tmp_path / "b"), "n1", broker, 1).join()


def test_an_order_is_asked_for_until_the_broker_is_back(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, asked = FleetNode(str(tmp_path), "n1", broker, 1), []

    def order(number: int) -> None:
        asked.append(number)
        if len(asked) % 3:
            raise BrokerUnreachable("it is away")
        return  # the clock has taken it back

    monkeypatch.setattr("silofleet.node._SECONDS_BETWEEN_ATTEMPTS", 0.01)
    monkeypatch.setattr(node, "_order", order)
    node._carry_out(7)
    assert asked == [7, 7, 7]
    node._ending.ask()
    node._carry_out(8)
    assert asked == [7, 7, 7]


def test_a_run_that_a_node_cannot_start_is_named_in_its_log(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_slots: Slots, _order: RunOrder) -> None:
        raise OSError("no process can be started")

    monkeypatch.setattr(Slots, "start", refuse)
    Nodes(broker).start(ORDER, "n1")
    FleetNode(str(tmp_path), "n1", broker, 1)._carry_out(7)
    assert caplog.messages == ["run 7: no process can be started"]


def test_a_run_that_the_clock_gave_up_goes_on_by_the_next_number(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Ended(RunOutcome.WHOLE, "said", NOW, 3)
    started: list[RunOrder] = []
    clock, node = Nodes(broker), FleetNode(str(tmp_path), "n1", broker, 1)

    def finished(_slots: Slots, _timeout: float) -> list[tuple[int, Ended]]:
        clock.start(replace(ORDER, run=8), "n1")
        node._carry_out(8)
        return [(7, ended)]

    monkeypatch.setattr(Slots, "start", lambda _slots, order: started.append(order))
    monkeypatch.setattr(Slots, "finished", finished)
    clock.start(ORDER, "n1")
    node._carry_out(7)
    assert [order.run for order in started] == [7]
    assert clock.finished(0) == [(8, ended)]


def test_a_disk_that_is_gone_is_not_said_to_be_the_broker(broker: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"):
        FleetNode(str(tmp_path / "gone"), "n9", broker, 1).join()


def test_a_redis_belongs_to_one_fleet(broker: str, tmp_path: Path) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    for directory in (one, two):
        os.makedirs(os.path.dirname(wishes_path(directory)))
    Nodes(broker).reach(one)
    Nodes(broker).reach(one)
    with pytest.raises(BrokerOfAnother, match="redis-cli del fleet:owner"):
        Nodes(broker).reach(two)
    redis.Redis.from_url(broker).delete("fleet:owner")
    Nodes(broker).reach(two)


def test_a_node_stays_in_its_fleet(broker: str, tmp_path: Path) -> None:
    client = redis.Redis.from_url(broker)
    one, two, silos = (str(tmp_path / name) for name in ("one", "two", "silos"))
    for directory in (one, two, silos):
        os.makedirs(directory)
    FleetNode(silos, "n1", broker, 1).join()  # there may be no scheduler yet
    clock = Nodes(broker)
    clock.reach(one)
    node = FleetNode(silos, "n1", broker, 1)
    node.join()
    client.flushall()
    node.join()
    clock.finished(0)  # the Redis is that of the fleet again
    with pytest.raises(BrokerOfAnother):
        Nodes(broker).reach(two)
    client.flushall()
    other = Nodes(broker)
    other.reach(two)
    with pytest.raises(BrokerOfAnother, match="broker-name"):
        FleetNode(silos, "n1", broker, 1).join()
    other.start(ORDER, "n1")
    with pytest.raises(BrokerOfAnother):
        node._order(ORDER.run)
    clock._looked = float("-inf")
    with pytest.raises(BrokerOfAnother):
        clock.finished(0)


def test_a_redis_that_is_away_stops_nothing_but_new_runs(tmp_path: Path) -> None:
    os.makedirs(os.path.dirname(wishes_path(str(tmp_path))))
    nodes = Nodes(f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(BrokerUnreachable):
        nodes.reach(str(tmp_path))
    assert nodes.nodes() == []
    assert nodes.finished(0) == []
    assert nodes.keeps(Run(7, "one", "n1", 2, NOW, NOW))
    with pytest.raises(OSError, match="cannot be reached"):
        nodes.start(ORDER, "n1")


def test_a_wrong_address_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FleetRefused, match="address of the broker is wrong"):
        Nodes("http://x")


def test_a_worker_that_ends_by_itself_is_no_success(
    broker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = SimpleNamespace(exitcode=1, start=lambda: None)
    monkeypatch.setattr(node, "celery_worker", lambda *_: ended)
    monkeypatch.setattr(node, "warm", lambda: None)
    with pytest.raises(BrokerUnreachable, match="ended by an error"):
        FleetNode(str(tmp_path), "n1", broker, 1).run()
