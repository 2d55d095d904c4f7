"""Errors of stores of files: each message one sentence, without credentials.

StoreFailed             a store refuses what it is asked for
├── ObjectDiffers         a file there is missing, or has another content
└── StoreUnreachable      it does not answer
"""

from politeweb.errors import FetchError
from recordsilo.errors import RecordSiloError


class StoreFailed(FetchError, RecordSiloError):
    """A store refuses what it is asked for."""


class ObjectDiffers(StoreFailed):
    """A file in a store is missing, or has another content than it should have."""


class StoreUnreachable(StoreFailed):
    """A store does not answer; the same request may succeed later."""
