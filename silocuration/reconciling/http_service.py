"""A service over HTTP: its manifest, and batches of queries.

Source: Reconciliation Service API 0.2; batches are sent as OpenRefine sends them, by POST with the
form field ``queries``.
"""

import json
import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urljoin

from politeweb.answers import REDIRECTS, http_date, retry_after
from politeweb.attempts import backoff
from politeweb.closing import Closing
from politeweb.errors import FetchError
from politeweb.exchange import Exchanges, FailureKind, Taken
from politeweb.pace import Pace
from politeweb.public_hosts import is_public_peer
from politeweb.settings import HttpSettings
from silocuration.reconciling.places import FILE, PlaceUnusable, ReconciliationPlace
from silocuration.reconciling.protocol import (
    Candidate,
    ProtocolError,
    ReconciliationQuery,
    batch_of,
    manifest_from,
    results_from,
)

SETTINGS = HttpSettings(
    connect_timeout=10, read_timeout=60, total_timeout=120, max_response=4 << 20, attempts=4,
    first_pause=2.0, longest_pause=120.0, netrc=False,
)  # fmt: skip
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_MOST_REDIRECTS = 3


class Service(Closing):
    """A service; its manifest is read at once.

    Args:
        place: With an address.
        settings: Of requests.
        sleep, monotonic: For the pace.

    Raises:
        PlaceUnusable: It does not answer as specified.
    """

    def __init__(
        self,
        place: ReconciliationPlace,
        settings: HttpSettings = SETTINGS,
        *,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place, self._settings, self._sleep = place, settings, sleep
        is_allowed = None if place.private else is_public_peer
        self._exchanges = Exchanges(settings, is_allowed=is_allowed)
        self._pace = Pace(place.delay, monotonic=monotonic)
        self._url = place.url
        try:
            self.manifest = manifest_from(self._sent("GET"))
        except ProtocolError as error:
            self.close()
            raise PlaceUnusable(place.name, str(error)) from None
        except PlaceUnusable:
            self.close()
            raise

    def close(self) -> None:
        """End the connections."""
        self._exchanges.close()

    def candidates(self, queries: Sequence[ReconciliationQuery]) -> list[tuple[Candidate, ...]]:
        """See `Asked`."""
        batch = {f"q{number}": one for number, one in enumerate(queries)}
        if not batch:
            return []
        body = urlencode({"queries": batch_of(batch)}).encode("ascii")
        try:
            found = results_from(self._sent("POST", body), batch)
        except ProtocolError as error:
            raise PlaceUnusable(self._place.name, str(error)) from None
        return [found[key] for key in batch]

    def _sent(self, method: str, body: bytes = b"") -> Any:
        """Send a request until it is answered; return the JSON value of the answer."""
        for attempt in range(1, self._settings.attempts + 1):
            self._sleep(self._pace.reserve())
            with self._led(method, body) as taken:
                head = taken.head
                is_last = attempt == self._settings.attempts
                if head is not None and head.status == HTTPStatus.OK:
                    return self._value(taken)
                if head is None or head.status in _BUSY:
                    pause = self._pause(taken, attempt)
                    if not is_last and pause is not None:
                        self._sleep(pause)
                        continue
                raise PlaceUnusable(self._place.name, _reason(taken, self._place))
        raise AssertionError("there is at least one attempt")

    def _led(self, method: str, body: bytes) -> Taken:
        """Send a request, and follow the redirects of the service's own address."""
        headers = {"Accept": "application/json"}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                taken = self._exchanges.take(self._url, headers, method=method, body=body)
            except FetchError as error:
                raise PlaceUnusable(self._place.name, str(error)) from None
            head = taken.head
            if head is None or head.status not in REDIRECTS or not head.location:
                return taken
            taken.close()
            # A POST is sent again as it is: services move from http to https, or to a slash.
            self._url = urljoin(self._url, head.location)
        raise PlaceUnusable(self._place.name, "it redirects again and again")

    def _pause(self, taken: Taken, attempt: int) -> float | None:
        """The seconds before the next attempt; None if there should be none."""
        if taken.failure is not None and taken.failure.kind in {
            FailureKind.PRIVATE,
            FailureKind.UNKNOWN_HOST,
            FailureKind.TLS,
        }:
            return None
        now = datetime.now(UTC)
        head = taken.head
        said = head.get("retry-after") if head else ""
        date = http_date(head.get("date")) if head else None
        asked = retry_after(said or None, date or now)
        if asked is not None and asked > self._settings.longest_pause:
            return None
        usual = backoff(
            attempt, self._settings.first_pause, self._settings.longest_pause, random.random
        )
        return usual if asked is None else asked

    def _value(self, taken: Taken) -> Any:
        if taken.truncated:
            raise PlaceUnusable(self._place.name, "its answer is too long, or was not whole")
        try:
            content = b"".join(taken.content(self._settings.max_response))
            return json.loads(content)
        except (ValueError, RecursionError, FetchError):
            raise PlaceUnusable(self._place.name, "its answer is no JSON") from None


def _reason(taken: Taken, place: ReconciliationPlace) -> str:
    if taken.failure is not None:
        if taken.failure.kind is FailureKind.PRIVATE:
            table = "[added]" if place.is_added else f"[places.{place.name}]"
            return f"its address is not public; private = true in {table} of {FILE} allows it"
        return taken.failure.reason
    status = taken.head.status if taken.head else 0
    return f"it answers with {status}"
