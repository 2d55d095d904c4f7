"""What the commands of the queues tell people."""

import json

from click.testing import CliRunner, Result

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.messages import (
    CATALOGUE,
    CRAWL,
    CrawlAddress,
    FoundDocument,
    address_of,
    document_message,
    message_of,
)
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Message, MessageState


def queue(command: str, silo: Silo, *more: str, name: str = CRAWL) -> Result:
    return CliRunner().invoke(silo_command, ["crawl", "queue", command, silo.path, name, *more])


def test_only_dead_messages_are_revived_and_others_are_named(
    silo: Silo, queues: SqliteQueues
) -> None:
    queues.put([Message(CRAWL, b"1")])
    assert queue("dead", silo).stderr == f"silo: no message of {CRAWL} is dead\n"
    queues.failed(queues.take(CRAWL), "x", None)
    (letter,) = queues.peek(CRAWL, MessageState.DEAD)
    none = queue("retry", silo, "4711")
    assert (none.exit_code, none.stdout) == (2, "")
    assert f"no dead message of {CRAWL} has the number 4711" in none.stderr
    some = queue("retry", silo, letter.number, "4711", letter.number)
    assert (some.exit_code, some.stdout) == (1, "1 revived\n")
    assert queue("retry", silo).stdout == "0 revived\n"


def test_a_message_is_a_short_line_and_json_has_all(silo: Silo, queues: SqliteQueues) -> None:
    seed = CrawlAddress(
        "http://a.example/", "http://a.example/", "links/20261201T020000Z", "oai:x:1"
    )
    found = seed.hop("http://a.example/1.pdf", "L")
    queues.put([message_of(seed), message_of(found), Message(CRAWL, b"no\tJSON\x1b[2J")])
    document = FoundDocument("http://a.example/1.pdf", "A" * 32, "20261201020000", "a/b",
                             record="oai:x:1")  # fmt: skip
    queues.put([document_message(document)])
    assert queue("peek", silo).stdout.splitlines() == [
        "1\t0\t-\tlinks/20261201T020000Z\thttp://a.example/",
        "2\t0\tL\tlinks/20261201T020000Z\thttp://a.example/1.pdf",
        "3\t0\t-\t-\tno JSON\\x1b[2J",
    ]
    assert queue("peek", silo, name=CATALOGUE).stdout == (
        "4\t0\t-\toai:x:1\thttp://a.example/1.pdf\n"
    )
    first = json.loads(queue("peek", silo, "--json", "-n", "1").stdout)
    assert address_of(json.dumps(first["message"]).encode()).record == seed.record
    queues.failed(queues.take(CATALOGUE), "it is\ncut", None)
    assert queue("dead", silo, name=CATALOGUE).stdout == (
        "4\t1\t-\toai:x:1\thttp://a.example/1.pdf\tit is\\ncut\n"
    )
