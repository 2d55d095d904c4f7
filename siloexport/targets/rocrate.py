"""RO-Crates: a directory for each record, which describes itself and its files in JSON-LD.

crates/oai+eprints,example,org+6102/
  ro-crate-metadata.json                the record, its people, licences, files and history
  data/oai_dc  data/oai_dc.xml          as in the Silo
  data/docs/licence.txt

If several versions are exported, each has its own directory (``data/1/oai_dc``). The same
deposit on the same day gives the same bytes.

Source: RO-Crate Metadata Specification 1.2.
"""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from io import BytesIO
from typing import Any

from infopackages.files import Add
from recordsilo.disk.regular_file import regular_fd
from recordsilo.distribution import release
from siloexport.bibliography import bibliography_of
from siloexport.plan import Versions
from siloexport.targets.directory import DAY, DirectoryTarget
from siloexport.targets.rocrate_files import PACKAGED, Placed, placed_files
from siloexport.targets.rocrate_metadata import METADATA, crate
from siloexport.targets.trees import TreeForm, add_file
from siloexport.values import Deposit

_VARIANT = "rocrate 1"
_MAX = 64 << 20


class CrateTarget(DirectoryTarget):
    """A directory that records are exported to as RO-Crates.

    Args:
        directory: A new or empty directory, or one from an earlier export of crates.
        versions: Which versions are exported; if more than the current one, each has its own
            directory in the crate.
        today: Returns the current day in UTC.
    """

    writes_identifiers = True

    def __init__(
        self,
        directory: str,
        versions: Versions = Versions.CURRENT,
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        by_version = versions is not Versions.CURRENT
        super().__init__(directory, _Crates(by_version=by_version, today=today))


class _Crates(TreeForm):
    """See `siloexport.targets.trees.TreeForm`."""

    name = "crates"

    def __init__(self, *, by_version: bool, today: Callable[[], date]) -> None:
        self._by_version, self._today = by_version, today

    @property
    def variant(self) -> str:
        return f"{_VARIANT} by version" if self._by_version else _VARIANT

    def day(self, path: str, deposit: Deposit) -> str:
        """See `RecordForm`: kept if the same crate was made before.

        After it comes the release that made the crate, which the crate names, too.
        """
        kept = deposit.noted.get(DAY) or _day_in(path, deposit.key)
        return kept or f"{self._today()} {release()}"

    def files(self, add: Add, deposit: Deposit, day: str) -> None:
        for one in self._placed(deposit):
            add_file(add, deposit, one.version, one.file, one.path)
        said = bibliography_of(deposit.version, deposit.identifier)
        described = crate(deposit, said, day, by_version=self._by_version)
        text = (json.dumps(described, ensure_ascii=False, indent=1) + "\n").encode(errors="replace")
        add(METADATA, len(text), BytesIO(text))

    def version_of(self, name: str, deposit: Deposit) -> str:
        return next((one.version.name for one in self._placed(deposit) if one.path == name), "")

    def _placed(self, deposit: Deposit) -> tuple[Placed, ...]:
        return placed_files(deposit, by_version=self._by_version)


def _day_in(path: str, key: str) -> str:
    """Return the day and the release that an existing crate names; ``""`` for another crate."""
    try:
        with open(f"{path}/{METADATA}", "rb", opener=regular_fd) as file:
            found: Any = json.loads(file.read(_MAX))
        made = next(one for one in found["@graph"] if one["@id"] == PACKAGED)
        software = next(one for one in found["@graph"] if one["@id"] == made["instrument"]["@id"])
        if made["identifier"] != key:
            return ""
        return f"{date.fromisoformat(made['endTime'])} {software['version']}"
    except (OSError, ValueError, KeyError, TypeError, StopIteration, RecursionError):
        return ""
