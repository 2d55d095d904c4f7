"""Read secrets from files or the environment; they are never on the command line."""

import os
import stat
from base64 import b64encode
from collections.abc import Mapping

from siloexport.errors import CredentialsRefused


def login(path: str | None, environment: Mapping[str, str], prefix: str) -> str:
    """Return the header ``Authorization`` for a user and password; ``""`` if there are none.

    Args:
        path: A file whose first line is ``user:password`` and that only its owner may read.
        environment: May have ``<prefix>_USER`` and ``<prefix>_PASSWORD``.
        prefix: Of the variables.

    Raises:
        CredentialsRefused: The file is unreadable, invalid, or readable by others.
    """
    if path is not None:
        pair = ":".join(login_in(path)).strip()
    elif user := environment.get(f"{prefix}_USER", ""):
        pair = f"{user}:{environment.get(f'{prefix}_PASSWORD', '')}"
    else:
        return ""
    return f"Basic {b64encode(pair.encode()).decode('ascii')}"


def token(path: str | None, environment: Mapping[str, str], prefix: str) -> str:
    """Return the header ``Authorization`` for a token; ``""`` if there is none.

    Args:
        path: A file whose first line is the token and that only its owner may read.
        environment: May have ``<prefix>_TOKEN``.
        prefix: Of the variable.

    Raises:
        CredentialsRefused: The file is unreadable, invalid, or readable by others.
    """
    where = path if path is not None else f"the environment variable {prefix}_TOKEN"
    text = _first_line(path).strip() if path is not None else environment.get(f"{prefix}_TOKEN", "")
    if path is None and not text:
        return ""
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise CredentialsRefused(f"{where} is not a token")
    return f"Bearer {text}"


def login_in(path: str) -> tuple[str, str]:
    """Return user and password, from the first line of a file that only its owner may read.

    Raises:
        CredentialsRefused: The file is unreadable, invalid, or readable by others.
    """
    user, colon, password = _first_line(path).partition(":")
    if not colon or not user:
        raise CredentialsRefused(f"the first line of {path} is not user:password")
    return user, password


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise CredentialsRefused(f"other users may read {path}; run chmod 600 {path}")
            return file.readline(10_000).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CredentialsRefused(f"{path} cannot be read: {reason}") from error
