"""The first step of a package: identifiers, its WARC files in the store, and its documentation.

The order is: ARKs, then what is noted of the package, then one WARC file after another, each noted
when it is in the store. So a package that was begun and killed goes on with the same ARKs.
"""

import hashlib
import os
import zipfile
from collections.abc import Iterable
from dataclasses import replace

from recordsilo.disk.atomic_file import make_parents, replace_file
from recordsilo.disk.regular_file import open_regular
from recordsilo.disk.whole_file import whole_file
from silocrawl.packages.arks import Arks
from silocrawl.packages.heritrix_checkpoints import load_heritrix
from silocrawl.packages.kept import has_package, keep_package, load_package
from silocrawl.packages.layout import (
    ARKS,
    CONFIGURATION,
    CRAWL_LOGS,
    DOCUMENTATION,
    LOGS,
    OTHER_LOGS,
    payload_file,
    warc_name,
)
from silocrawl.packages.own_checkpoints import load_own
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.side_by_side import side_by_side
from silocrawl.packages.values import (
    Checkpoint,
    LogRange,
    Package,
    PackagingError,
    Told,
    WarcOfPackage,
)
from silocrawl.packages.viruses import check_for_viruses
from silocrawl.packages.work import PackageWork
from silocrawl.places import note_places

_PIECE = 1 << 20
_WHEN = (1980, 1, 1, 0, 0, 0)
"""The time of all files in an archive, so that the same files make the same archive."""


def load_checkpoint(silo_path: str, name: str, directory: str = "") -> Checkpoint:
    """Read a checkpoint of our own crawls, or of the job of Heritrix in a directory.

    Raises:
        PackagingError: It is damaged, or a WARC file is absent or still open.
    """
    return load_heritrix(directory, name) if directory else load_own(silo_path, name)


def begin(silo_path: str, checkpoint: Checkpoint, settings: StoreSettings, store: str) -> Package:
    """Note a package and its ARKs; one that was begun is returned as it is.

    Args:
        store: Address of its store.

    Raises:
        PackagingError: What is noted is damaged.
        OSError: The disk refused.
    """
    package_id = checkpoint.package_id
    if has_package(silo_path, package_id):
        return load_package(silo_path, package_id)
    with Arks(silo_path, settings.naan, settings.shoulder) as minter:
        arks = minter.mint(package_id, ["", *sorted(checkpoint.warcs)])
    warcs = tuple(
        WarcOfPackage(
            name, checkpoint.warcs[name], ark=arks[name],
            is_viral=name in checkpoint.viral, signature=checkpoint.viral.get(name, ""),
        )
        for name in sorted(checkpoint.warcs)
    )  # fmt: skip
    directory = checkpoint.directory if checkpoint.directory != silo_path else ""
    return keep_package(silo_path, Package(
        package_id, arks[""], checkpoint.stream, checkpoint.name, checkpoint.crawl_id,
        checkpoint.software, checkpoint.started, checkpoint.ended, directory, store, warcs,
        checkpoint.elsewhere,
    ))  # fmt: skip


def build(work: PackageWork, settings: StoreSettings) -> Package:
    """Bring the WARC files into the store, and the documentation into the bag.

    Raises:
        PackagingError: A WARC file is absent, still open, or differs from what is in the store.
        OSError: The disk refused.
    """
    package, silo = work.package, work.silo_path
    checkpoint = load_checkpoint(silo, package.checkpoint, package.directory)
    if set(checkpoint.warcs) != {one.name for one in package.warcs}:
        raise PackagingError(f"{package.id} was begun with other WARC files than its logs name now")
    _document(work, checkpoint)
    if settings.virus_check and package.scan is None and package.warcs:
        package = keep_package(silo, _checked(package))

    def stored(one: WarcOfPackage, told: Told) -> WarcOfPackage:
        if one.is_viral:  # a try without a virus check may have brought it elsewhere
            work.store.remove(warc_name(package.id, one.name))
        name = warc_name(package.id, one.name, is_viral=one.is_viral)
        try:
            there = work.store.put_file(checkpoint.warcs[one.name], name, told)
        except OSError as error:
            raise PackagingError(f"{one.name} cannot be read: {error.strerror}") from None
        return replace(one, size=there.size, sha512=there.sha512)

    lacking = [one for one in package.warcs if not one.sha512]
    for found in side_by_side(stored, lacking, work.store.threads, work.told):
        warcs = tuple(found if one.name == found.name else one for one in package.warcs)
        package = keep_package(silo, replace(package, warcs=warcs))
    return package


def _checked(package: Package) -> Package:
    scan, found = check_for_viruses({one.name: one.path for one in package.warcs})
    warcs = tuple(
        replace(one, is_viral=True, signature=one.signature or found[one.name])
        if one.name in found
        else one
        for one in package.warcs
    )
    return replace(package, scan=scan, warcs=warcs)


# --------------------------------------------------------------------------- documentation


def _document(work: PackageWork, checkpoint: Checkpoint) -> None:
    """Write logs, configuration and the list of ARKs into the bag."""
    package = work.package
    logs = [
        replace(one, name=f"{CRAWL_LOGS if one.is_crawl else OTHER_LOGS}{one.name}")
        for one in checkpoint.logs
    ]
    configuration = [LogRange(name, path) for name, path in checkpoint.configuration.items()]
    for name, files in ((LOGS, logs), (CONFIGURATION, configuration)):
        zip_files(
            payload_file(work.silo_path, package.id, f"{DOCUMENTATION}/{name}"),
            files,
            work.silo_path,
        )
    named = [(package.ark, package.id), *((one.ark, one.name) for one in package.warcs)]
    path = payload_file(work.silo_path, package.id, f"{DOCUMENTATION}/{ARKS}")
    replace_file(path, "".join(f"{ark}\t{name}\n" for ark, name in named).encode())


def zip_files(path: str, files: Iterable[LogRange], below: str = "") -> None:
    """Write parts of files into an archive, completely or not at all.

    The same content makes the same archive, whenever it is written.

    Args:
        below: The Silo that the archive is in; see `make_parents`.

    Raises:
        PackagingError: One of them cannot be read, or is shorter than it was.
    """
    make_parents(path, below)
    with whole_file(path, follow=False) as target, zipfile.ZipFile(target, "w") as archive:
        for one in sorted(files, key=lambda one: one.name):
            info = zipfile.ZipInfo(one.name, _WHEN)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            with archive.open(info, "w", force_zip64=True) as part:
                for piece in _pieces(one):
                    part.write(piece)


def _pieces(one: LogRange) -> Iterable[bytes]:
    try:
        with open_regular(one.path) as file:
            end = one.end if one.end >= 0 else os.fstat(file.fileno()).st_size
            file.seek(one.begin)
            while (left := end - file.tell()) > 0:
                piece = file.read(min(left, _PIECE))
                if not piece:
                    raise PackagingError(f"{one.path} is shorter than it was")
                yield piece
    except OSError as error:
        raise PackagingError(f"{one.path} cannot be read: {error.strerror}") from None


# --------------------------------------------------------------------------- afterwards


def delete_local(work: PackageWork) -> None:
    """Delete the WARC files here, of a package that was verified; their places are noted first.

    Raises:
        PackagingError: One differs from what was packaged, or is not in the store as it was when it
            was verified; it stays, and so do the others.
        OSError: The disk refused.
    """
    package, store = work.package, work.store
    there = [one for one in package.warcs if os.path.lexists(one.path)]
    for one in there:
        if _digest(one.path) != one.sha512:
            raise PackagingError(
                f"{one.path} differs from what was packaged of it, and is not deleted"
            )
        name = warc_name(package.id, one.name, is_viral=one.is_viral)
        if store.stored(name, work.told) != (one.size, one.sha512):
            raise PackagingError(
                f"{store.place(name)} is not what was verified any more; {one.path} is not deleted"
            )
    note_places(
        work.silo_path,
        {one.name: [store.place(warc_name(package.id, one.name))] for one in there
         if not one.is_viral},
    )  # fmt: skip
    for one in there:
        os.unlink(one.path)


def _digest(path: str) -> str:
    digest = hashlib.sha512()
    for piece in _pieces(LogRange(path, path)):
        digest.update(piece)
    return digest.hexdigest()
