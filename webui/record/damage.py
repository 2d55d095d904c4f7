"""The damage of the shown files of a record, and how it is known.

Names, sizes and, of what was read anyway, digests are compared with the manifest; `silo check`
reads every byte.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from recordsilo import HarvestedRecord
from webui.words.texts import numeral
from webui.words.texts import text as _


class ShownFile(Protocol):
    """What a page knows of a file: ``size`` on the disk in bytes, ``fault`` if it is unreadable."""

    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int | None: ...
    @property
    def fault(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged file, and how that is known, as a sentence."""

    path: str
    known: str


def damages(
    record: HarvestedRecord,
    version: str,
    files: Iterable[ShownFile],
    contents: Mapping[str, bytes],
) -> Iterator[Damage]:
    """Yield the files of a version that are not as the manifest has them, in stored order.

    Args:
        contents: The bytes of the files that were read; their digests are compared, too.

    Cost: hashes `contents`; reads nothing.
    """
    recorded = record.state.version(version).digests or {}
    for file in files:
        digest = recorded.get(file.path)
        if file.fault:
            yield Damage(file.path, _("Cannot be read: {reason}.", reason=file.fault))
        elif digest and file.size != digest.size:
            said = _(
                "Bytes on the disk: {n}; stored: {all}.",
                n=numeral(file.size or 0),
                all=numeral(digest.size),
            )
            yield Damage(file.path, said)
        elif digest and _differs(contents.get(file.path), digest.sha256):
            yield Damage(file.path, _("Its SHA-256 is not the one of what was stored."))


def _differs(content: bytes | None, sha256: str) -> bool:
    return content is not None and hashlib.sha256(content).hexdigest() != sha256
