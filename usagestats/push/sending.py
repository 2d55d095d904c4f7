"""Sends what waits to the gatherer, one request for each use."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlencode

from politeweb.attempts import Passing, attempted, backoff
from politeweb.errors import EndpointUnreachable, FetchError, HTTPStatusError
from politeweb.exchange import Exchanges
from politeweb.pace import Pace
from politeweb.settings import HttpSettings
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.formats import describe_main
from silowork.stop import Stop
from usagestats.push.openurl import Article, NotSendable, article_of, openurl
from usagestats.push.outbox import Outbox, WaitingUse
from usagestats.push.settings import PushSettings

HTTP = HttpSettings(
    connect_timeout=10, read_timeout=60, total_timeout=60, attempts=4, longest_pause=120.0
)
_FAILURES_IN_A_ROW = 3
_LONGEST_WAIT = 86_400.0
_REFUSED = frozenset({400, 406, 413, 414, 422})
"""Statuses that say that this use is wrong; others say that the gatherer is."""
_TEMPORARY = frozenset({408, 425, 429})


class _Refused(FetchError):
    """The gatherer refuses a use."""


@dataclass(slots=True)
class Pushed:
    """What a push did.

    Attributes:
        repeated: Acknowledged uses that an earlier request may have brought already: it was
            sent, but not acknowledged.
        unsent: Reason → uses that cannot be sent.
        problem: Why the push ended early; ``""`` if it did not.
    """

    sent: int = 0
    repeated: int = 0
    unsent: Counter[str] = field(default_factory=Counter)
    problem: str = ""


class Push:
    """Sends the uses in an outbox.

    Args:
        silo: With the records.
        outbox: What waits.
        settings: What is sent to whom.
        http: How requests are sent.
    """

    def __init__(
        self, silo: Silo, outbox: Outbox, settings: PushSettings, http: HttpSettings = HTTP
    ) -> None:
        self._silo, self._outbox, self._settings, self._http = silo, outbox, settings, http
        self._articles: dict[str, Article | None] = {}
        self._pace = Pace(settings.pause)
        self._exchanges = Exchanges(http)
        self.pushed = Pushed()

    def run(self, stop: Stop, told: Callable[[Pushed], None] = lambda _: None) -> Pushed:
        """Send all that is due, until it is sent, the gatherer fails, or the run is stopped.

        Args:
            stop: Ends the run after the current request.
            told: Called after each use.
        """
        failures = 0
        while not stop.asked and (row := self._outbox.next()) is not None:
            try:
                failures = 0 if self._push(row, stop) else failures + 1
            except FetchError as error:
                self.pushed.problem = str(error)
                break
            if failures >= _FAILURES_IN_A_ROW:
                break
            told(self.pushed)
        if failures >= _FAILURES_IN_A_ROW:
            self.pushed.problem = f"{self._settings.host} fails: {self.pushed.problem}"
        elif failures == 0 and stop.asked:
            self.pushed.problem = ""
        return self.pushed

    def close(self) -> None:
        """Close the connections."""
        self._exchanges.close()

    # ------------------------------------------------------------------ one use

    def _push(self, row: WaitingUse, stop: Stop) -> bool:
        """Send a use; return whether it is done with."""
        try:
            article = self._article(row.item)
            known = openurl(self._settings.profile, row.content, article)
        except NotSendable as error:
            self._give_up(row, str(error))
            return True
        if stop.wait(self._pace.reserve()):
            self._outbox.not_sent(row)
            return True
        try:
            attempted(
                lambda _: self._request(known),
                lambda _, seconds: self._pause(row, stop, seconds),
                self._http,
                now=lambda: datetime.now(UTC),
                random=random.random,
            )
        except _Refused as error:
            self._give_up(row, str(error))
            return True
        except (EndpointUnreachable, HTTPStatusError) as error:
            seconds = backoff(row.tries, 60.0, _LONGEST_WAIT, random.random)
            self._outbox.put_back(row, str(error), seconds)
            self.pushed.problem = str(error)
            if not isinstance(error, EndpointUnreachable) and error.status < 500:
                raise
            return False
        except _Stopped:
            return True
        self._outbox.acknowledged(row)
        self.pushed.sent += 1
        self.pushed.repeated += row.tries > 1
        self.pushed.problem = ""
        return True

    def _pause(self, row: WaitingUse, stop: Stop, seconds: float) -> None:
        self._pace.hold(seconds)
        if stop.wait(seconds):
            raise _Stopped(f"stopped while {row.item} waited")

    def _request(self, known: dict[str, str]) -> None:
        """Send one request; a failure that may pass is `Passing`."""
        place = self._settings.gatherer
        answer = self._exchanges.open(f"{place}?{urlencode(known)}")
        for _ in answer.pieces(1 << 16):
            pass
        if answer.head is None or answer.reason:
            error = EndpointUnreachable(place, answer.reason, self._http.attempts)
            raise Passing(error, answer.reason, url=place)
        status = answer.head.status
        if 200 <= status < 300:
            return
        if status in _REFUSED:
            raise _Refused(f"the gatherer refuses it (HTTP {status})")
        failed = HTTPStatusError(place, status, attempts=1)
        if status >= 500 or status in _TEMPORARY:
            raise Passing(
                failed, f"HTTP {status}", url=place, status=status,
                retry_after=answer.head.get("retry-after"),
            )  # fmt: skip
        raise failed

    def _article(self, item: str) -> Article:
        if item not in self._articles:
            if len(self._articles) > 100_000:
                self._articles.clear()
            self._articles[item] = self._read(item)
        found = self._articles[item]
        if found is None:
            raise NotSendable("the Silo does not hold the record")
        return found

    def _read(self, item: str) -> Article | None:
        try:
            state = self._silo[item].state
            version = state.current
            record = self._silo[item]

            def content(name: str) -> bytes | None:
                try:
                    with record.get_stream(name, version.name) as file:
                        return file.read()
                except (RecordSiloError, OSError):
                    return None

            return article_of(item, describe_main(version.metadata_files, content))
        except (RecordSiloError, OSError, ValueError):
            return None

    def _give_up(self, row: WaitingUse, reason: str) -> None:
        self._outbox.give_up(row, reason)
        self.pushed.unsent[reason] += 1


class _Stopped(Exception):
    """The run was asked to stop during a pause."""
