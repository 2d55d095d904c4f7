"""The Silos of a directory as sources: opened when needed, closed when others need room."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from recordsilo import Granary, Silo
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity

MOST_OPEN = 50
"""Silos that stay open without being used."""
_NOBODY = Identity("", ())


@dataclass(slots=True)
class _OpenSource:
    silo: Silo
    source: SiloSource
    users: int = 0
    has_failed: bool = False

    def close(self) -> None:
        self.source.close()
        self.silo.close()


class OpenSources:
    """The sources of a directory's Silos. Any thread may use it.

    Args:
        only_ready: See `SiloSource`.
    """

    def __init__(self, granary: Granary, *, only_ready: bool, now: Callable[[], datetime]) -> None:
        self._granary, self._only_ready, self._now = granary, only_ready, now
        self._open: OrderedDict[str, _OpenSource] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def using(self, name: str) -> Iterator[SiloSource]:
        """The source of a Silo, which stays open during the block.

        One in which something failed is opened anew the next time.

        Raises:
            RecordSiloError, OSError: It cannot be opened.
        """
        one = self._take(name)
        try:
            yield one.source
        except Exception:
            self._give_up(name, one)
            raise
        finally:
            self._give_back(one)

    def close(self) -> None:
        """Close all."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    def _take(self, name: str) -> _OpenSource:
        with self._lock:
            if name not in self._open:
                silo = self._granary.get_silo(name, create=False)
                only_ready = self._only_ready
                source = SiloSource(silo, _NOBODY, only_ready=only_ready, now=self._now)
                self._open[name] = _OpenSource(silo, source)
            one = self._open[name]
            one.users += 1
            self._open.move_to_end(name)
            return one

    def _give_up(self, name: str, one: _OpenSource) -> None:
        with self._lock:
            one.has_failed = True
            if self._open.get(name) is one:
                del self._open[name]

    def _give_back(self, one: _OpenSource) -> None:
        with self._lock:
            one.users -= 1
            unused = [name for name, other in self._open.items() if not other.users]
            surplus = unused[: max(0, len(self._open) - MOST_OPEN)]
            closing = [self._open.pop(name) for name in surplus]
            closing += [one] if one.has_failed and not one.users else []
        for other in closing:
            other.close()
