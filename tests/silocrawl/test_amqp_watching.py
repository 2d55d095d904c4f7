"""The queues of a bridge at its broker, in the status."""

from pathlib import Path

import pytest

from politeweb.loopback import LOOPBACK
from recordsilo import Silo
from silocrawl.amqp.declaring import BrokerQueue
from silocrawl.amqp.watching import of_queues
from silocrawl.conditions import Word
from silocrawl.messages import CRAWL, INDEX
from silocrawl.monitor import look
from silocrawl.paths import amqp_file


@pytest.mark.parametrize(
    ("queue", "word", "said"),
    [
        (BrokerQueue(INDEX, "out", messages=3, consumers=1), Word.GOOD, "3 in out (1 take them)"),
        (BrokerQueue(INDEX, "out"), Word.GOOD, "0 in out (0 take them)"),
        (BrokerQueue(INDEX, "out", messages=3), Word.WARNING, "becalmed, as nobody takes"),
        (BrokerQueue(INDEX, "out", is_there=False), Word.ALERT, "there is no queue out; 0 in x"),
    ],
)
def test_a_queue_with_messages_that_nobody_takes_is_becalmed(
    queue: BrokerQueue, word: Word, said: str
) -> None:
    found = of_queues([queue, BrokerQueue(CRAWL, "x")])
    assert (found.word, said in found.said, bool(found.advice)) == (word, True, word != Word.GOOD)


def test_a_broker_that_does_not_answer_is_an_alert(silo: Silo) -> None:
    path = Path(amqp_file(silo.path))
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'url = "amqp://{LOOPBACK}:1"\n')
    (found,) = (one for one in look(silo.path).conditions if one.name == "amqp")
    assert (found.word, "cannot be reached" in found.said) == (Word.ALERT, True)
    path.write_text("port = 3\n")
    (found,) = (one for one in look(silo.path).conditions if one.name == "amqp")
    assert (found.word, "there is no setting 'port'" in found.said) == (Word.ALERT, True)
