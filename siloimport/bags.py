"""Bags as records: those of `silo export bag` come back, others become imported versions.

A bag is compared with its manifests whole before anything of it is stored.

Source: RFC 8493; `silo.json` of a bag is described in docs/export-archives.md, "Bags".
"""

import os
from collections.abc import Iterator
from datetime import date
from functools import partial
from typing import Any

from infopackages.bagit_reading import BagFile, SoundBag, read_bag
from infopackages.containers import ENDINGS, open_container
from infopackages.files import PackageUnreadable
from recordsilo.disk.digest import Digest
from recordsilo.disk.identifier import check_identifier
from recordsilo.errors import RecordSiloError
from recordsilo.formats import format_of_file
from recordsilo.formats.generic import OTHER
from recordsilo.records.manifest import Origin, date_text, now_text
from siloimport.errors import ImportProblem
from siloimport.importing import ImportSource
from siloimport.told import ABOUT, LARGEST, dated, origin_of, told_by, typed
from siloimport.writing import Imported, ImportedFile, ImportedVersion, ImportReport, content_of

VERSION = "v1"
"""The version of a record that has no history."""
_TAGS = "bag"
"""The directory of a version for the tag files of a bag."""
_OTHER_ENDINGS = (".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".7z", ".rar")
"""Of packages that are not read, and therefore named."""
_KEY = "Silo-Key"
_ORGANIZATION, _DESCRIPTION = "Source-Organization", "External-Description"


def bags_at(path: str, message: str = "") -> ImportSource:
    """Return the bag at a path, or those in the directory there.

    Args:
        path: Of a bag, in a directory, a tar file (also gzip) or a zip; or of a directory of bags.
        message: Why.

    Raises:
        ImportProblem: There is no bag.
    """
    whole = os.path.realpath(path)
    if os.path.isdir(whole) and not os.path.exists(os.path.join(whole, "bagit.txt")):
        paths = sorted(_bags_in(whole))
        if not any(os.path.isfile(one) or os.path.exists(f"{one}/bagit.txt") for one in paths):
            raise ImportProblem(
                f"{path} is not a bag and has none in it: a directory with bagit.txt, a tar file, "
                "a tar.gz or a zip"
            )
    elif os.path.exists(whole):
        paths = [whole]
    else:
        raise ImportProblem(f"{path} does not exist")

    def records(report: ImportReport) -> Iterator[Imported]:
        for one in paths:
            try:
                yield record_of(one, message)
            except (PackageUnreadable, ImportProblem, RecordSiloError, OSError) as error:
                report.failed[os.path.basename(one)] = str(error)

    return ImportSource(path, records, len(paths), whole)


def _bags_in(directory: str) -> Iterator[str]:
    """Yield what looks like bags: links, and what is hidden, do not."""
    with os.scandir(directory) as entries:
        for one in entries:
            if one.name.startswith("."):
                continue
            is_named_so = one.name.lower().endswith((*ENDINGS, *_OTHER_ENDINGS))
            is_packed = is_named_so and one.is_file(follow_symlinks=False)
            if is_packed or one.is_dir(follow_symlinks=False):
                yield one.path


def record_of(path: str, message: str = "") -> Imported:
    """Return the record of a bag, which is read whole.

    Args:
        path: Of the bag.
        message: See `bags_at`.

    Raises:
        PackageUnreadable: It is no bag, or not as its manifests say.
        ImportProblem, RecordSiloError: No record can be made of it.
    """
    bag = read_bag(open_container(path))
    if bag.values(_KEY) and ABOUT in bag.tags:
        return _own(bag)
    return _foreign(bag, os.path.basename(path), message)


def _own(bag: SoundBag) -> Imported:
    """Return the record of a bag that an export made, as far as its ``silo.json`` has it."""
    identifier = _identifier(bag)
    with bag.open(ABOUT) as file:
        about = told_by(file.read(LARGEST), check_identifier(identifier))
    listed = typed(about, "versions", list)
    left = dict(bag.payload)
    versions = [_restored(bag, one, left) for one in listed]
    if left or not versions:
        raise ImportProblem("its silo.json lists other files than its manifests")
    given = bag.values("Silo-Current-Version")
    names = [one.name for one in versions]
    current = given[0] if given and given[0] in names else names[-1]
    return Imported(identifier, tuple(versions), current)


def _restored(bag: SoundBag, about: dict[str, Any], left: dict[str, BagFile]) -> ImportedVersion:
    """Return a version; its files are taken out of those that are left."""
    name, origin = typed(about, "name", str), origin_of(typed(about, "origin", dict))
    made = typed(about, "made", str, "")
    origin = Origin(origin.kind, origin.of, {}, origin.agent, origin.message, made)
    files = []
    for one in typed(about, "files", list):
        path = typed(one, "path", str)
        place = typed(one, "in_bag", str, f"data/{name}/{path}").removeprefix("data/")
        content = left.pop(place, None)
        if content != BagFile(typed(one, "size", int), typed(one, "sha256", str)):
            raise ImportProblem("its silo.json lists other files than its manifests")
        if not one.get("document_of"):
            is_metadata = one.get("metadata") is True
            files.append(_file(bag, path, f"data/{place}", content, is_metadata=is_metadata))
    date = dated(typed(about, "source_datestamp", str, "") or made or now_text())
    return ImportedVersion(name, date, origin, tuple(files))


def _foreign(bag: SoundBag, name: str, message: str) -> Imported:
    """Return the record of a bag that no export of a Silo made."""
    identifier = _identifier(bag) or bag.name or _stem(name)
    tags = _TAGS
    while any(path == tags or path.startswith(f"{tags}/") for path in bag.payload):
        tags += "_"
    files = [
        _file(bag, path, f"data/{path}", content, is_metadata=is_metadata(path))
        for path, content in bag.payload.items()
    ]
    files += [_file(bag, f"{tags}/{path}", path, content) for path, content in bag.tags.items()]
    who, what = (" ".join(bag.values(one)) for one in (_ORGANIZATION, _DESCRIPTION))
    why = message or what or f"bag {name}"
    origin = Origin("import", agent=who, message=why, date=now_text())
    version = ImportedVersion(VERSION, _day(bag), origin, tuple(files))
    return Imported(check_identifier(identifier), (version,), VERSION)


def _identifier(bag: SoundBag) -> str:
    given = bag.values("External-Identifier")
    return given[0] if len(given) == 1 else ""


def _stem(name: str) -> str:
    return next((name[: -len(one)] for one in ENDINGS if name.lower().endswith(one)), name)


def _day(bag: SoundBag) -> str:
    for day in bag.values("Bagging-Date"):
        try:
            return date_text(date.fromisoformat(day).isoformat())
        except ValueError:
            break
    return now_text()


def is_metadata(path: str) -> bool:
    """Whether the name of a file says that it is metadata in a known format, such as ``oai_dc``."""
    return "/" not in path and format_of_file(path) is not OTHER


def _file(
    bag: SoundBag, path: str, place: str, content: BagFile, *, is_metadata: bool = False
) -> ImportedFile:
    digest = Digest(content.sha256, content.size)
    return ImportedFile(path, partial(content_of, partial(bag.open, place)), digest, is_metadata)
