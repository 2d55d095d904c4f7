"""The queues of a crawl by several machines: all in one store, but for those that are local.

A document to be catalogued is in the archive of the machine that fetched it, and so is what is to
be packaged. Outcomes of a Heritrix are of the machine that can read its archives.
"""

from collections.abc import Iterable, Mapping, Sequence

from recordsilo.closing import Closing
from silocrawl.messages import CATALOGUE, INDEX, PACKAGE_QUEUES
from silowork.queues.values import Message, MessageState, Queued, Queues, QueueSize

_LOCAL = frozenset({CATALOGUE, INDEX, *PACKAGE_QUEUES})


class SharedQueues(Closing):
    """Queues in two stores; see `silowork.queues.values.Queues`.

    What follows from a message and belongs into the other store is put before it is acknowledged.

    Args:
        shared: All but the local ones, and the marks.
        own: The local ones. Both are closed with this.
    """

    def __init__(self, shared: Queues, own: Queues) -> None:
        self._shared, self._own = shared, own

    def close(self) -> None:
        """Close both stores."""
        self._own.close()
        self._shared.close()

    def _of(self, queue: str) -> Queues:
        return self._own if queue in _LOCAL else self._shared

    def _with(self, messages: Sequence[Queued]) -> Queues:
        return self._of(messages[0].queue if messages else "")

    def put(self, messages: Iterable[Message], mark: tuple[str, str] | None = None) -> int:
        local, rest = _parted(messages)
        put = self._own.put(local) if local else 0
        return put + self._shared.put(rest, mark)

    def mark(self, name: str) -> str:
        return self._shared.mark(name)

    def take(self, queue: str, most: int = 1, wait: float = 0.0) -> list[Queued]:
        return self._of(queue).take(queue, most, wait)

    def renew(self, messages: Sequence[Queued]) -> list[Queued]:
        return self._with(messages).renew(messages)

    def done(self, messages: Sequence[Queued], then: Iterable[Message] = ()) -> None:
        local, rest = _parted(then)
        store = self._with(messages)
        mine, other = (local, rest) if store is self._own else (rest, local)
        if other:
            self.put(other)
        store.done(messages, mine)

    def failed(self, messages: Sequence[Queued], reason: str, again: float | None = 0.0) -> None:
        self._with(messages).failed(messages, reason, again)

    def give_back(self, messages: Sequence[Queued], wait: float = 0.0) -> None:
        self._with(messages).give_back(messages, wait)

    def done_keys(self, queue: str, keys: Sequence[str]) -> set[str]:
        return self._of(queue).done_keys(queue, keys)

    def held(self, messages: Sequence[Queued]) -> list[Queued]:
        return self._with(messages).held(messages)

    def peek(
        self,
        queue: str,
        state: MessageState = MessageState.WAITING,
        most: int = 20,
        after: Queued | None = None,
    ) -> list[Queued]:
        return self._of(queue).peek(queue, state, most, after)

    def sizes(self) -> Mapping[str, QueueSize]:
        own = self._own.sizes()
        return {**self._shared.sizes(), **{one: own[one] for one in own if one in _LOCAL}}

    def revive(self, queue: str, numbers: Iterable[str] | None = None) -> int:
        return self._of(queue).revive(queue, numbers)

    def forget(self, queue: str, before: float) -> int:
        return self._of(queue).forget(queue, before)


def _parted(messages: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """The messages of local queues among some, and the rest."""
    local: list[Message] = []
    rest: list[Message] = []
    for one in messages:
        (local if one.queue in _LOCAL else rest).append(one)
    return local, rest
