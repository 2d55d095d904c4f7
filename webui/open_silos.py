"""The open Silos of a directory: opened when requested, and closed when others need room."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from recordsilo import Granary, Silo
from recordsilo.errors import RecordSiloError
from webui.http.errors import NotFound, from_store
from webui.http.messages import WsgiApp

MOST_OPEN = 50
"""Silos that stay open without being used; each has three files open, and takes some 400 KB."""


@dataclass(slots=True)
class _Open:
    """An open Silo.

    Attributes:
        users: How many requests to it are not answered completely.
    """

    silo: Silo
    app: WsgiApp
    users: int = 0


class OpenSilos:
    """Answers the requests to the Silos of a directory.

    Args:
        make_app: A Silo's own application.
        most: Above this number the Silos used longest ago are closed, unless they are in use.
    """

    def __init__(
        self, granary: Granary, make_app: Callable[[Silo], WsgiApp], most: int = MOST_OPEN
    ) -> None:
        self.granary, self._make_app, self._most = granary, make_app, most
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        """Return the names of the open Silos, the one used last at the end."""
        return list(self._open)

    def answer(
        self, name: str, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request; the Silo is in use until the answer is closed.

        Raises:
            NotFound: There is no Silo of that name.
            WebError: It cannot be opened.
        """
        one = self._take(name)
        try:
            body = one.app(environ, start_response)
        except BaseException:
            self._give_back(one)
            raise
        return _Body(body, lambda: self._give_back(one))

    def check(self, name: str) -> None:
        """Open a Silo, or say why it cannot be shown.

        Raises:
            WebError, OSError: See `answer`.
        """
        self._give_back(self._take(name))

    def close(self) -> None:
        """Close the Silos."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].silo.close()

    def _take(self, name: str) -> _Open:
        with self._lock:
            if not self.granary.issilo(name):
                raise NotFound("There is no Silo with this name in this directory.")
            if name not in self._open:
                try:
                    silo = self.granary.get_silo(name, create=False)
                except RecordSiloError as error:
                    raise from_store(error, "") from error
                self._open[name] = _Open(silo, self._make_app(silo))
            one = self._open[name]
            one.users += 1
            self._open.move_to_end(name)
            return one

    def _give_back(self, one: _Open) -> None:
        with self._lock:
            one.users -= 1
            unused = [name for name, other in self._open.items() if not other.users]
            surplus = unused[: max(0, len(self._open) - self._most)]
            closing = [self._open.pop(name).silo for name in surplus]
        for silo in closing:
            silo.close()


class _Body:
    """The body of an answer, which says once when it is closed."""

    def __init__(self, body: Iterable[bytes], closed: Callable[[], None]) -> None:
        self._body, self._closed, self._is_open = body, closed, True

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        """Close the body; may be called twice."""
        try:
            if (close := getattr(self._body, "close", None)) is not None:
                close()
        finally:
            if self._is_open:
                self._is_open = False
                self._closed()
