"""Errors of another server, and those of an export that they become."""

import contextlib
from collections.abc import Callable, Iterator

from recordsilo.errors import FileNotInVersion
from siloexport.errors import (
    Conflict,
    CredentialsRefused,
    DepositFailed,
    RetryLater,
    SourceChanged,
    TargetFull,
    TargetUnusable,
)


class RemoteError(Exception):
    """An answer that reports an error, or no answer.

    Attributes:
        status: HTTP status; 0 if there was no answer.
        url: Of the request.
        reason: What the server said, as one line.
    """

    def __init__(self, status: int, url: str, reason: str) -> None:
        self.status, self.url, self.reason = status, url, reason
        super().__init__(self._said())

    def _said(self) -> str:
        said = f"{self.status} {self.reason}".strip() if self.status else self.reason
        return f"{self.url}: {said}"

    def mask(self, mask: Callable[[str], str]) -> None:
        """Replace secrets in what the server said."""
        self.url, self.reason = mask(self.url), mask(self.reason)
        self.args = (self._said(),)


class NotThere(RemoteError):
    """404 or 410."""


class Denied(RemoteError):
    """401 or 403."""


class NotSupported(RemoteError):
    """405, 406 or 501: the server does not do this at all."""


class Refused(RemoteError):
    """400 and others: a repeated request would be refused too."""


class ChangedMeanwhile(RemoteError):
    """412: it is not in the state that was expected."""


class NoRoom(RemoteError):
    """507."""


class Busy(RemoteError):
    """429, 5xx or no answer: the request may succeed later, or may have been carried out.

    Attributes:
        after: How many seconds the server asked to wait; None if it did not say.
    """

    def __init__(self, status: int, url: str, reason: str, after: float | None = None) -> None:
        super().__init__(status, url, reason)
        self.after = after


class ChecksumRefused(Busy):
    """What arrived does not have the digest that was sent."""


class NotOfThisKind(Busy):
    """The answer is not one of such a server: a login or maintenance page, a redirect.

    The request may have been carried out or not.
    """


class OnAnotherServer(RemoteError):
    """The server gave an address on another server; nothing was sent to it."""

    def __init__(self, url: str) -> None:
        reason = (
            "this address is on another server than the export's, so nothing was sent to it; "
            "set up the server, or the proxy before it (X-Forwarded-Host, X-Forwarded-Proto), "
            "to name its public address"
        )
        super().__init__(0, url, reason)


@contextlib.contextmanager
def target_errors(shown: str) -> Iterator[None]:
    """Translate errors that concern the whole target.

    Args:
        shown: Name of the target for people.

    Raises:
        TargetUnusable, CredentialsRefused: See `siloexport.targets.Target.probe`.
    """
    try:
        yield
    except Denied as error:
        raise CredentialsRefused(f"{shown} refuses the credentials: {error}") from error
    except RemoteError as error:
        raise TargetUnusable(f"{shown} cannot be used: {error}") from error


@contextlib.contextmanager
def export_errors(identifier: str) -> Iterator[None]:
    """Translate errors at one record.

    Raises:
        Conflict, RetryLater, DepositFailed, TargetUnusable, TargetFull: See
            `siloexport.targets.Target.deposit`.
    """
    try:
        yield
    except Denied as error:
        if error.status == 403:
            reason = f"the user may not do this with the record: {error}"
            raise DepositFailed(identifier, reason) from error
        raise CredentialsRefused(f"the credentials are refused: {error}") from error
    except OnAnotherServer as error:
        raise TargetUnusable(str(error)) from error
    except NoRoom as error:
        raise TargetFull(f"the server's disk is full: {error}") from error
    except Busy as error:
        raise RetryLater(identifier, str(error), error.after) from error
    except ChangedMeanwhile as error:
        raise Conflict(identifier, str(error)) from error
    except (RemoteError, FileNotInVersion) as error:
        raise DepositFailed(identifier, str(error)) from error
    except SourceChanged as error:
        if error.identifier:
            raise
        raise SourceChanged(identifier, error.version, error.path) from error
