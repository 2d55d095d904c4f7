"""Translate errors of Fedora into errors of an export."""

import contextlib
from collections.abc import Iterator

from siloexport.crosswalk import CrosswalkError
from siloexport.errors import Conflict, DepositFailed, RetryLater
from siloexport.targets.fedora.answers import Departed, DigestMismatch, Locked, TransactionLost
from siloexport.targets.remote import errors


@contextlib.contextmanager
def export_errors(identifier: str) -> Iterator[None]:
    """Translate errors at one record, as `siloexport.targets.remote.errors.export_errors` does.

    Raises:
        Conflict, RetryLater, DepositFailed, TargetUnusable, TargetFull: See
            `siloexport.targets.Target.deposit`.
    """
    with errors.export_errors(identifier):
        try:
            yield
        except (Locked, TransactionLost, DigestMismatch) as error:
            raise RetryLater(identifier, str(error)) from error
        except Departed as error:
            raise Conflict(identifier, str(error)) from error
        except (CrosswalkError, ValueError) as error:
            raise DepositFailed(identifier, str(error)) from error
