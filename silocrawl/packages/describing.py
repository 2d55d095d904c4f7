"""Describes a package: METS, PREMIS and the tag files of its bag, beside what is in it already.

In the working directory of the package, below ``bag/``:

    bagit.txt  bag-info.txt  bag-profile.json  manifest-sha512.txt  tagmanifest-sha512.txt
    data/ID/METS.xml  schemas/  metadata/descriptive/dc.xml  metadata/preservation/premis.xml
    data/ID/documentation/                                  by `building`; hashed here
    data/ID/representations/crawl/METS.xml  metadata/preservation/premis.xml

The WARC files are in the store only: their names, sizes and digests are those that are noted.

Source: E-ARK SIP 2.2.0; RFC 8493; BagIt Profiles Specification 1.3.0.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib.resources import files as resources
from typing import IO

from infopackages.bagit import DECLARATION, INFO, PROFILE, BagWriter, info_text, size_fields
from infopackages.csip import DESCRIPTIVE, PREMIS, Representation, add_descriptions
from infopackages.csip import InformationPackage as Described
from infopackages.dublin_core import write_dublin_core
from infopackages.files import PackagedFile, add_written, adding_below, chunks_of
from infopackages.mets import MetadataFile, MetsAgent
from infopackages.premis import write_premis
from recordsilo.disk.atomic_file import Barrier, group_barrier, make_directories, move, write_new
from recordsilo.distribution import release
from silocrawl.moments import in_iso
from silocrawl.packages import preservation
from silocrawl.packages.layout import BAG, DOCUMENTATION, payload_path, warc_path
from silocrawl.packages.preservation import REPRESENTATION
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.values import Package, PackageState, PackagingError
from silocrawl.packages.work import PackageWork

PROFILE_ID = "urn:uuid:5f0c2a6e-6c8b-4d0e-9f57-2f4f0f8d3c1a"
"""Names the profile in ``bag-profile.json``; if that changes, there is a new one."""
PROFILE_FILE = "bag-profile.json"
_BELOW = f"representations/{REPRESENTATION}/"
_MEDIA_TYPES = {".zip": "application/zip", ".txt": "text/plain", ".gz": "application/gzip"}
"""CSIP allows only those that IANA lists, and WARC is not among them."""


def describe(work: PackageWork, settings: StoreSettings) -> Package:
    """Write what describes a package into its bag, and the manifests of the bag.

    Done again, it writes the same: the time in it is that at which the package was packaged.

    Returns:
        The package as it is.

    Raises:
        PackagingError: A WARC file is not in the store yet, the documentation is missing, or the
            disk refuses.
    """
    package = work.package
    if waiting := [one.name for one in package.warcs if not one.sha512]:
        raise PackagingError(f"{waiting[0]} of {package.id} is not in the store yet")
    try:
        barrier = group_barrier(work.directory)
        _Describing(work, settings, barrier).write()
        barrier.flush()
    except OSError as error:
        raise PackagingError(f"{package.id} cannot be described: {error}") from error
    return package


class _Describing:
    """Writes the files of one package."""

    def __init__(self, work: PackageWork, settings: StoreSettings, barrier: Barrier) -> None:
        self._directory, self._package = work.directory, work.package
        self._settings, self._barrier = settings, barrier
        self._payload = f"{payload_path(self._package.id)}/"
        self._add_payload = adding_below(self._add, self._payload)
        self._at = dict(self._package.history).get(PackageState.PACKAGED, self._package.ended)
        self._software = f"silo {release()}"
        self._organization = settings.bag_info.get("Source-Organization", "")

    def write(self) -> None:
        with BagWriter(self._add) as bag:
            for one in (*self._warcs(), *self._documentation(), *self._descriptions()):
                bag.known(one.moved("", self._payload))
            bag.tag("bagit.txt", DECLARATION)
            bag.tag(INFO, info_text(self._info(bag)))
            bag.tag(PROFILE_FILE, profile())
            bag.finish()

    def _add(self, path: str, size: int, source: IO[bytes]) -> None:  # noqa: ARG002 - see `Add`
        place = os.path.join(self._directory, BAG, path)
        staged = os.path.join(self._directory, "described.staged")
        with suppress(FileNotFoundError):
            os.unlink(staged)
        write_new(staged, chunks_of(source), self._barrier)
        make_directories(os.path.dirname(place), self._directory, self._barrier)
        move(staged, place, self._barrier)

    # -- what is in it already ----------------------------------------------------------

    def _warcs(self) -> Iterator[PackagedFile]:
        for one in self._package.warcs:
            path = warc_path(one.name, is_viral=one.is_viral)
            yield PackagedFile(path, one.size, one.sha512, _media_type(one.name))

    def _documentation(self) -> Iterator[PackagedFile]:
        below = payload_path(self._package.id, DOCUMENTATION)
        directory = os.path.join(self._directory, BAG, below)
        for name in sorted(os.listdir(directory)):
            with open(os.path.join(directory, name), "rb") as file:
                yield PackagedFile(f"{DOCUMENTATION}/{name}", 0, "", _media_type(name)).hashed(
                    chunks_of(file)
                )

    # -- what describes it --------------------------------------------------------------

    def _descriptions(self) -> Iterator[PackagedFile]:
        package = self._package
        whole, warcs, about = self._premis(), self._premis_of_warcs(), self._dublin_core()
        yield from (whole, warcs, about)
        data = (one.moved(_BELOW, "") for one in self._warcs())
        crawl = Representation(
            REPRESENTATION, "WARC files", data, (MetadataFile.premis(warcs.moved(_BELOW, "")),)
        )
        submitter = self._organization or "Source-Organization is not stated"
        described = Described(
            package.id,
            preservation.title(package),
            "Web Archives",
            in_iso(self._at),
            (MetsAgent.software("silo", release()), MetsAgent(submitter)),
            (MetadataFile(about, "dmdSec", "DC"), MetadataFile.premis(whole)),
            (crawl,),
            tuple(self._documentation()),
        )
        yield from add_descriptions(self._add_payload, described)

    def _premis(self) -> PackagedFile:
        write = partial(
            write_premis,
            objects=preservation.objects(self._package),
            events=preservation.events(self._package, self._at, self._software),
            agents=preservation.agents(self._package, self._software),
            rights=preservation.rights(self._package, self._settings),
        )
        return add_written(self._add_payload, PREMIS, write)

    def _premis_of_warcs(self) -> PackagedFile:
        write = partial(write_premis, objects=preservation.warc_objects(self._package))
        return add_written(self._add_payload, _BELOW + PREMIS, write)

    def _dublin_core(self) -> PackagedFile:
        fields = preservation.description(self._package, self._organization)
        return add_written(
            self._add_payload, f"{DESCRIPTIVE}/dc.xml", partial(write_dublin_core, fields=fields)
        )

    def _info(self, bag: BagWriter) -> Iterator[tuple[str, str]]:
        """Yield the fields of RFC 8493, section 2.2.2, after those of the settings."""
        package = self._package
        yield from self._settings.bag_info.items()
        yield "External-Identifier", package.ark
        yield "Internal-Sender-Identifier", package.id
        yield "Bag-Group-Identifier", package.stream
        yield "Bagging-Date", in_iso(self._at)[:10]
        yield from size_fields(bag.size, bag.count)
        yield "Bag-Software-Agent", self._software
        yield PROFILE, PROFILE_ID


def profile() -> str:
    """Return the BagIt profile that the bags of packages conform to, as JSON."""
    return (resources("silocrawl") / "packages" / PROFILE_FILE).read_text("utf-8")


def _media_type(name: str) -> str:
    return _MEDIA_TYPES.get(os.path.splitext(name)[1], "application/octet-stream")
