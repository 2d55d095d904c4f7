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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from typing import IO, BinaryIO, cast

from infopackages import csip
from infopackages.containers import BROKEN_TAR
from infopackages.files import Add, adding_below, chunks_of
from infopackages.mets import MetsHeader, header_of
from infopackages.tar import tar_writer
from recordsilo.disk.atomic_file import Barrier, digest_of, make_directories, write_new
from recordsilo.disk.digest import Digest
from recordsilo.disk.regular_file import regular_fd
from recordsilo.distribution import release
from siloexport.errors import TargetUnusable
from siloexport.plan import digest_of as digest_of_json
from siloexport.targets import sip_history as history
from siloexport.targets.directory import (
    DAY,
    SETTINGS,
    DirectoryTarget,
    marked,
    read_tree,
    tree_differences,
    tree_digest,
)
from siloexport.targets.sip_writing import DEFAULT, SipSettings, below_bag, package_name, write_sip
from siloexport.values import Deposit, Difference

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
        self._given = settings

    def _name(self, identifier: str) -> str:
        return package_name(identifier) + self._form.suffix

    def _take_marker(self, marker: bytes) -> None:
        text = marked(marker, SETTINGS)
        if not marker or not isinstance(self._form, _Sips):
            return
        try:
            kept = SipSettings(**(json.loads(text) if text else {}))
        except (ValueError, TypeError):
            why = f"the settings in {self.shown} cannot be read"
            raise TargetUnusable(f"{why}; name another directory") from None
        given = self._given
        if (given.bag or given.tar) and (given.bag, given.tar) != (kept.bag, kept.tar):
            raise TargetUnusable(
                f"{self.shown} holds packages as {_packing(kept)}; name another directory for"
                f" {_packing(given)}"
            )
        submitter = given.submitter or kept.submitter
        self._form = replace(self._form, given=replace(kept, submitter=submitter))


def _packing(settings: SipSettings) -> str:
    kind = "tar files" if settings.tar else "directories"
    return f"bags in {kind}" if settings.bag else kind


@dataclass(frozen=True, slots=True)
class _Sips:
    """See `siloexport.targets.directory.RecordForm`."""

    given: SipSettings
    today: Callable[[], date]
    name: str = "sips"

    @property
    def suffix(self) -> str:
        return ".tar.gz" if self.given.tar else ""

    @property
    def variant(self) -> str:
        return f"{_VARIANT} {digest_of_json(self.settings)[:16]}"

    @property
    def settings(self) -> str:
        return json.dumps(asdict(self.given))

    def day(self, path: str, deposit: Deposit) -> str:
        """See `Form`: the day of packaging, kept if the same package was made before.

        After it comes the release that made the package, which METS names, too.
        """
        kept = deposit.noted.get(DAY)
        if not kept:
            header = self._header(path)
            kept = _day_of(header) if header.document == deposit.key else ""
        return kept or f"{self.today()} {release()}"

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:
        if not self.given.tar:
            written: dict[str, Digest] = {}
            os.mkdir(path)
            barrier.directory_changed(path)
            write_sip(_to_directory(path, barrier, written), deposit, self.given, day)
            return tree_digest(written)
        with open(path, "xb") as file:
            with tar_writer(file, _seconds(day), compress=True) as add:
                below = adding_below(add, f"{package_name(deposit.identifier)}/")
                write_sip(below, deposit, self.given, day)
            file.flush()
            barrier.file_written(file.fileno())
        return self.digest(path)

    def digest(self, path: str) -> str:
        if not self.given.tar:
            is_directory = os.path.isdir(path) and not os.path.islink(path)
            return tree_digest(read_tree(path)) if is_directory else ""
        try:
            with open(path, "rb", opener=regular_fd) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (FileNotFoundError, IsADirectoryError):
            return ""

    def expected(self, deposit: Deposit) -> str | None:  # noqa: ARG002 - METS needs digests of all files
        return None

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        """See `Form`: against the package as it would be written on the day that it names."""
        try:
            found = dict(self._files(path))
        except (*BROKEN_TAR, OSError) as error:
            yield deposit.differs("unreadable", path, f"it cannot be read: {error}")
            return
        day = _day_of(self._header(path)) or f"{self.today()}"
        expected: dict[str, Digest] = {}

        def add(name: str, _size: int, source: IO[bytes]) -> None:
            expected[name] = digest_of(cast(BinaryIO, source))

        write_sip(add, deposit, self.given, day)
        places = {history.representation_of(one): one.name for one in deposit.versions}

        def version_of(name: str) -> str:
            _, _, below = name.rpartition("representations/")
            return places.get(below.partition("/")[0], "") if below != name else ""

        yield from tree_differences(path, deposit, expected, found, version_of)

    def _files(self, path: str) -> Iterable[tuple[str, Digest]]:
        if not self.given.tar:
            yield from read_tree(path).items()
            return
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


def _to_directory(directory: str, barrier: Barrier, written: dict[str, Digest]) -> Add:
    def add(name: str, _size: int, source: IO[bytes]) -> None:
        place = f"{directory}/{name}"
        make_directories(os.path.dirname(place), directory, barrier)
        written[name] = write_new(place, chunks_of(source), barrier)

    return add


def _day_of(header: MetsHeader) -> str:
    try:
        return f"{date.fromisoformat(header.created[:10])} {header.software}"
    except ValueError:
        return ""


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day[:10]).replace(tzinfo=UTC).timestamp())
