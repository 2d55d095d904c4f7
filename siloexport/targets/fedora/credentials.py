"""Where user and password come from: a file, the environment, or the user's netrc.

Never from the command line: other users of the machine can read that.
"""

import os
import stat
from collections.abc import Mapping
from urllib.parse import urlsplit

from requests.utils import get_netrc_auth

from siloexport.errors import CredentialsRefused
from siloexport.targets.fedora.client import Auth

USER, PASSWORD = "FEDORA_USER", "FEDORA_PASSWORD"


def credentials(url: str, path: str | None, environment: Mapping[str, str]) -> Auth | None:
    """User and password for a server; None where nobody named any.

    Args:
        path: A file whose first line is ``user:password``, which only its owner may read.

    Raises:
        CredentialsRefused: The file is not so; or the address has them in it.
    """
    if "@" in urlsplit(url).netloc:
        raise CredentialsRefused(
            "the address has credentials in it, which others could read; put them into a file "
            f"and give --credentials, or into {USER} and {PASSWORD}, or into your netrc"
        )
    if path is not None:
        return _in_file(path)
    if environment.get(USER):
        return _pair(environment[USER], environment.get(PASSWORD, ""))
    found = get_netrc_auth(url)
    return _pair(*found) if found else None


def _in_file(path: str) -> Auth:
    try:
        with open(path, encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise CredentialsRefused(f"others may read {path}; chmod 600 {path}")
            user, colon, password = file.readline().rstrip("\r\n").partition(":")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CredentialsRefused(f"{path} cannot be read: {reason}") from error
    if not colon or not user:
        raise CredentialsRefused(f"the first line of {path} is not user:password")
    return _pair(user, password)


def _pair(user: str, password: str) -> Auth:
    return user.encode(), password.encode()
