"""Takes what is to be pushed from classified lines."""

import hmac
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from usagestats.push.openurl import collected
from usagestats.push.outbox import WaitingUse
from usagestats.push.settings import PushSettings
from usagestats.rules.classify import Classified
from usagestats.values import Fate


def rows_of(
    found: Iterable[Classified],
    settings: PushSettings,
    zone: ZoneInfo,
    key_of: Callable[[str], bytes],
    is_open: Callable[[str], bool] = lambda _: True,
) -> Iterator[WaitingUse]:
    """Yield what waits to be pushed of some lines; robots and machines are never pushed.

    Args:
        found: Classified lines.
        settings: Of the push.
        zone: Time zone of the days.
        key_of: Day → its key.
        is_open: Whether the uses of a day are still taken.
    """
    for one in found:
        if one.fate is not Fate.COUNTED or one.hit is None or one.use is None:
            continue
        hit, use = one.hit, one.use
        day = f"{datetime.fromtimestamp(hit.moment, zone):%Y-%m-%d}"
        if not is_open(day):
            continue
        key = key_of(day)
        content = collected(settings, hit, use, client_token(key, hit.address))
        if content is not None:
            parts = (str(hit.moment), hit.address, hit.user, hit.agent, hit.path, str(hit.status))
            yield WaitingUse(_digest(key, *parts), day, use.item, content)


def client_token(key: bytes, address: str) -> str:
    """Return the token of a client that a gatherer gets.

    Args:
        key: Of the day.
        address: Of the client.
    """
    return _digest(key, "push", address).hex()


def _digest(key: bytes, *parts: str) -> bytes:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hmac.digest(key, text, "sha256")[:16]
