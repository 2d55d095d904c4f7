"""A transaction of Fedora: begun, kept alive in long uploads, committed or rolled back.

A failed write spoils the whole transaction, and Fedora never waits for locks, so the whole
transaction is retried (docs/fedora-servers.md, "Transactions").
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping

from politeweb.answers import http_date
from siloexport.targets.fedora.answers import (
    Departed,
    TransactionLost,
)
from siloexport.targets.fedora.client import FedoraClient
from siloexport.targets.remote.errors import (
    Busy,
    Denied,
    NotOfThisKind,
    NotThere,
    RemoteError,
)
from siloexport.targets.remote.server import Body, ServerAnswer

_LIFE = 180.0
"""Seconds without a request after which a transaction expires, unless Fedora says how many."""
_LARGE = 1 << 20
"""An upload of more bytes may take longer than that."""


class Transaction:
    """An open transaction.

    Attributes:
        uri: Its address, which is noted before anything is sent in it.
    """

    def __init__(self, client: FedoraClient, uri: str, life: float = _LIFE) -> None:
        self._client, self.uri, self._life = client, uri, life

    @classmethod
    def begin(cls, client: FedoraClient, root: str) -> "Transaction":
        """Open a transaction at the repository's root.

        Raises:
            NotOfThisKind: The answer does not name a transaction.
            Elsewhere: The transaction is on another server.
        """
        answer = client.send("POST", f"{root}/fcr:tx")
        uri = answer.headers.get("Location", "")
        if "/fcr:tx/" not in uri:
            raise NotOfThisKind(answer.status, f"{root}/fcr:tx", "does not name a transaction")
        client.check_address(uri)
        return cls(client, uri, _life_in(answer.headers))

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: Body = None
    ) -> ServerAnswer:
        """Send a request in the transaction.

        Args:
            url: An address on the server.
            body: Bytes, or an iterable of bytes.

        Raises:
            NotOfThisKind: The answer does not name the transaction, so the request may have been
                carried out outside it. Answers to DELETE never name it (6.0.0 to 7.0.0).
        """
        answer = self._client.send(method, url, {**headers, "Atomic-ID": self.uri}, body)
        number = answer.headers.get("Atomic-ID", "").rpartition("/")[2]
        if method != "DELETE" and number != self.uri.rpartition("/")[2]:
            why = "does not name the transaction; a proxy has to forward the header Atomic-ID"
            raise NotOfThisKind(answer.status, url, why)
        return answer

    def commit(self) -> None:
        """Commit it, which makes one version of each object in it."""
        self._client.send("PUT", self.uri)

    def abandon(self) -> str:
        """Roll it back, unless it has ended already.

        Returns:
            Why that failed, as a sentence; ``""`` if it did not.
        """
        try:
            settle(self._client, self.uri)
        except RemoteError as error:
            return str(error)
        return ""

    @contextlib.contextmanager
    def kept_alive(self, size: int) -> Iterator[None]:
        """Keep the transaction from expiring during an upload of ``size`` bytes."""
        if size < _LARGE:
            yield
            return
        ended = threading.Event()
        keeper = threading.Thread(target=self._touch, args=(ended,), daemon=True)
        keeper.start()
        try:
            yield
        finally:
            ended.set()
            keeper.join()

    def _touch(self, ended: threading.Event) -> None:
        while not ended.wait(self._life / 3):
            with contextlib.suppress(RemoteError):
                self._client.send("POST", self.uri)


def settle(client: FedoraClient, uri: str) -> None:
    """Make sure that the transaction of a killed process has ended.

    If the user may not end it (6.0.0 allows only administrators), it expires.

    Raises:
        RemoteError: It cannot be ended now; a commit may be under way.
    """
    over = contextlib.suppress(NotThere, Departed, TransactionLost)
    with over:
        try:
            client.send("DELETE", uri)
        except (Denied, Busy) as error:
            if error.status not in {403, 500}:
                raise
            client.send("GET", uri)
            why = "could not be ended, and locks the record until it expires, within minutes"
            raise Busy(error.status, uri, why) from error


def _life_in(headers: Mapping[str, str]) -> float:
    start, end = http_date(headers.get("Date", "")), http_date(headers.get("Expires", ""))
    if start is None or end is None or end <= start:
        return _LIFE
    return (end - start).total_seconds()
