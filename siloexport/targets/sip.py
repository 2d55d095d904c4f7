"""Submission information packages by the E-ARK specifications, one for each record.

oai+eprints.example.org+6102/
  METS.xml  schemas/  documentation/README.txt
  metadata/descriptive/oai_dc.xml         of the last version
  metadata/preservation/premis.xml        how each version was made
  representations/1/                      version 1
    METS.xml  metadata/preservation/premis.xml  data/oai_dc …

They are directories; or tar files (``.tar.gz``), or bags, or both. The same deposit on the same
day gives the same bytes.

Source: E-ARK CSIP and SIP 2.2.0; PREMIS 3.0; BagIt 1.0 (RFC 8493).
"""

import hashlib
import json
import os
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from typing import IO, BinaryIO, cast

from infopackages import csip
from infopackages.containers import BROKEN_TAR
from infopackages.files import Add, adding_below
from infopackages.mets import MetsHeader, header_of
from infopackages.tar import tar_writer
from recordsilo.disk.atomic_file import Barrier, digest_of
from recordsilo.disk.digest import Digest
from recordsilo.disk.regular_file import regular_fd
from recordsilo.distribution import release
from siloexport.errors import TargetUnusable
from siloexport.plan import digest_of as digest_of_json
from siloexport.targets import sip_history as history
from siloexport.targets.directory import DAY, DirectoryTarget
from siloexport.targets.sip_writing import DEFAULT, SipSettings, below_bag, package_name, write_sip
from siloexport.targets.trees import TreeForm
from siloexport.values import Deposit

_VARIANT = "sip 1"


class SipTarget(DirectoryTarget):
    """A directory that records are exported to as information packages.

    Args:
        directory: A new or empty directory, or one from an earlier export of packages.
        settings: What is not given is as in the directory. If the submitter changes, all packages
            are made again; bags and tar files need a directory of their own.
        today: Returns the current day in UTC.
    """

    def __init__(
        self,
        directory: str,
        settings: SipSettings = DEFAULT,
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        super().__init__(directory, _Sips(settings, today))
        self._given, self._today = settings, today

    def _name(self, identifier: str) -> str:
        return package_name(identifier) + self._form.suffix

    def _take_marker(self, marker: bytes) -> None:
        if not marker:
            return
        kept = self._settings_in(marker, lambda text: SipSettings(**json.loads(text))) or DEFAULT
        given = self._given
        if (given.bag or given.tar) and (given.bag, given.tar) != (kept.bag, kept.tar):
            raise TargetUnusable(
                f"{self.shown} holds packages as {_packing(kept)}; name another directory for"
                f" {_packing(given)}"
            )
        submitter = given.submitter or kept.submitter
        self._form = _Sips(replace(kept, submitter=submitter), self._today)


def _packing(settings: SipSettings) -> str:
    kind = "tar files" if settings.tar else "directories"
    return f"bags in {kind}" if settings.bag else kind


class _Sips(TreeForm):
    """See `siloexport.targets.trees.TreeForm`; tar files have the same tree."""

    name = "sips"

    def __init__(self, given: SipSettings, today: Callable[[], date]) -> None:
        self.given, self.today = given, today
        self.settings = json.dumps(asdict(given))
        self.suffix = ".tar.gz" if given.tar else ""
        self.variant = f"{_VARIANT} {digest_of_json(self.settings)[:16]}"

    def files(self, add: Add, deposit: Deposit, day: str) -> None:
        write_sip(add, deposit, self.given, day)

    def day(self, path: str, deposit: Deposit) -> str:
        """See `RecordForm`: the day of packaging, kept if the same package was made before.

        After it comes the release that made the package, which METS names, too.
        """
        kept = deposit.noted.get(DAY)
        if not kept:
            header = self._header(path)
            kept = _day_of(header) if header.document == deposit.key else ""
        return kept or f"{self.today()} {release()}"

    def day_in(self, path: str, deposit: Deposit) -> str:  # noqa: ARG002 - METS says it
        """See `TreeForm`."""
        return _day_of(self._header(path)) or f"{self.today()}"

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:
        if not self.given.tar:
            return super().write(path, deposit, day, barrier)
        with open(path, "xb") as file:
            with tar_writer(file, _seconds(day), compress=True) as add:
                below = adding_below(add, f"{package_name(deposit.identifier)}/")
                write_sip(below, deposit, self.given, day)
            file.flush()
            barrier.file_written(file.fileno())
        return self.digest(path)

    def digest(self, path: str) -> str:
        if not self.given.tar:
            return super().digest(path)
        try:
            with open(path, "rb", opener=regular_fd) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (FileNotFoundError, IsADirectoryError):
            return ""

    def version_of(self, name: str, deposit: Deposit) -> str:
        places = {history.representation_of(one): one.name for one in deposit.versions}
        _, _, below = name.rpartition("representations/")
        return places.get(below.partition("/")[0], "") if below != name else ""

    def files_in(self, path: str) -> Mapping[str, Digest]:
        return dict(self._members(path)) if self.given.tar else super().files_in(path)

    def _members(self, path: str) -> Iterator[tuple[str, Digest]]:
        top = os.path.basename(path).removesuffix(self.suffix)
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is None or member.issparse() or not member.name.startswith(f"{top}/"):
                    raise ValueError(f"{member.name} is not a file of {top}")
                yield member.name.removeprefix(f"{top}/"), digest_of(cast(BinaryIO, file))

    def _header(self, path: str) -> MetsHeader:
        """Return the header of an existing package; it is empty if that cannot be read."""
        top = os.path.basename(path).removesuffix(self.suffix)
        mets = below_bag(self.given, top) + csip.METS
        try:
            if not self.given.tar:
                with open(os.path.join(path, mets), "rb", opener=regular_fd) as file:
                    return header_of(file)
            with tarfile.open(path, "r:gz") as tar:
                member = next(one for one in tar if one.name == f"{top}/{mets}" and one.isfile())
                return header_of(cast(IO[bytes], tar.extractfile(member)))
        except (*BROKEN_TAR, OSError, StopIteration):
            return MetsHeader()


def _day_of(header: MetsHeader) -> str:
    try:
        return f"{date.fromisoformat(header.created[:10])} {header.software}"
    except ValueError:
        return ""


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day[:10]).replace(tzinfo=UTC).timestamp())
