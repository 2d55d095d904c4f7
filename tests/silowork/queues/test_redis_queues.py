"""What is particular to queues in a Redis."""

import time
from collections.abc import Mapping

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from silowork.errors import QueueUnreachable
from silowork.queues.opening import open_queues
from silowork.queues.redis_streams import RedisKind, RedisQueues
from silowork.queues.values import Message, MessageState


def unreachable(error: Exception) -> Exception:
    return QueueUnreachable("redis://there", str(error))


def joined(fields: Mapping[bytes, bytes]) -> bytes:
    return b"|".join(fields.values())


@pytest.fixture(params=[2, 3])
def client(request: pytest.FixtureRequest, redis_url: str) -> "redis.Redis":
    """By the protocols RESP2 and RESP3, whose answers differ."""
    client = redis.Redis.from_url(redis_url, protocol=request.param)
    client.flushall()
    return client


def test_messages_come_by_both_protocols(client: "redis.Redis") -> None:
    with RedisQueues(client, RedisKind(unreachable)) as queues:
        queues.put([Message("q", b"a", "k"), Message("q", b"b")])
        (first,) = queues.take("q")
        ((second,),) = [queues._wait("q", 5, 1.0)]
        assert (first.body, second.body) == (b"a", b"b")
        assert queues.renew([first, second]) == [first, second]
        queues.failed([second], "x")
        assert [one.reason for one in queues.peek("q")] == ["x"]
        assert queues.sizes()["q"].taken == 1


def test_keys_begin_with_the_prefix_and_a_queue_may_be_the_prefix_alone(
    client: "redis.Redis",
) -> None:
    with RedisQueues(client, RedisKind(unreachable, prefix="ours")) as queues:
        queues.put([Message("", b"a", "k"), Message("q", b"b", wait=9)], mark=("m", "1"))
        assert [one.body for one in queues.take("")] == [b"a"]
        assert sorted(client.keys()) == [
            b"ours:keys", b"ours:marks", b"ours:number", b"ours:q:later", b"ours:q:later-content",
            b"ours:queues", b"ours:stream",
        ]  # fmt: skip


def test_entries_of_other_programs_are_messages_too(client: "redis.Redis") -> None:
    kind = RedisKind(unreachable, body_of=joined)
    with RedisQueues(client, kind, lease=0.01, most_tries=2) as queues:
        client.xadd("silo:q:stream", {"lines": b"\xff", "format": "x"})
        client.xadd("silo:q:stream", {"tries": "many"})
        first, second = queues.take("q", 5)
        assert (first.body, second.body, second.tries) == (b"\xff|x", b"many", 1)
        for _ in range(2):
            time.sleep(0.02)
            queues.take("q", 5)
        assert len(queues.peek("q", MessageState.DEAD)) == 2


def test_a_stream_that_somebody_deleted_is_made_again(client: "redis.Redis") -> None:
    with RedisQueues(client, RedisKind(unreachable)) as queues:
        queues.put([Message("q", b"a")])
        taken = queues.take("q")
        client.flushall()
        queues.done(taken)
        queues.give_back(taken)
        queues.failed(taken, "x")
        assert queues.take("q", wait=0.01) == queues.renew(taken) == queues.held(taken) == []
        assert queues.put([Message("q", b"b")]) == 1
        assert len(queues.take("q")) == 1


def test_what_is_no_stream_is_refused(client: "redis.Redis") -> None:
    client.set("silo:q:stream", "x")
    with RedisQueues(client, RedisKind(unreachable)) as queues:
        with pytest.raises(QueueUnreachable, match="WRONGTYPE"):
            queues.take("q")
        with pytest.raises(QueueUnreachable, match="WRONGTYPE"):
            queues.put([Message("q", b"")])


def test_a_redis_that_is_away_is_a_sentence() -> None:
    client = redis.Redis(port=1, retry=Retry(NoBackoff(), 0))
    with RedisQueues(client, RedisKind(unreachable)) as queues, pytest.raises(QueueUnreachable):
        queues.put([Message("q", b"")])


def test_an_address_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(QueueUnreachable) as error:
        open_queues("", "htp://user:secret@host/0")
    assert "queue htp://host/0 cannot be reached (" in str(error.value)
    assert "secret" not in str(error.value)


def test_leases_that_are_renewed_do_not_hide_one_that_is_over(client: "redis.Redis") -> None:
    with RedisQueues(client, RedisKind(unreachable), lease=60) as queues:
        queues.put(Message("q", b"%d" % number) for number in range(30))
        taken = queues.take("q", 30)
        client.xclaim("silo:q:stream", "workers", "dead", 0, [taken[-1].number], idle=61_000)
        assert [one.body for one in queues.take("q")] == [b"29"]
