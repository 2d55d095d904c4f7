"""The worker of Celery: messages that are none are dropped, each with one sentence."""

import base64
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest
import redis
from ports import free_port

from silowork.broker import Broker

PROGRAM = """
import logging, os, signal, sys, warnings
from celery.exceptions import CPendingDeprecationWarning
from silowork.celery_worker import celery_worker, note_dropped, only_argument
from silowork.broker import Broker

os.getuid = lambda: 0  # of which Celery warns
logging.basicConfig(format="%(message)s")
app = Broker("", sys.argv[1]).app("q")

@app.task(name="end")
def end(*given, **named):
    try:
        number = only_argument(given, named, int)
    except TypeError as error:
        return note_dropped(error)
    warnings.warn("Celery 6 will be different", CPendingDeprecationWarning)
    os.kill(os.getpid(), number)

celery_worker(app, ["q"], 2).start()
"""
HEADERS = {
    "lang": "py", "task": "end", "id": "1", "argsrepr": "", "kwargsrepr": "", "origin": "",
    "root_id": "1", "parent_id": None, "retries": 0, "eta": None, "expires": None, "group": None,
    "timelimit": [None, None],
}  # fmt: skip


def _message(body: bytes, headers: object) -> str:
    properties = {
        "delivery_tag": body.decode(), "body_encoding": "base64",
        "delivery_info": {"exchange": "", "routing_key": "q"},
    }  # fmt: skip
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": headers,
            "properties": properties,
        }
    )


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.long
def test_messages_that_are_none_are_dropped_with_one_sentence_each(
    broker: str, how: signal.Signals
) -> None:
    bad = [
        b"nonsense", b"\xff\xfe", b"[" * 100_000, b"3", b"[]", b"{}", b'{"properties": []}',
        _message(b"nonsense", HEADERS), _message(b"{}", HEADERS), _message(b"3", HEADERS),
        _message(b"[[], {}, {}]", HEADERS | {"task": "another"}),
        _message(b"[[], {}, {}]", HEADERS | {"task": "celery.map"}),
        _message(b"[[], {}, {}]", HEADERS | {"task": "celery.chord_unlock"}),
        _message(b"[[], {}, {}]", HEADERS | {"timelimit": 3}), _message(b"[[], {}, {}]", 3),
        _message(b"[[], {}, {}]", HEADERS), _message(b"[[2, 3], {}, {}]", HEADERS),
        _message(b'[["x"], {}, {}]', HEADERS), _message(b'[[], {"number": 15}, {}]', HEADERS),
    ]  # fmt: skip
    with redis.Redis.from_url(broker) as client:
        client.lpush("q", *bad)
        Broker("", broker).app("q").send_task("end", [int(how)])
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, broker],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert not client.exists("q", "unacked")
    assert ended.stdout == ""
    said = ended.stderr.splitlines()
    assert len(said) == len(bad), ended.stderr
    assert sum(line.startswith("a message in the queue is malformed") for line in said) >= 14


@contextmanager
def _worker(address: str) -> Iterator[tuple["subprocess.Popen[str]", IO[str]]]:
    """A worker, and what it says; it is killed at the end."""
    command = [sys.executable, "-c", PROGRAM, address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process, process.stderr
        finally:
            process.kill()


@pytest.mark.long
def test_a_redis_that_is_away_is_named_in_one_line() -> None:
    address = f"redis://127.0.0.1:{free_port()}/0"
    with _worker(address) as (_, lines):
        said = [lines.readline() for _ in range(2)]
    assert all(line.startswith("consumer: Cannot connect to redis://") for line in said), said


@pytest.mark.long
def test_a_redis_that_refuses_for_a_while_ends_no_worker(broker: str) -> None:
    with redis.Redis.from_url(broker) as client:
        client.set("unacked", "no table of messages")
        app = Broker("", broker).app("q")
        app.send_task("end", [int(signal.SIGTERM)])
        with _worker(broker) as (process, lines):
            said = [lines.readline()]
            client.delete("unacked")
            app.send_task("end", [int(signal.SIGTERM)])
            said += lines.readlines()
            assert process.wait(60) == 0, said
    assert len(said) <= 3, said
    assert "WRONGTYPE" in said[1], said
