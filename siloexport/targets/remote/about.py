"""``silo.json``: what a deposit is, so that it is known without a ledger (pure)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from recordsilo.disk.digest import Digest
from siloexport.errors import DepositFailed
from siloexport.values import Deposit, ExportedFile, ExportedVersion

ABOUT = "silo.json"


def deposited_files(deposit: Deposit) -> Iterator[tuple[str, ExportedVersion, ExportedFile]]:
    """Yield (name, version, file); of several versions, each has a directory.

    Raises:
        DepositFailed: A file has the name of ``silo.json``.
    """
    for version in deposit.versions:
        below = f"{version.name}/" if len(deposit.versions) > 1 else ""
        for file in version.files:
            if below + file.path == ABOUT:
                why = f"its file {ABOUT} has the name of one that every deposit has"
                raise DepositFailed(deposit.identifier, why)
            yield below + file.path, version, file


def expected_files(deposit: Deposit) -> dict[str, Digest]:
    """Return name → digest of the files of a deposit."""
    return {name: Digest(one.sha256, one.size) for name, _, one in deposited_files(deposit)}


def first_part(name: str) -> str:
    """Return what may be the version of a file: the first part of its name."""
    return name.partition("/")[0]


def about_of(deposit: Deposit, files: Mapping[str, list[Any]], **more: Any) -> bytes:
    """Return the content of ``silo.json``.

    Args:
        files: Name → size and digests.
        more: What else is needed to find out whether the deposit was changed.
    """
    about = {
        "identifier": deposit.identifier,
        "source": deposit.source,
        "key": deposit.key,
        "version": deposit.version.name,
        "files": dict(files),
        **more,
    }
    return f"{json.dumps(about, ensure_ascii=True, indent=1)}\n".encode()
