"""What the commands of the queues tell people."""

from click.testing import CliRunner, Result

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.messages import CRAWL
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
