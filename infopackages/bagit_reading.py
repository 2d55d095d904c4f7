"""Read a bag of anybody, and compare all of it with its manifests.

Nothing is fetched (``fetch.txt``), and nothing written.

Source: BagIt 1.0 (RFC 8493), and 0.93 to 0.97 before it.
"""

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, BinaryIO

from infopackages.bagit import INFO
from infopackages.containers import Container
from infopackages.files import DigestedChunks, PackageUnreadable, chunks_of

FETCH, DECLARATION_FILE = "fetch.txt", "bagit.txt"
_DATA = "data/"
_VERSION = re.compile(r"BagIt-Version: *(0\.9[3-7]|1\.0)\s*")
_ENCODING = re.compile(r"Tag-File-Character-Encoding: *([\w.-]+)\s*")
_ENCODINGS = {"utf-8": "utf-8-sig", "us-ascii": "ascii", "ascii": "ascii", "utf-16": "utf-16",
              "iso-8859-1": "latin-1"}  # fmt: skip
_MANIFEST = re.compile(r"(tag)?manifest-([a-z0-9_-]+)\.txt", re.IGNORECASE)
_LINE = re.compile(r"([0-9A-Fa-f]+)[ \t]+\*?(?:\./)?(.+)")
_PERCENT = re.compile("%(0[AaDd]|25)")
_OXUM = re.compile(r"(\d{1,30})\.(\d{1,30})")
_LARGEST_TAG = 16 << 20
_LONGEST_LINE = 64 << 10
_ALGORITHMS = {
    one.replace("_", "").replace("-", ""): one
    for one in hashlib.algorithms_guaranteed
    if not one.startswith("shake")
}


@dataclass(frozen=True, slots=True)
class BagFile:
    """A file of a bag: its size, and its SHA-256 in lower-case hex."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SoundBag:
    """A bag in which all is as its manifests say.

    Attributes:
        name: Of its directory; ``""`` if the package has none.
        info: The fields of ``bag-info.txt``, in order.
        payload: The path of each file below ``data/`` → its content.
        tags: The path of every other file but the declaration and the manifests → its content.
        container: What it was read from.
    """

    name: str
    info: tuple[tuple[str, str], ...]
    payload: Mapping[str, BagFile]
    tags: Mapping[str, BagFile]
    container: Container

    def values(self, label: str) -> list[str]:
        """Return the values of a field of ``bag-info.txt``."""
        return [value for one, value in self.info if one.casefold() == label.casefold()]

    def open(self, path: str) -> BinaryIO:
        """Open a file by its path in the bag."""
        return self.container.open(f"{self.name}/{path}" if self.name else path)


def read_bag(container: Container) -> SoundBag:
    """Read a bag, and compare it with its manifests.

    Raises:
        PackageUnreadable: It is no bag, or not as it says; the first fault that was found.

    Cost: reads each file once, and tag files twice.
    """
    found = _declarations(container)
    if len(found) != 1:
        raise PackageUnreadable("it is not a bag: it has no bagit.txt, or more than one")
    name = found[0].removesuffix(DECLARATION_FILE).rstrip("/")
    return _Reading(container, name).bag()


def _declarations(container: Container) -> list[str]:
    names = [one for one in container.sizes if one.rpartition("/")[2] == DECLARATION_FILE]
    if DECLARATION_FILE in names:
        return [DECLARATION_FILE]
    return [one for one in names if one.count("/") == 1]


class _Reading:
    """The reading of one bag."""

    def __init__(self, container: Container, name: str) -> None:
        self.container, self.name = container, name
        self.below = f"{name}/" if name else ""
        others = [path for path in container.sizes if not path.startswith(self.below)]
        if others:
            raise PackageUnreadable(f"{others[0]} is beside the bag, not in it")
        self.sizes = {path[len(self.below) :]: n for path, n in container.sizes.items()}
        self.composed = {unicodedata.normalize("NFC", path): path for path in self.sizes}
        self.version, self.encoding = self._declared()

    def bag(self) -> SoundBag:
        manifests = [(path, found) for path in self.sizes if (found := _MANIFEST.fullmatch(path))]
        payload = {one[2]: self._listed(path, _DATA) for path, one in manifests if not one[1]}
        tags = {one[2]: self._listed(path, "") for path, one in manifests if one[1]}
        if not payload:
            raise PackageUnreadable("it has no manifest of its payload")
        files = [path for path in self.sizes if path.startswith(_DATA)]
        self._check_complete(files, payload)
        named = {path for path, _found in manifests}
        others = [path for path in self.sizes if path not in named and not path.startswith(_DATA)]
        contents = {path: self._content(path, payload) for path in files}
        about = {path: self._content(path, tags) for path in others}
        for path in named:
            self._content(path, tags)
        info = tuple(self._info()) if INFO in self.sizes else ()
        bag = SoundBag(
            self.name,
            info,
            {path.removeprefix(_DATA): content for path, content in contents.items()},
            {path: content for path, content in about.items() if path != DECLARATION_FILE},
            self.container,
        )
        for oxum in bag.values("Payload-Oxum"):
            size = sum(content.size for content in contents.values())
            if not (match := _OXUM.fullmatch(oxum)) or (int(match[1]), int(match[2])) != (
                size, len(contents),
            ):  # fmt: skip
                raise PackageUnreadable(
                    f"its payload has {size} bytes in {len(contents)} files, and its "
                    f"{INFO} says {oxum}"
                )
        return bag

    def _declared(self) -> tuple[str, str]:
        lines = self._read(DECLARATION_FILE, 1024).decode("utf-8", "replace").splitlines()
        version = _VERSION.fullmatch(lines[0]) if len(lines) >= 2 else None
        encoding = _ENCODING.fullmatch(lines[1]) if len(lines) >= 2 else None
        known = _ENCODINGS.get(encoding[1].lower()) if encoding else None
        if version is None or known is None:
            raise PackageUnreadable(
                "its bagit.txt does not declare a bag of the versions 0.93 to 1.0 in UTF-8, "
                "UTF-16, ASCII or ISO-8859-1"
            )
        return version[1], known

    def _listed(self, manifest: str, below: str) -> dict[str, str]:
        """Return path → digest of the lines of a manifest; every path is there."""
        listed: dict[str, str] = {}
        for number, line in enumerate(self._lines(manifest), 1):
            if not line:
                continue
            match = _LINE.fullmatch(line)
            if match is None:
                raise PackageUnreadable(f"line {number} of {manifest} has no digest and path")
            digest, path = match[1].lower(), self._path(match[2])
            if path is None:
                hint = f"; {FETCH} names files to be fetched first" * (FETCH in self.sizes)
                raise PackageUnreadable(f"{match[2]} is in {manifest} and missing{hint}")
            if not path.startswith(below):
                raise PackageUnreadable(f"{path} is in {manifest} and not below {below}")
            if listed.setdefault(path, digest) != digest:
                raise PackageUnreadable(f"{path} has two digests in {manifest}")
        return listed

    def _path(self, written: str) -> str | None:
        """Return the path of a file as a manifest writes it; None if there is no such file."""
        decoded = _PERCENT.sub(lambda match: chr(int(match[1], 16)), written)
        for one in (decoded, written):
            if one in self.sizes:
                return one
            if (same := self.composed.get(unicodedata.normalize("NFC", one))) is not None:
                return same
        return None

    def _check_complete(self, files: list[str], manifests: Mapping[str, dict[str, str]]) -> None:
        needed = manifests.values() if self.version == "1.0" else [_merged(manifests)]
        for path in files:
            if not all(path in one for one in needed):
                raise PackageUnreadable(f"{path} is not in a manifest")

    def _content(self, path: str, manifests: Mapping[str, dict[str, str]]) -> BagFile:
        """Read a file, and compare it with all manifests that list it."""
        wanted = {}
        for name, listed in manifests.items():
            if path in listed:
                algorithm = _ALGORITHMS.get(re.sub("[_-]", "", name.lower()))
                if algorithm is None:
                    raise PackageUnreadable(f"digests by {name} cannot be checked")
                wanted[algorithm] = listed[path]
        with self._open(path) as file:
            source = DigestedChunks(chunks_of(file), {"sha256", *wanted})
            source.skim()
        found = source.hexes
        if any(found[algorithm] != digest for algorithm, digest in wanted.items()):
            raise PackageUnreadable(f"{path} is damaged: it has another digest than its manifest")
        return BagFile(source.size, found["sha256"])

    def _info(self) -> Iterator[tuple[str, str]]:
        """Yield the fields of ``bag-info.txt`` (RFC 8493, section 2.2.2)."""
        label, value = "", ""
        for number, line in enumerate(self._lines(INFO, _LARGEST_TAG), 1):
            if line[:1].isspace() and label:
                value += f" {line.strip()}"
                continue
            if label:
                yield label, value
            label, colon, value = (part.strip() for part in line.partition(":"))
            if line.strip() and not (label and colon):
                raise PackageUnreadable(f"line {number} of {INFO} is not a field")
        if label:
            yield label, value

    def _lines(self, path: str, most: int = 0) -> Iterator[str]:
        if most and self.sizes[path] > most:
            raise PackageUnreadable(f"{path} is larger than {most >> 20} MiB")
        try:
            with self._open(path) as file:
                for line in _lines_of(file, self.encoding):
                    if len(line) > _LONGEST_LINE:
                        raise PackageUnreadable(f"{path} has a line that is too long")
                    yield line.rstrip("\r\n")
        except UnicodeError:
            raise PackageUnreadable(
                f"{path} is not in the encoding of {DECLARATION_FILE}"
            ) from None

    def _read(self, path: str, most: int) -> bytes:
        with self._open(path) as file:
            return file.read(most)

    def _open(self, path: str) -> BinaryIO:
        return self.container.open(self.below + path)


def _merged(manifests: Mapping[str, dict[str, str]]) -> dict[str, str]:
    return {path: digest for one in manifests.values() for path, digest in one.items()}


def _lines_of(file: IO[bytes], encoding: str) -> Iterator[str]:
    """Yield lines, ended by LF, CR or CRLF and by nothing else."""
    decoder, left = codecs.getincrementaldecoder(encoding)(), ""
    for chunk in chunks_of(file):
        *lines, left = re.split("\r\n|\r(?!\\Z)|\n", left + decoder.decode(chunk))
        yield from lines
        if len(left) > _LONGEST_LINE:
            break
    yield from re.split("\r\n|\r|\n", left + decoder.decode(b"", final=True))
