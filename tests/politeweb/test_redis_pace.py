"""The pace of a host, shared by machines through a Redis."""

from typing import Any

import pytest
import redis
from ports import free_port

from politeweb.errors import RequestRefused
from politeweb.pace import LONGEST_PAUSE
from politeweb.redis_pace import PaceUnknown, RedisPace


def test_two_nodes_share_the_turns_of_a_host(broker: str) -> None:
    one, two = (RedisPace(broker, "h", 60.0, nodes=2) for _ in range(2))
    other = RedisPace(broker, "i", 60.0, nodes=2)
    first, second = one.reserve(), two.reserve()
    assert 55 < first <= 60  # the Redis may have been restarted just now
    assert 115 < second <= 120
    assert other.reserve() <= 60
    one.hold(600)
    assert 590 < two.reserve() <= 600


def test_a_redis_whose_clock_is_set_back_makes_nobody_wait_for_hours(broker: str) -> None:
    pace = RedisPace(broker, "h", 1.0)
    with redis.Redis.from_url(broker) as client:
        hours_ahead = (client.time()[0] + 5 * 3600) * 1000  # type: ignore[index]
        client.hset("pace:h", "next", str(hours_ahead))
        assert pace.reserve() <= 64
        client.hset("pace:h", "held", str(10 * hours_ahead))
    assert pace.reserve() <= LONGEST_PAUSE
    pace.hold(1)
    assert pace.reserve() <= LONGEST_PAUSE


def test_without_redis_each_node_goes_slower() -> None:
    waits: list[float] = []
    away = f"redis://127.0.0.1:{free_port()}/0"
    pace = RedisPace(away, "h", 20.0, nodes=3, sleep=waits.append)
    assert [pace.reserve() for _ in range(3)] == [0, 0, 0]
    assert waits[0] >= 20
    assert waits[1] > 50
    assert waits[2] > 110


def test_a_redis_that_goes_away_stops_nobody_for_long(
    broker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    pace = RedisPace(broker, "h", 20.0, nodes=3, sleep=waits.append)
    pace.reserve()
    with redis.Redis.from_url(broker) as client:
        for _ in range(20):
            client.flushall()  # so that no turn waits for the others
            pace.reserve()

    def away(*_arguments: Any) -> float:
        raise PaceUnknown("it is away")

    monkeypatch.setattr(pace, "_ask", away)
    assert pace.reserve() == 0
    assert 60 < waits[0] <= 80


def test_turns_that_are_given_ahead_are_over_before_a_new_redis_gives_others(broker: str) -> None:
    assert 6 * 60 < RedisPace(broker, "h", 60.0, turns=7).reserve() <= 7 * 60
    waits: list[float] = []
    away = f"redis://127.0.0.1:{free_port()}/0"
    RedisPace(away, "h", 60.0, turns=7, sleep=waits.append).reserve()
    assert waits == [7 * 60]
    with pytest.raises(PaceUnknown, match="cannot be reached"):
        RedisPace(away, "h", 60.0, is_bound=True).reserve()


def test_a_request_without_the_redis_is_made_known_to_it(broker: str) -> None:
    with redis.Redis.from_url(broker) as client:
        client.hset("pace:h", "next", 0)
    pace = RedisPace(broker, "h", 60.0)
    assert pace.reserve() == 0
    with redis.Redis.from_url(broker) as client:
        client.hset("pace:h", "next", 0)
    pace._is_ahead = True
    assert 55 < pace.reserve() <= 60


def test_who_does_not_decide_goes_no_faster_than_who_does(broker: str) -> None:
    fleet = RedisPace(broker, "h", 60.0)
    files = RedisPace(broker, "h", 1.0, decides=False)
    fleet.reserve()
    files.reserve()
    assert 170 < fleet.reserve() <= 180, "the file took a turn of a minute, not of a second"


def test_a_pause_is_kept_while_the_redis_is_away_and_when_it_is_back() -> None:
    waits: list[float] = []
    away = f"redis://127.0.0.1:{free_port()}/0"
    pace = RedisPace(away, "h", 1.0, sleep=waits.append)
    pace.hold(300)
    pace.reserve()
    assert waits[0] > 290


@pytest.mark.parametrize("url", ["http://x", "redis://h:port/0"])
def test_a_wrong_address_of_a_redis_is_one_sentence(url: str) -> None:
    with pytest.raises(RequestRefused, match="address of the Redis is wrong"):
        RedisPace(url, "h", 1.0)


def test_without_the_package_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "redis", None)
    with pytest.raises(RequestRefused, match="need the package redis"):
        RedisPace("redis://127.0.0.1/0", "h", 1.0)
