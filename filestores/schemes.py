"""The kinds of addresses of stores, and the service of fsspec behind each.

``s3://``: credentials and the address of the service come from the environment and the
configuration of AWS (``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL``, ``~/.aws/`` …).
``sftp://``: a machine that ssh reaches; keys and the names of hosts come from ``~/.ssh/`` and the
agent. A host that is not in ``known_hosts`` is refused; there are no passwords.
"""

import importlib
import os
import re
from typing import Any
from urllib.parse import urlsplit

from filestores.errors import StoreFailed
from politeweb.errors import RequestRefused
from recordsilo.extras import install_line

SCHEMES = frozenset({"s3"})
"""Of object stores."""
_PACKAGES = {"s3": ("s3fs", "s3"), "sftp": ("paramiko", "sftp")}
"""What a scheme needs, and the extra with it."""
_PATH = r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9_.%+=,~!-]+)*"
_ADDRESS = re.compile(
    rf"(?:(?P<scheme>[a-z0-9]+)://[A-Za-z0-9][A-Za-z0-9._-]*{_PATH}"
    rf"|sftp://(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{{1,5}})?{_PATH})"
)
_ATTEMPTS = 2
"""Of s3fs, each with the attempts of AWS: its own 5 waited 7 minutes for a service that hangs."""
_SECONDS = 20.0
"""For a connection by ssh."""


def check_address(address: str, *, or_machine: bool = False) -> str:
    """Return the address of a store or of a file in it, without a slash at its end.

    Args:
        address: Of an object store.
        or_machine: Whether it may be of another machine.

    Raises:
        RequestRefused: Not a valid address.
    """
    given = address.rstrip("/")
    is_known = scheme_of(given) in SCHEMES or (or_machine and given.startswith("sftp://"))
    if is_known and _ADDRESS.fullmatch(given):
        return given
    machine = "; that of another machine sftp://user@host:port/path" if or_machine else ""
    raise RequestRefused(
        "the address of an object store is s3://bucket or s3://bucket/prefix, of letters,"
        f" digits and _.%+=,~!-, and without a user or password{machine}"
    )


def scheme_of(address: str) -> str:
    """``s3`` of ``s3://bucket``; empty for a path of this machine."""
    scheme, colon, _ = address.partition("://")
    return scheme if colon else ""


def service_of(address: str) -> Any:
    """Return the file system of fsspec for an address; of another machine, connected.

    Raises:
        StoreFailed: An extra is not installed.
        Exception: Whatever the libraries raise.
    """
    scheme = scheme_of(address)
    package, extra = _PACKAGES.get(scheme, (scheme, ""))
    try:
        fsspec = importlib.import_module("fsspec")
        kind = fsspec.get_filesystem_class(scheme)
    except ImportError:
        raise StoreFailed(
            f"{scheme}:// needs the package {package}; install it: {install_line(package, extra)}"
        ) from None
    if scheme == "sftp":
        return _by_ssh(kind, address)
    files = kind(use_listings_cache=False)  # one for a process; 0.2 s of CPU
    files.retries = _ATTEMPTS
    return files


def _by_ssh(kind: Any, address: str) -> Any:
    paramiko = importlib.import_module("paramiko")
    parts = urlsplit(address)
    said: dict[str, Any] = {}
    config = os.path.expanduser("~/.ssh/config")
    if os.path.exists(config):
        said = paramiko.SSHConfig.from_path(config).lookup(parts.hostname or "")
    known = said.get("userknownhostsfile", "").split()

    class KnownHosts(kind):  # type: ignore[misc]  # fsspec is loaded by name
        """fsspec itself reads no list of known hosts, and trusts each."""

        cachable = False

        def _connect(self) -> None:
            self.client = paramiko.SSHClient()
            for path in known or [None]:
                self.client.load_system_host_keys(path)
            self.client.set_missing_host_key_policy(paramiko.RejectPolicy())
            self.client.connect(self.host, **self.ssh_kwargs)
            self.ftp = self.client.open_sftp()

    port = parts.port or int(said.get("port", 22))
    how: dict[str, Any] = {"port": port, "timeout": _SECONDS, "banner_timeout": _SECONDS}
    if user := parts.username or said.get("user"):
        how["username"] = user
    if keys := said.get("identityfile"):
        how["key_filename"] = keys
    return KnownHosts(said.get("hostname", parts.hostname), **how)
