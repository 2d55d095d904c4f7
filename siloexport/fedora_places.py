"""The Fedora servers that the page can export to, chosen by their names.

The operator of the Silo defines them in ``curation/fedora.toml``:

    [eprints]
    url = "https://fedora.example.org/rest/eprints"
    credentials = "/etc/silo/eprints.login"

A manager adds them on the page: ``curation/places/<name>.toml`` has the address, and
``curation/secrets/<name>.<digest of the address>.login`` the user and password. The name of that
file binds a password to one address. A place that was added on the page is never sent other
credentials: neither those of the worker's environment nor those of its netrc.

Source: docs/page-exports.md; docs/adr/0031-places-added-on-the-page.md.
"""

import contextlib
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from politeweb.settings import HttpSettings
from recordsilo.disk.atomic_file import flush_directory, replace_file
from recordsilo.disk.locks import Locks
from recordsilo.disk.toml_files import TomlFiles
from siloexport.crosswalk_names import BUILT_IN
from siloexport.errors import CredentialsRefused
from siloexport.server_places import ServerPlace, server_places
from silowork.errors import JobRefused

if TYPE_CHECKING:
    from siloexport.targets.fedora.client import Auth

ADDED, SECRETS = "curation/places", "curation/secrets"
TEST_SECONDS = 5.0
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_ADDRESS = re.compile(r"https?://[!-~]+", re.IGNORECASE)
_LONGEST = 1000
"""Characters of an address, a user or a password."""
_TEST = HttpSettings(connect_timeout=2, read_timeout=3, total_timeout=4)


class FedoraPlaceNotFound(JobRefused):
    """There is no place of that name that was added on the page."""


@dataclass(frozen=True, slots=True)
class FedoraPlace:
    """A container in a Fedora.

    Attributes:
        url: The container's address.
        credentials: A file whose first line is ``user:password``; None for the environment
            or the netrc of the worker.
        crosswalk: File of a mapping, or the name of a built-in one; None for the default.
        is_added: Added on the page; without `credentials` no user and password are sent.
    """

    name: str
    url: str
    credentials: str | None = None
    crosswalk: str | None = None
    is_added: bool = False

    def auth(self, environment: Mapping[str, str]) -> "Auth | None":
        """Read the user and password for the address; None if none are sent.

        Raises:
            CredentialsRefused: See `siloexport.targets.fedora.credentials`.
        """
        from siloexport.targets.fedora.credentials import credentials  # noqa: PLC0415 - slow

        if self.is_added and self.credentials is None:
            return None
        return credentials(self.url, self.credentials, environment)


def fedora_places(silo_path: str) -> Mapping[str, FedoraPlace]:
    """Return the places by name: those of the operator, then those that were added on the page.

    Where both have a name, it is the operator's.

    Raises:
        JobRefused: A file cannot be read or is invalid.
    """
    added = {name: added_place(silo_path, name) for name in added_names(silo_path)}
    return {
        **(own := operator_places(silo_path)),
        **{k: v for k, v in added.items() if k not in own},
    }


def operator_places(silo_path: str) -> Mapping[str, FedoraPlace]:
    """Return the places in ``curation/fedora.toml`` by name; empty if it does not exist.

    Raises:
        JobRefused: The file cannot be read or is invalid.
    """
    return {
        one.name: FedoraPlace(one.name, one.url, one.credentials, _crosswalk(silo_path, one))
        for one in server_places(silo_path, "fedora", ("crosswalk",)).values()
    }


def fedora_place(silo_path: str, name: str) -> FedoraPlace:
    """Return a place by its name.

    Raises:
        JobRefused: There is no such place, or the file is invalid.
    """
    places = fedora_places(silo_path)
    if name not in places:
        known = ", ".join(places) or "none"
        raise JobRefused(f"there is no export place {name!r}; there are {known}")
    return places[name]


def _crosswalk(silo_path: str, place: ServerPlace) -> str | None:
    """Return the path of a mapping, which may be relative to ``curation/``, or a built-in name."""
    named = place.options.get("crosswalk")
    if named is None or named in BUILT_IN:
        return named
    return os.path.join(silo_path, "curation", os.path.expanduser(named))


# -- places added on the page ----------------------------------------------------------------


def added_names(silo_path: str) -> list[str]:
    """Return the names of the places that were added on the page, sorted."""
    return _files(silo_path).names()


def added_place(silo_path: str, name: str) -> FedoraPlace:
    """Read a place that was added on the page.

    Raises:
        FedoraPlaceNotFound: There is none.
        JobRefused: Its file is invalid.
    """
    try:
        url = checked_address(str(_files(silo_path).load(name).get("url", "")))
    except FileNotFoundError:
        raise FedoraPlaceNotFound(f"there is no export place {name!r}") from None
    except (OSError, ValueError) as error:  # also JobRefused
        raise JobRefused(f"{ADDED}/{name}.toml is invalid: {error}") from None
    secret = _secret(silo_path, name, url)
    return FedoraPlace(name, url, secret if os.path.exists(secret) else None, is_added=True)


def checked_address(text: str) -> str:
    """Return the address of a container, without a slash at its end.

    Private addresses are accepted: a Fedora is usually reached only from inside.

    Raises:
        JobRefused: It is not an http or https address, or has a user, query or fragment.
    """
    url = text.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        is_valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not _ADDRESS.fullmatch(url) or not is_valid or len(url) > _LONGEST or "\\" in url:
        raise JobRefused("the address must begin with http:// or https:// and name a server", "url")
    if "@" in parts.netloc:
        raise JobRefused("the address must not contain a user or password", "url")
    if "?" in url or "#" in url:
        raise JobRefused("the address must not contain a query or fragment (? or #)", "url")
    return url


def add_place(silo_path: str, name: str, address: str, user: str = "", password: str = "") -> None:
    """Store a new place.

    Args:
        name: Lower-case letters, digits and hyphens.
        address: Of a container, which the export creates.
        user: Empty if the place needs no credentials.
        password: Sent to this address only.

    Raises:
        JobRefused: The name is taken or invalid, or the address or the credentials are invalid.
    """
    if not _NAME.fullmatch(name):
        raise JobRefused("the name of a place has up to 64 letters a-z, digits and hyphens", "name")
    url = checked_address(address)
    with _locked(silo_path):
        if name in added_names(silo_path) or name in operator_places(silo_path):
            raise JobRefused(f"there is an export place {name!r} already", "name")
        _store(silo_path, name, url, user, password)


def change_place(
    silo_path: str, name: str, address: str, user: str = "", password: str = "", *, forget: bool
) -> None:
    """Store another address or other credentials; another address deletes the credentials.

    Args:
        name: Of the place.
        address: The same address, or another one.
        user: Empty to keep the credentials of the same address.
        password: See `user`.
        forget: Delete the credentials.

    Raises:
        FedoraPlaceNotFound: There is none.
        JobRefused: The address or the credentials are invalid.
    """
    url = checked_address(address)
    with _locked(silo_path):
        _check_is_added(silo_path, name)
        with contextlib.suppress(JobRefused):  # an invalid file is replaced
            if added_place(silo_path, name).url == url and not (user or password or forget):
                return
        _store(silo_path, name, url, user, password)


def remove_place(silo_path: str, name: str) -> None:
    """Delete a place and its credentials.

    Raises:
        FedoraPlaceNotFound: There is none.
    """
    with _locked(silo_path):
        _check_is_added(silo_path, name)
        _forget(silo_path, name)
        _files(silo_path).remove(name)


def _check_is_added(silo_path: str, name: str) -> None:
    if name not in added_names(silo_path):
        raise FedoraPlaceNotFound(f"there is no export place {name!r} that can be changed here")


def _store(silo_path: str, name: str, url: str, user: str, password: str) -> None:
    """Write the address first: a password never exists before its address."""
    if (user or password) and not _is_login(user, password):
        raise JobRefused(
            "a user has no colon, and neither user nor password is empty or has control characters",
            "user",
        )
    _forget(silo_path, name)
    _files(silo_path).store(name, {"url": url})
    if user:
        _write_secret(_secret(silo_path, name, url), f"{user}:{password}\n")


def _is_login(user: str, password: str) -> bool:
    texts = (user, password)
    return all(text.isprintable() and 0 < len(text) <= _LONGEST for text in texts) and (
        ":" not in user
    )


def _write_secret(path: str, text: str) -> None:
    directory = os.path.dirname(path)
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    flush_directory(os.path.dirname(directory))
    replace_file(path, text.encode(), 0o600)


def _forget(silo_path: str, name: str) -> None:
    directory = os.path.join(silo_path, SECRETS)
    if not os.path.isdir(directory):
        return
    for file in os.listdir(directory):
        if file.startswith(f"{name}."):
            os.unlink(os.path.join(directory, file))
    flush_directory(directory)


def _files(silo_path: str) -> TomlFiles:
    return TomlFiles(os.path.join(silo_path, *ADDED.split("/")), _NAME, silo_path)


def _secret(silo_path: str, name: str, url: str) -> str:
    digest = sha256(url.encode()).hexdigest()[:32]
    return os.path.join(silo_path, SECRETS, f"{name}.{digest}.login")


def _locked(silo_path: str) -> contextlib.AbstractContextManager[None]:
    return Locks.of_silo(silo_path).hold_name("places")


# -- the test of a connection ----------------------------------------------------------------


class PlaceTest(StrEnum):
    """What a test found at the address of a place."""

    REACHED = "reached"
    NO_CONTAINER = "no container"
    REFUSED = "refused"
    NEEDED = "needed"
    NO_FEDORA = "no fedora"
    NO_ANSWER = "no answer"
    NO_CREDENTIALS = "no credentials"


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of a test.

    Attributes:
        detail: The server's software if it was reached, or why it was not; may be empty. It never
            repeats the body of an answer.
    """

    found: PlaceTest
    detail: str = ""


def probe(
    place: FedoraPlace, environment: Mapping[str, str], seconds: float = TEST_SECONDS
) -> Tested:
    """Ask the Fedora of a place whether records could be exported; nothing is written there.

    Args:
        place: Its credentials are sent to its server only.
        seconds: Waits no longer, whatever the server or the name service does.
    """
    try:
        auth = place.auth(environment)
    except CredentialsRefused as error:
        return Tested(PlaceTest.NO_CREDENTIALS, str(error))
    results: list[Tested] = []
    thread = threading.Thread(
        target=lambda: results.append(_asked(place.url, auth)), name="place-test", daemon=True
    )
    thread.start()
    thread.join(seconds)
    return results[0] if results else Tested(PlaceTest.NO_ANSWER)


def _asked(url: str, auth: "Auth | None") -> Tested:
    from siloexport.targets.fedora.client import FedoraClient  # noqa: PLC0415 - slow
    from siloexport.targets.fedora.place import check_container, find_root  # noqa: PLC0415
    from siloexport.targets.remote import errors  # noqa: PLC0415

    root = ""
    try:
        with FedoraClient(url, auth, _TEST) as client:
            root = find_root(client, url)
            server = client.send("HEAD", f"{root}/").headers.get("Server", "")
            check_container(client, root, url)
    except errors.Denied:
        return Tested(PlaceTest.NEEDED if auth is None else PlaceTest.REFUSED)
    except errors.NotOfThisKind:
        return Tested(PlaceTest.NO_FEDORA)
    except errors.Busy as error:
        return Tested(PlaceTest.NO_ANSWER, error.reason if error.status == 0 else str(error.status))
    except errors.RemoteError:
        return Tested(PlaceTest.NO_CONTAINER if root else PlaceTest.NO_FEDORA)
    return Tested(PlaceTest.REACHED, server[:100])
