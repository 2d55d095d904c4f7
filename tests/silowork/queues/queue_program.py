"""A process that puts or takes, until it is killed.

put ADDRESS ENOUGH    numbers from the mark on, without keys, and those of tens with keys, twice,
                      until there is a file ENOUGH
take ADDRESS LOG      numbers in ``first``: each into the log, with that of its message, then
                      into ``second`` by its key
"""

import os
import sys
import time

from stores import store_at

from silowork.queues.values import Message

LEASE = 0.5


def put(address: str, enough: str) -> None:
    with store_at(address, lease=LEASE) as queues:
        while not os.path.exists(enough):
            reached = int(queues.mark("source") or 0)
            some = [Message("first", b"%d" % one) for one in range(reached, reached + 10)]
            tens = [Message("tens", b"", f"{reached - back}") for back in (0, 10)]
            queues.put([*some, *tens], mark=("source", str(reached + 10)))
            time.sleep(0.002)  # so that the takers keep up


def take(address: str, log: str) -> None:
    with store_at(address, lease=LEASE, most_tries=0) as queues, open(log, "ab", 0) as file:
        while True:
            taken = queues.take("first", 7, wait=0.2)
            for one in taken:
                os.write(file.fileno(), b"%s %s\n" % (one.body, one.number.encode()))
            then = [Message("second", one.body, one.body.decode()) for one in taken]
            queues.done(taken, then)


if __name__ == "__main__":
    {"put": put, "take": take}[sys.argv[1]](*sys.argv[2:])
