"""Interpret failed exchanges, in messages without addresses (pure)."""

import http.client

import urllib3

from politeweb.connections import MalformedResponse, PrivateAddress, TooSlow
from politeweb.settings import HttpSettings

BROKEN = (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError)
"""Exceptions of urllib3, `http.client`, sockets and requests (OSErrors) for a failed exchange."""


def is_final(error: BaseException, *, has_answered: bool) -> bool:
    """Whether another attempt would be useless.

    An invalid certificate or address stays invalid. A host that refuses connections or does not
    exist, and has never answered, is probably a wrong one.
    """
    import requests  # noqa: PLC0415 - 20 ms, and only failures need it

    if isinstance(error, (requests.exceptions.SSLError, urllib3.exceptions.SSLError)):
        return True
    is_of_requests = isinstance(error, requests.RequestException)  # which are OSErrors, too
    if isinstance(error, ValueError) and (is_of_requests or not isinstance(error, OSError)):
        return True
    kinds = (
        requests.exceptions.ConnectionError,
        urllib3.exceptions.NewConnectionError,
        urllib3.exceptions.ProxyError,
    )
    unconnected = isinstance(error, kinds) and not isinstance(error, requests.exceptions.Timeout)
    return unconnected and not has_answered and _never_connected(error)


def is_timeout(error: BaseException) -> bool:
    """Whether the server did not answer in time, as opposed to a broken connection."""
    import requests  # noqa: PLC0415 - see `is_final`

    kinds = (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
    refused = urllib3.exceptions.NewConnectionError
    causes = causes_of(error)
    return any(isinstance(one, kinds) and not isinstance(one, refused) for one in causes)


def reason_of(error: BaseException, settings: HttpSettings) -> str:
    """Describe a transport's exception without a URL, and so without credentials."""
    import requests  # noqa: PLC0415 - see `is_final`

    causes = causes_of(error)
    if any(map(_is_late, causes)):
        return f"no connection in {settings.connect_timeout:g} s"
    wrong = next((one for one in causes if isinstance(one, MalformedResponse)), None)
    kinds: list[tuple[type[BaseException], str]] = [
        (PrivateAddress, "it has an address that is not public"),
        (requests.exceptions.ProxyError, f"the proxy failed ({_innermost(causes)})"),
        (urllib3.exceptions.ProxyError, f"the proxy failed ({_innermost(causes)})"),
        (urllib3.exceptions.NameResolutionError, "the host name is unknown"),
        (MalformedResponse, f"the response is malformed: {wrong}"),
        (TooSlow, "the response came too slowly"),
        (ConnectionRefusedError, "the connection was refused"),
        (requests.exceptions.ReadTimeout, "the server kept silent too long"),
        (urllib3.exceptions.ReadTimeoutError, "the server kept silent too long"),
        (TimeoutError, "the server kept silent too long"),
        (urllib3.exceptions.IncompleteRead, "the response was cut short"),
        (http.client.IncompleteRead, "the response was cut short"),
        (requests.exceptions.SSLError, f"TLS failed ({_innermost(causes)})"),
        (urllib3.exceptions.SSLError, f"TLS failed ({_innermost(causes)})"),
    ]
    for kind, words in kinds:
        if any(isinstance(cause, kind) for cause in causes):
            return words
    return f"the connection broke ({_innermost(causes)})"


def causes_of(error: BaseException) -> list[BaseException]:
    """Yield the error and its causes, outermost first."""
    found: list[BaseException] = []
    queue: list[object] = [error]
    while queue:
        one = queue.pop(0)
        if isinstance(one, BaseException) and one not in found:
            found.append(one)
            queue += [*one.args, getattr(one, "reason", None), one.__cause__, one.__context__]
    return found


def _is_late(cause: BaseException) -> bool:
    """Whether a connection was not made in time; `NewConnectionError` is of a timeout's class."""
    import requests  # noqa: PLC0415 - see `is_final`

    late = (requests.exceptions.ConnectTimeout, urllib3.exceptions.ConnectTimeoutError)
    return isinstance(cause, late) and not isinstance(cause, urllib3.exceptions.NewConnectionError)


def _never_connected(error: BaseException) -> bool:
    refused = (ConnectionRefusedError, urllib3.exceptions.NewConnectionError)
    return any(isinstance(cause, refused) for cause in causes_of(error))


def _innermost(causes: list[BaseException]) -> str:
    last = next((cause for cause in reversed(causes) if isinstance(cause, OSError)), causes[-1])
    strerror = getattr(last, "strerror", None)
    return str(strerror) if strerror else type(last).__name__
