"""What can go wrong between a repository and a Silo: one tree, each message one sentence.

    ScraperError
    ├── RequestRefused          the caller's arguments, before anything is sent
    ├── EndpointError           the repository, or the way to it
    │   ├── EndpointUnreachable   no connection, no answer, an answer cut short
    │   ├── HTTPStatusError       an HTTP error without an OAI-PMH answer in it
    │   ├── RetryLater            the repository asks to be left alone until a deadline
    │   ├── ResponseTooLarge      more bytes than were allowed
    │   ├── ResponseTooSlow       more seconds than were allowed
    │   ├── RedirectRefused       a redirect to nowhere, for ever, out of HTTP, or inwards
    │   └── PageUnreadable        bytes that are no OAI-PMH answer
    │       ├── EntitiesRefused     entities other than XML's own five
    │       └── PageOverfull        far more would be made of it than it has bytes
    ├── TokenLoopError          a list that leads back into itself
    ├── HarvestStopped          a list that ended before its end; what came is kept
    ├── HarvestRunning          another process is at the same harvest
    ├── JournalUnreadable       what is noted of open harvests cannot be read
    ├── BaseURLConflict         the Silo remembers another repository
    ├── NoBaseURL               the Silo remembers none
    ├── NothingToUpdate         nothing was harvested before
    └── WarcUnreadable          a file of responses that is none, or not there

The repository's own error conditions are `oaipmhprotocol.OAIError`.
"""

from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from oaipmhscraper.receipt import Receipt


class ScraperError(Exception):
    """Base of everything this package raises by itself."""


class RequestRefused(ScraperError, ValueError):
    """The arguments make no request that OAI-PMH knows; nothing was sent."""


class EndpointError(ScraperError):
    """The repository, or the way to it, failed.

    Attributes:
        url: What was asked for, without credentials.
    """

    def __init__(self, url: str, sentence: str) -> None:
        self.url = url
        super().__init__(sentence)


class EndpointUnreachable(EndpointError):
    """No whole answer came, however often it was tried.

    Attributes:
        reason: The last failure, in words.
        attempts: How often it was tried.
    """

    def __init__(self, url: str, reason: str, attempts: int = 1) -> None:
        self.reason = reason
        self.attempts = attempts
        tried = f" after {attempts} attempts" if attempts > 1 else ""
        super().__init__(url, f"{url} gives no answer{tried}: {reason}")


class HTTPStatusError(EndpointError):
    """An HTTP error status, and no OAI-PMH answer beside it.

    Attributes:
        status: The status code.
    """

    def __init__(self, url: str, status: int, phrase: str = "", attempts: int = 1) -> None:
        self.status = status
        tried = f", {attempts} times" if attempts > 1 else ""
        super().__init__(url, f"{url} answers HTTP {status} {phrase}".rstrip() + tried)


class RetryLater(EndpointError):
    """The repository asks for a longer pause than one waits for.

    Attributes:
        deadline: Aware UTC; not to be asked before.
    """

    def __init__(self, url: str, status: int, deadline: datetime) -> None:
        self.status = status
        self.deadline = deadline
        super().__init__(
            url,
            f"{url} answers HTTP {status} and asks not to be called again before"
            f" {deadline:%Y-%m-%d %H:%M:%S} UTC",
        )


class ResponseTooLarge(EndpointError):
    """An answer, as sent or unpacked, is larger than allowed, or takes too much memory to read.

    Attributes:
        limit: Bytes allowed.
        memory: Bytes of memory that reading it would take; None where it is too large itself.
    """

    def __init__(self, url: str, limit: int, memory: int | None = None) -> None:
        self.limit = limit
        self.memory = memory
        what = f"more than the {limit:,} bytes allowed for one answer"
        if memory is not None:
            what = (
                f"so much markup that reading it would take {memory:,} bytes of memory,"
                f" too many where an answer may have {limit:,} bytes"
            )
        super().__init__(url, f"{url} sends {what}; --max-response raises the limit")


class ResponseTooSlow(EndpointError):
    """An answer is not complete within the time allowed.

    Attributes:
        limit: Seconds allowed.
    """

    def __init__(self, url: str, limit: float) -> None:
        self.limit = limit
        super().__init__(url, f"{url} did not finish its answer within {limit:g} seconds")


class RedirectRefused(EndpointError):
    """A redirect that is not followed.

    Attributes:
        reason: Why not, in words.
    """

    def __init__(self, url: str, reason: str) -> None:
        self.reason = reason
        super().__init__(url, f"{url} redirects {reason}")


class PageUnreadable(EndpointError):
    """The bytes received are no OAI-PMH answer.

    Attributes:
        reason: What they are instead, or where reading failed.
    """

    def __init__(self, reason: str, url: str = "") -> None:
        self.reason = _short(reason, 500)
        super().__init__(url, f"the answer of {url or 'the repository'} {self.reason}")

    def at(self, url: str) -> "PageUnreadable":
        """The same, with the request's URL told."""
        return type(self)(self.reason, url)


class OtherAnswer(PageUnreadable):
    """A well-formed answer to another verb than was asked."""


class EntitiesRefused(PageUnreadable):
    """The answer wants entities resolved, as entity bombs and file thieves do."""


class PageOverfull(PageUnreadable):
    """Far more would be made of the answer than it has bytes; it is not mended either."""


class TokenLoopError(ScraperError):
    """A list leads back into itself; the pages before are sound, the list is not complete.

    Attributes:
        token: The resumption token that came again, or that gave the same page again.
    """

    def __init__(self, token: str, what: str = "was handed out before") -> None:
        self.token = token
        super().__init__(f"the list runs in a circle: resumption token {_short(token)!r} {what}")


class HarvestStopped(ScraperError):
    """A list ended before its end. Every page stored before stays.

    Attributes:
        request: The request that failed, as a URL's query.
        receipt: What was got until then.
        cause: The failure itself.
    """

    def __init__(self, request: str, cause: Exception, receipt: "Receipt") -> None:
        self.request = request
        self.cause = cause
        self.receipt = receipt
        at = "" if request in str(cause) else f" at {_short(request, 300)}"
        super().__init__(f"the harvest stopped{at}: {cause}")


class HarvestInterrupted(KeyboardInterrupt):
    """Ctrl-C, taken between two pages. A KeyboardInterrupt, so nothing swallows it.

    Attributes:
        receipt: What was got until then.
    """

    def __init__(self, receipt: "Receipt") -> None:
        self.receipt = receipt
        super().__init__("interrupted between two pages; everything stored before stays")


class HarvestRunning(ScraperError):
    """The same harvest is under way in another process or thread; nothing was sent."""

    def __init__(self, storage_dir: str) -> None:
        super().__init__(f"another process is at the same harvest into {storage_dir} just now")


class JournalUnreadable(ScraperError):
    """The journal of open harvests is damaged, or of a later version of this program.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(
            f"{path} cannot be read ({reason}); it may be deleted: open harvests then begin"
            " anew, and nothing that is stored is lost"
        )


class BaseURLConflict(ScraperError):
    """A Silo is harvested from one repository only, and this is another.

    Attributes:
        remembered: The base URL in the Silo.
        given: The one asked for.
    """

    def __init__(self, storage_dir: str, remembered: str, given: str) -> None:
        self.remembered = remembered
        self.given = given
        super().__init__(
            f"{storage_dir} was harvested from {remembered}, not from {given}; if the repository"
            f" moved, say so once: silo harvest --moved {given} {storage_dir}"
        )


class NoBaseURL(ScraperError):
    """The Silo was never harvested from anywhere."""

    def __init__(self, storage_dir: str) -> None:
        super().__init__(
            f"{storage_dir} does not remember a repository; give the repository's base URL"
        )


class NothingToUpdate(ScraperError):
    """An update goes on from an earlier harvest, and there is none."""

    def __init__(self, storage_dir: str) -> None:
        super().__init__(f"nothing was harvested into {storage_dir} yet; harvest it first")


class WarcUnreadable(ScraperError):
    """A file of recorded responses cannot be read.

    Attributes:
        path: Which.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} {reason}")


Failure = TypeVar("Failure", bound=BaseException)


def without_frames(failure: Failure) -> Failure:
    """The failure without the frames that it passed and the errors that caused it.

    They hold the bodies of answers, and failures are kept until a harvest ends.
    """
    failure.__traceback__ = failure.__cause__ = failure.__context__ = None
    return failure


def _short(text: str, length: int = 120) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
