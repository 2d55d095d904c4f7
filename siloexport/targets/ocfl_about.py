"""What is in a version of an OCFL object: its files, and ``silo.json`` about it (pure)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from infopackages.ocfl.inventory import OcflError
from infopackages.ocfl.reading import StoredObject
from siloexport.values import Deposit, ExportedVersion, Withdrawal

ABOUT = "silo.json"
DATA = "data/"
"""Where the files of a version are."""
LARGEST = 64 << 20
"""The largest ``silo.json`` that is read."""
_FORMAT = 1
_MAIL = re.compile(r"[^\s@<>]+@[^\s@<>]+")
_PROGRAM = "silo"
_NO_ADDRESS = "about:blank"
_MADE = {"harvest": "harvested", "clone": "copied from version {of}", "local": "made here",
         "import": "imported"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """A version of an object that an export made.

    Attributes:
        number: Of the version of the object, from 1.
        version: Its name in the Silo.
        key: Of the deposit.
        withdrawn: Whether it says that the record was withdrawn.
    """

    number: int
    version: str
    key: str
    withdrawn: bool


def about(deposit: Deposit) -> dict[str, Any]:
    """Return what ``silo.json`` says of a version."""
    version, origin = deposit.version, deposit.version.origin
    return {
        "format": _FORMAT,
        "identifier": deposit.identifier,
        "version": version.name,
        "key": deposit.key,
        "date": version.date,
        "origin": {
            "kind": origin.kind,
            **({"of": origin.of} if origin.of else {}),
            **({"prefixes": dict(origin.prefixes)} if origin.prefixes else {}),
            "agent": origin.agent,
            "message": origin.message,
            "date": origin.date,
        },
        "state": version.state,
        "log": list(version.log),
        "files": [
            {
                "path": file.path,
                "size": file.size,
                "sha256": file.sha256,
                **({"metadata": True} if file.is_metadata else {}),
                **({"document_of": file.document_of} if file.document_of else {}),
            }
            for file in version.files
        ],
        "record": {
            "source": deposit.source,
            "versions": list(deposit.listed),
            "current": deposit.cursor,
            "metadata": dict(deposit.about),
        },
    }


def withdrawn(before: dict[str, Any], withdrawal: Withdrawal) -> dict[str, Any]:
    """Return what ``silo.json`` says of a record that the source deleted."""
    return {**before, "withdrawn": {"date": withdrawal.date}}


def to_bytes(value: dict[str, Any]) -> bytes:
    """Return the content of ``silo.json``, a line for each part and for each item of a list.

    Half of a surrogate pair is an escape. `indent` would cost several times as much.
    """
    try:
        return _lines(value, json.JSONEncoder(ensure_ascii=False, check_circular=False)).encode()
    except UnicodeEncodeError:
        return _lines(value, json.JSONEncoder()).encode()


def _lines(value: dict[str, Any], encoder: json.JSONEncoder) -> str:
    parts = []
    for key, part in value.items():
        text = encoder.encode(part)
        if isinstance(part, list) and len(part) > 1:
            text = "[\n  " + ",\n  ".join(map(encoder.encode, part)) + "\n ]"
        parts.append(f" {encoder.encode(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read_about(there: StoredObject, number: int) -> dict[str, Any]:
    """Return ``silo.json`` of a version of an object; empty if there is none that can be read."""
    digest = there.inventory.versions[number - 1].state.get(ABOUT)
    if digest is None:
        return {}
    try:
        value = json.loads(there.read(digest, LARGEST))
    except (OcflError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def entries(there: StoredObject) -> Iterator[VersionEntry]:
    """Yield the versions of an object that exports made, the oldest first."""
    for number in range(1, len(there.inventory.versions) + 1):
        value = read_about(there, number)
        version, key = value.get("version"), value.get("key")
        if isinstance(version, str) and isinstance(key, str):
            yield VersionEntry(number, version, key, "withdrawn" in value)


def message_of(version: ExportedVersion) -> str:
    """Return why a version was made, with its name in the Silo."""
    origin = version.origin
    return _legible(f"version {version.name}: {origin.message or _made(version)}")


def _made(version: ExportedVersion) -> str:
    return _MADE[version.origin.kind].format(of=version.origin.of)


def user_of(version: ExportedVersion, source: str) -> tuple[str, str]:
    """Return who made a version: name, and URI: of their mail, or of the repository."""
    agent = version.origin.agent
    mail = _MAIL.search(agent)
    address = f"mailto:{mail[0]}" if mail else source or _NO_ADDRESS
    return _legible(agent or _PROGRAM), _legible(address)


def created_of(version: ExportedVersion, now: datetime, *, is_first: bool) -> str:
    """Return when a version was made: here, or else at the source.

    Args:
        now: When it is exported.
        is_first: Whether the object does not have it yet; if it has, it was changed since.
    """
    made = version.origin.date or version.datestamp
    try:
        moment = datetime.fromisoformat(made) if is_first else now
    except ValueError:
        moment = now
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return f"{moment.replace(tzinfo=None).isoformat()}Z"


def _legible(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
