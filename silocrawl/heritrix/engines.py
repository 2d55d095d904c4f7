"""Which Heritrix there are, and what is expected of them: ``crawling/heritrix.toml``."""

import os
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from requests.utils import get_netrc_auth

from recordsilo.disk.regular_file import open_regular
from recordsilo.disk.toml_files import settings_toml
from recordsilo.disk.toml_tables import SettingWrong, checked
from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.errors import HeritrixError
from silocrawl.paths import heritrix_file
from silowork.due.timetable import duration_of
from silowork.errors import JobRefused

PASSWORD = "HERITRIX_PASSWORD"  # noqa: S105  # the name of a variable
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,31}")
_KINDS = {
    "url": str, "user": str, "certificate": str, "jobs": tuple, "docs-per-second": float,
    "checkpoint": str,
}  # fmt: skip


class EnginesInvalid(HeritrixError):
    """The file cannot be read; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """A Heritrix, and what is expected of it.

    Attributes:
        name: For people.
        url: Such as ``https://127.0.0.1:8443``.
        user: The login.
        certificate: Path of the file with its certificate; empty: see `Heritrix`.
        jobs: Those that are to be at work all the time.
        least_rate: Addresses a second below which a job that is at work is slow.
        checkpoint: The longest time between two checkpoints; None if it does not matter.
    """

    name: str
    url: str
    user: str = "admin"
    certificate: str = ""
    jobs: tuple[str, ...] = ()
    least_rate: float = 0.0
    checkpoint: timedelta | None = None


def load_engines(silo_path: str) -> list[EngineSettings]:
    """Read which Heritrix there are; none without a file.

    Raises:
        EnginesInvalid: Says what is wrong.
    """
    path = heritrix_file(silo_path)
    table = settings_toml(path, EnginesInvalid)
    return [_engine(path, name, one) for name, one in table.items()]


def _engine(path: str, name: str, table: Any) -> EngineSettings:
    if not _NAME.fullmatch(name) or not isinstance(table, dict):
        raise EnginesInvalid(
            f"{path}: {name!r} is not a table such as [main], with the name of a Heritrix"
        )
    try:
        given = checked(table, _KINDS)
        every = duration_of(given["checkpoint"]) if "checkpoint" in given else None
    except (SettingWrong, JobRefused) as error:
        raise EnginesInvalid(f"{path}: [{name}] {error}") from None
    if "url" not in given:
        raise EnginesInvalid(f'{path}: [{name}] has no url = "https://127.0.0.1:8443"')
    certificate = given.get("certificate", "")
    return EngineSettings(
        name, given["url"], given.get("user", "admin"),
        certificate and os.path.join(os.path.dirname(path), certificate),
        given.get("jobs", ()), given.get("docs-per-second", 0.0), every,
    )  # fmt: skip


def password_of(url: str, user: str) -> str:
    """Return the password: of the environment (`PASSWORD`), else of ``~/.netrc``, else ""."""
    if password := os.environ.get(PASSWORD):
        return password
    found = get_netrc_auth(url)
    return found[1] if found and found[0] in {user, ""} else ""


def connected(engine: EngineSettings, timeout: float) -> Heritrix:
    """Return a client of a Heritrix, which is not asked yet.

    Raises:
        HeritrixError: Its address or certificate is none.
    """
    certificate = ""
    if engine.certificate:
        try:
            with open_regular(engine.certificate) as file:
                certificate = file.read(1 << 20).decode("ascii", "replace")
        except OSError as error:
            said = f"the certificate {engine.certificate} cannot be read: {error.strerror}"
            raise EnginesInvalid(said) from None
    password = password_of(engine.url, engine.user)
    return Heritrix(engine.url, engine.user, password, certificate=certificate, timeout=timeout)
