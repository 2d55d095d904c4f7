"""Where archive files are by name: in the Silo, or where ``crawling/places.tsv`` says.

Others write WARC files elsewhere: a Heritrix in the directories of its jobs, a store in its
packages. The index names a file; its place may change. A line is a name, a tab and the absolute
paths or URLs where the file may be, separated by tabs: a file being written by Heritrix, and then
finished, is ``x.warc.gz TAB /jobs/x.warc.gz TAB /jobs/x.warc.gz.open``. Lines are sorted by bytes,
as pywb searches them (`PathIndexResolver`).
"""

import errno
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, cast

from filestores.errors import ObjectDiffers, StoreFailed
from filestores.object_store import ObjectStore
from recordsilo.disk.atomic_file import make_parents, replace_file
from recordsilo.disk.locks import Locks
from recordsilo.disk.regular_file import open_regular, regular_fd
from recordsilo.disk.stamps import stamp_of
from recordsilo.extras import needed
from silocrawl.errors import CrawlingError
from silocrawl.paths import archives_directory, places_file

_URL, _NO_FIELD = re.compile(r"[a-z][a-z0-9+.-]*://\S+"), re.compile(r"[\x00-\x1f\x7f]")


class PlacesInvalid(CrawlingError):
    """A place cannot be noted, or the file of places cannot be read."""


class Places:
    """The archive files of a Silo, or of another directory with a file of places.

    Args:
        directory: Where files are looked for first.
        file: The file of places; it need not exist.
    """

    def __init__(self, directory: str, file: str) -> None:
        self._directory, self._file = directory, file
        self._known: dict[str, tuple[str, ...]] = {}
        self._stamp: object = None

    @classmethod
    def of_silo(cls, silo_path: str) -> "Places":
        """The archives of a Silo."""
        return cls(archives_directory(silo_path), places_file(silo_path))

    def of(self, name: str) -> tuple[str, ...]:
        """The places where a file may be, in the order in which they are tried.

        Raises:
            PlacesInvalid: The file of places is damaged.
        """
        own = os.path.join(self._directory, os.path.basename(name))
        stamp = stamp_of(self._file)
        if stamp is None or stamp != self._stamp:
            self._known, self._stamp = read_places(self._file), stamp
        return own, *self._known.get(os.path.basename(name), ())

    def open(self, name: str) -> BinaryIO:
        """Open an archive file; of a URL, the parts that are read are fetched.

        Raises:
            FileNotFoundError: It is at none of its places.
            PlacesInvalid: The file of places is damaged.
            PackageMissing: It is at a URL, and ``fsspec`` is not installed.
            OSError: It cannot be read.
        """
        places = self.of(name)
        with suppress(FileNotFoundError):
            return open_regular(places[0])
        for place in places[1:]:
            with suppress(FileNotFoundError):
                return _opened_url(place) if _URL.fullmatch(place) else open_regular(place)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)


def _opened_url(url: str) -> BinaryIO:
    if url.startswith("sftp://"):  # fsspec itself trusts every host
        try:
            return ObjectStore(url).open(url)
        except ObjectDiffers as error:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url) from error
        except StoreFailed as error:
            raise OSError(errno.EIO, str(error), url) from error
    fsspec: Any = needed("fsspec", f"An archive at {url}", "s3")
    return cast(BinaryIO, fsspec.open(url, "rb").open())


def read_places(path: str) -> dict[str, tuple[str, ...]]:
    """Read a file of places; of two lines with a name, the later one counts.

    Raises:
        PlacesInvalid: A line is not a name and absolute paths or URLs.
        OSError: It cannot be read.
    """
    found: dict[str, tuple[str, ...]] = {}
    try:
        file = open(path, encoding="utf-8", errors="surrogateescape", opener=regular_fd)  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return found
    with file:
        for number, line in enumerate(file, 1):
            if line.strip():
                name, *places = line.rstrip("\r\n").split("\t")
                try:
                    found[name] = _checked(name, places)
                except PlacesInvalid as error:
                    raise PlacesInvalid(
                        f"{os.path.basename(path)}, line {number}: {error}"
                    ) from None
    return found


def note_places(silo_path: str, places: Mapping[str, Iterable[str]]) -> None:
    """Note where archive files are, in place of what was noted of them; durable on return.

    Args:
        places: Name → absolute paths or URLs, in the order in which they are tried; without any,
            the name is removed.

    Raises:
        PlacesInvalid: One of them cannot be noted, or the file is damaged; nothing is changed.
        OSError: The disk refused; nothing is changed.
    """
    with Locks.of_silo(silo_path).hold_name("places"):
        merge_places(places_file(silo_path), places, silo_path)


def merge_places(path: str, places: Mapping[str, Iterable[str]], below: str = "") -> None:
    """Change a file of places, of which no other process is a writer; see `note_places`.

    Args:
        below: The Silo that it is in, if it is in one; see `make_parents`.
    """
    new = {name: _checked(name, some) if (some := [*one]) else () for name, one in places.items()}
    known = read_places(path)
    merged = {name: some for name, some in (known | new).items() if some}
    if merged != known:
        lines = sorted(
            "\t".join((name, *some)).encode("utf-8", "surrogateescape") + b"\n"
            for name, some in merged.items()
        )
        make_parents(path, below)
        replace_file(path, b"".join(lines))


def _checked(name: str, places: Iterable[str]) -> tuple[str, ...]:
    found = tuple(places)
    if not name or name in (".", "..") or "/" in name or _NO_FIELD.search(name):
        raise PlacesInvalid(f"{name!r} is not a valid name of a file")
    for one in found:
        if _NO_FIELD.search(one) or not (os.path.isabs(one) or _URL.fullmatch(one)):
            raise PlacesInvalid(
                f"{name} is at {one!r}, which is neither an absolute path nor a URL"
            )
    if not found:
        raise PlacesInvalid(f"{name} has no path after a tab")
    return found
