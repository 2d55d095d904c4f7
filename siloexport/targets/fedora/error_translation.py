"""Translate errors of Fedora into errors of an export."""

import contextlib
from collections.abc import Iterator

from recordsilo.errors import FileNotInVersion
from siloexport.crosswalk import CrosswalkError
from siloexport.errors import (
    Conflict,
    CredentialsRefused,
    DepositFailed,
    RetryLater,
    SourceChanged,
    TargetFull,
    TargetUnusable,
)
from siloexport.targets.fedora.answers import (
    ChangedMeanwhile,
    ChecksumRefused,
    Denied,
    Departed,
    FedoraBusy,
    FedoraError,
    Locked,
    NoRoom,
    OnAnotherServer,
    TransactionLost,
)


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
    except FedoraError as error:
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
            reason = f"the user may not do this with the record's object: {error}"
            raise DepositFailed(identifier, reason) from error
        raise CredentialsRefused(f"the credentials are refused: {error}") from error
    except OnAnotherServer as error:
        raise TargetUnusable(str(error)) from error
    except NoRoom as error:
        raise TargetFull(f"the server's disk is full: {error}") from error
    except FedoraBusy as error:
        raise RetryLater(identifier, str(error), error.after) from error
    except (Locked, TransactionLost, ChecksumRefused) as error:
        raise RetryLater(identifier, str(error)) from error
    except (ChangedMeanwhile, Departed) as error:
        raise Conflict(identifier, str(error)) from error
    except (FedoraError, CrosswalkError, FileNotInVersion, ValueError) as error:
        raise DepositFailed(identifier, str(error)) from error
    except SourceChanged as error:
        if error.identifier:
            raise
        raise SourceChanged(identifier, error.version, error.path) from error
