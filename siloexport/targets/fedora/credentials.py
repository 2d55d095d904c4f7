"""Read user and password from a file, the environment or the user's netrc.

They are never given on the command line, which other users of the machine can read.
"""

from collections.abc import Mapping

from requests.utils import get_netrc_auth

from politeweb.addresses import without_credentials
from siloexport.errors import CredentialsRefused
from siloexport.targets.fedora.client import Auth
from siloexport.targets.remote.credentials import login_in

USER, PASSWORD = "FEDORA_USER", "FEDORA_PASSWORD"


def credentials(url: str, path: str | None, environment: Mapping[str, str]) -> Auth | None:
    """Return user and password for a server; None if none are configured.

    Args:
        url: An address on the server.
        path: A file whose first line is ``user:password`` and that only its owner may read.

    Raises:
        CredentialsRefused: The file is unreadable, invalid or readable by others; or the
            address contains credentials.
    """
    if without_credentials(url) != url:
        raise CredentialsRefused(
            "the address contains credentials, which others could read; put them into a file "
            f"and give --credentials, or into {USER} and {PASSWORD}, or into your netrc"
        )
    if path is not None:
        return _pair(*login_in(path))
    if environment.get(USER):
        return _pair(environment[USER], environment.get(PASSWORD, ""))
    found = get_netrc_auth(url)
    return _pair(*found) if found else None


def _pair(user: str, password: str) -> Auth:
    return user.encode(), password.encode()
