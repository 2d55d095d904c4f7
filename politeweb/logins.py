"""Users, passwords and other secrets, for their own host alone."""

import os
from base64 import b64encode

from politeweb.addresses import Address
from politeweb.settings import HttpSettings


def secrets_for(url: str, home: Address | None, settings: HttpSettings) -> dict[str, str]:
    """Return the headers with secrets for a request; none for other hosts than ``home``'s.

    Args:
        url: The address of the request.
        home: The address that the credentials are for.
        settings: May have credentials too; those in ``home`` take precedence.
    """
    if home is None or not home.shares_credentials_with(url):
        return {}
    found = dict(settings.secret_headers)
    if not any(name.lower() == "authorization" for name in found):
        auth = home.auth or settings.auth
        found |= _basic(auth) if auth else login_for(url, settings)
    return found


def login_for(url: str, settings: HttpSettings) -> dict[str, str]:
    """Return the header with the user and password in ``~/.netrc`` for any host; empty without.

    Args:
        url: The address of the request.
        settings: Say whether the file is read.
    """
    found = _in_netrc(url) if settings.netrc else None
    return {} if found is None else _basic(found)


def _basic(login: tuple[str, str]) -> dict[str, str]:
    text = ":".join(login).encode("utf-8")
    return {"Authorization": f"Basic {b64encode(text).decode('ascii')}"}


def has_login(url: str) -> bool:
    """Whether ``~/.netrc`` has a user and password for the host of an address."""
    return _in_netrc(url) is not None


def _in_netrc(url: str) -> tuple[str, str] | None:
    named = os.environ.get("NETRC")
    paths = [named] if named else map(os.path.expanduser, ("~/.netrc", "~/_netrc"))
    if not any(map(os.path.exists, paths)):
        return None
    from requests.utils import get_netrc_auth  # noqa: PLC0415 - 20 ms, and few have such a file

    return get_netrc_auth(url)
