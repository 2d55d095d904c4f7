"""What a checkpoint and a package are, and their messages (pure).

Source of the message: ukwa/python-shepherd, ``checkpointtosip.py`` ("CIPD"); docs/packages.md.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from silocrawl.errors import CrawlingError, MessageInvalid
from silocrawl.messages import TO_PACKAGE
from silocrawl.moments import in_iso
from silocrawl.packages.layout import DOCUMENTATION, LOGS, bag_name, payload_path, warc_name
from silowork.queues.values import Message

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,159}")
_WARC = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.%+=,~!-]{0,199}\.w?arc(?:\.gz)?")
ARK = re.compile(r"ark:/[0-9a-z]{5,9}/[0-9a-z]{1,64}")
SHA512 = re.compile(r"[0-9a-f]{128}")
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
NOT_WELL = "is NOT WELL"
"""What a sentence says of a package in which a verification found a fault."""


class PackagingError(CrawlingError):
    """A package that cannot be made, submitted or verified; the text says why."""


class PackageInvalid(PackagingError, ValueError):
    """What is said of a package, or its name, is not in its form."""


class PackageLater(Exception):
    """A step that waits for others, which is no failure; it is tried again after a while."""

    def __init__(self, seconds: float, why: str) -> None:
        self.seconds = seconds
        super().__init__(why)


def check_package_id(text: str) -> str:
    """Return the name of a package; it is also that of directories and files.

    Raises:
        PackageInvalid: It is none.
    """
    if not _ID.fullmatch(text):
        raise PackageInvalid(
            f"{text[:80]!r} cannot name a package; use at most 160 letters, digits and . _ -"
        )
    return text


def stream_of(text: str) -> str:
    """Make the name of a stream of crawls from that of a job."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:64] or "crawl"


def check_warc_name(text: str) -> str:
    """Return the name of a WARC file; logs, which name them, are the work of others.

    Raises:
        PackageInvalid: It is none.
    """
    if not _WARC.fullmatch(text) or ".." in text:
        raise PackageInvalid(f"{text[:80]!r} cannot name a WARC file")
    return text


def check_node(text: str) -> str:
    """Return the name of an access node.

    Raises:
        PackageInvalid: It is none.
    """
    if not _NODE.fullmatch(text):
        raise PackageInvalid(
            f"{text[:80]!r} cannot name a node; use at most 63 letters, digits and -"
        )
    return text


# --------------------------------------------------------------------------- checkpoints


@dataclass(frozen=True, slots=True)
class LogRange:
    """A part of a log.

    Attributes:
        name: Under which it is kept in the package.
        path: Of the log.
        begin, end: Bytes of it; -1: up to its end.
        is_crawl: Whether it says what became of addresses.
    """

    name: str
    path: str
    begin: int = 0
    end: int = -1
    is_crawl: bool = True


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A moment of a crawl, and what was kept up to it since the one before.

    Attributes:
        stream: The crawls that belong together: ``own``, or the job of Heritrix.
        name: Such as ``cp00001-20261124220000``.
        directory: Of the Silo or the job.
        started: When the first address of its logs was fetched; aware.
        ended: When it was made; aware.
        crawl_id: The launch of a job, or of ours that of the first line of the logs.
        software: What crawled, with its version.
        logs: Its logs.
        warcs: The WARC files, as name → path.
        viral: What the crawler found in those of them that have something harmful, by name.
        elsewhere: Further WARC files that the logs name, which are in other packages: name →
            package. The name of the package is empty if it is still to be made.
        configuration: Files that say how it was crawled, as name → path.
    """

    stream: str
    name: str
    directory: str
    started: datetime
    ended: datetime
    crawl_id: str = ""
    software: str = ""
    logs: tuple[LogRange, ...] = ()
    warcs: Mapping[str, str] = field(default_factory=dict)
    viral: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)

    @property
    def package_id(self) -> str:
        """The name of its package."""
        return check_package_id(f"{self.stream}-{self.name}")


# --------------------------------------------------------------------------- packages


class PackageState(StrEnum):
    """How far a package is; each is reached by a step."""

    BEGUN = "begun"
    """It has its ARKs; its WARC files are being copied."""
    PACKAGED = "packaged"
    DESCRIBED = "described"
    SUBMITTED = "submitted"
    INDEXED = "indexed"
    VERIFIED = "verified"
    MERGED = "merged"
    """All access nodes have it."""


Told = Callable[[int], object]
"""Gets the number of bytes worked on since the last call."""


class StoredFile(NamedTuple):
    """What a file of a store contains: its bytes, and their SHA-512 in lower-case hex."""

    size: int
    sha512: str


@dataclass(frozen=True, slots=True)
class WarcOfPackage:
    """A WARC file.

    Attributes:
        name: Its name.
        path: Where it was when it was packaged.
        size, sha512: Of what is in the store; -1 and empty until it is there.
        ark: Its identifier.
        is_viral: Whether something harmful was found in it.
        signature: What was found; empty if nothing, or if it is not known.
    """

    name: str
    path: str
    size: int = -1
    sha512: str = ""
    ark: str = ""
    is_viral: bool = False
    signature: str = ""


@dataclass(frozen=True, slots=True)
class VirusCheck:
    """That all WARC files of a package were looked at by a virus scanner.

    Attributes:
        agent: The program, with its version and that of its signatures.
        at: When; aware.
    """

    agent: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Package:
    """What is known of a package.

    Attributes:
        id: Its name.
        ark: Its identifier.
        stream, checkpoint, crawl_id, software, started, ended: Of its `Checkpoint`.
        directory: Of the job of Heritrix; empty for our own crawls.
        store: Address of its store.
        warcs: Its WARC files, by name.
        elsewhere: See `Checkpoint`.
        scan: The check for viruses; None if there was none.
        history: When it reached which state, in this order.
        error: Why the last step failed; empty if it did not.
    """

    id: str
    ark: str
    stream: str
    checkpoint: str
    crawl_id: str
    software: str
    started: datetime
    ended: datetime
    directory: str = ""
    store: str = ""
    warcs: tuple[WarcOfPackage, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    scan: VirusCheck | None = None
    history: tuple[tuple[PackageState, datetime], ...] = ()
    error: str = ""

    @property
    def state(self) -> PackageState:
        """How far it is."""
        return self.history[-1][0] if self.history else PackageState.BEGUN

    def has(self, state: PackageState) -> bool:
        """Whether it has reached a state."""
        order = list(PackageState)
        return bool(self.history) and order.index(self.state) >= order.index(state)

    def reached(self, state: PackageState, at: datetime) -> "Package":
        """The package in a further state, without an error; one that it has is kept."""
        if self.has(state):
            return replace(self, error="")
        return replace(self, history=(*self.history, (state, at)), error="")

    @property
    def is_unwell(self) -> bool:
        """Whether it was verified once, and the last verification since then found a fault."""
        return self.has(PackageState.VERIFIED) and self.error.startswith(f"{self.id} {NOT_WELL}")

    @property
    def viral(self) -> tuple[WarcOfPackage, ...]:
        """The WARC files with something harmful."""
        return tuple(one for one in self.warcs if one.is_viral)

    @property
    def size(self) -> int:
        """Bytes of the WARC files that are in the store."""
        return sum(max(0, one.size) for one in self.warcs)


def package_json(one: Package) -> bytes:
    """Return a package as the content of its ``package.json``."""
    table = {
        "format": 1,
        **{name: getattr(one, name) for name in _TEXTS},
        "started": in_iso(one.started),
        "ended": in_iso(one.ended),
        "warcs": [
            {"name": warc.name, "path": warc.path, "size": warc.size, "sha512": warc.sha512,
             "ark": warc.ark, "viral": warc.is_viral, "signature": warc.signature}
            for warc in one.warcs
        ],
        "elsewhere": dict(one.elsewhere),
        "scan": one.scan and {"agent": one.scan.agent, "at": in_iso(one.scan.at)},
        "history": [[state.value, in_iso(at)] for state, at in one.history],
    }  # fmt: skip
    return json.dumps(table, indent=1).encode() + b"\n"  # ASCII: a path may be no UTF-8


_TEXTS = ("id", "ark", "stream", "checkpoint", "crawl_id", "software", "directory", "store",
          "error")  # fmt: skip


def package_of(content: bytes) -> Package:
    """Read a ``package.json``.

    Raises:
        PackageInvalid: It is none.
    """
    try:
        table = json.loads(content)
        if table["format"] != 1:
            raise ValueError(f"it has the format {table['format']!r}, which is not known here")
        scan = table["scan"]
        return Package(
            **{name: _text(table[name]) for name in _TEXTS},
            started=_moment_of(table["started"]),
            ended=_moment_of(table["ended"]),
            warcs=tuple(map(_warc_of, table["warcs"])),
            elsewhere={
                check_warc_name(name): _text(table["elsewhere"][name])
                for name in table["elsewhere"]
            },
            scan=VirusCheck(_text(scan["agent"]), _moment_of(scan["at"])) if scan else None,
            history=tuple((PackageState(name), _moment_of(at)) for name, at in table["history"]),
        )
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
        raise PackageInvalid(f"what is noted of a package is damaged: {error}") from None


def _warc_of(row: Any) -> WarcOfPackage:
    size, sha512, ark = row["size"], _text(row["sha512"]), _text(row["ark"])
    if type(size) is not int or (sha512 and not SHA512.fullmatch(sha512)):
        raise ValueError("a WARC file has no size and digest")
    if ark and not ARK.fullmatch(ark):
        raise ValueError(f"{ark[:80]!r} is not an ARK")
    return WarcOfPackage(
        check_warc_name(_text(row["name"])), _text(row["path"]), size, sha512, ark,
        row["viral"] is True, _text(row["signature"]),
    )  # fmt: skip


# --------------------------------------------------------------------------- messages


def package_message(queue: str, one: Package) -> Message:
    """Return the message of a package for a queue; its key is that of the package.

    ``hdfs`` has the places of the WARC files in the store, as names that begin at its root.
    """
    table = {
        "startDate": in_iso(one.started),
        "crawlStream": one.stream,
        "packageId": one.id,
        "warcs": [warc.name for warc in one.warcs if not warc.is_viral],
        "viral": [warc.name for warc in one.viral],
        "logs": [bag_name(one.id, payload_path(one.id, f"{DOCUMENTATION}/{LOGS}"))],
        "arks": {warc.name: warc.ark for warc in one.warcs} | {one.id: one.ark},
        "hdfs": {
            warc.name: warc_name(one.id, warc.name, is_viral=warc.is_viral) for warc in one.warcs
        },
        **({"sip": bag_name(one.id)} if one.has(PackageState.DESCRIBED) else {}),
    }
    return Message(queue, json.dumps(table).encode(), one.id)


def package_id_of(body: bytes) -> str:
    """Read which package a message is about; all else is read from the package itself.

    Raises:
        MessageInvalid: It names none.
    """
    try:
        found = json.loads(body)
        return check_package_id(_text(found["packageId"]))
    except (ValueError, LookupError, TypeError, RecursionError):
        raise MessageInvalid("a message names no package") from None


def checkpoint_of(body: bytes) -> tuple[str, str]:
    """Read the checkpoint of a message: its name, and the directory of the job of Heritrix.

    Raises:
        MessageInvalid: It names none.
    """
    package_id_of(body)
    try:
        table = json.loads(body)
        name, directory = _text(table["name"]), _text(table.get("checkpointDirAbsolutePath", ""))
        check_package_id(name)
    except (ValueError, LookupError, TypeError):
        raise MessageInvalid("a message names no checkpoint") from None
    if directory and not directory.startswith("/"):
        raise MessageInvalid("the directory of a job in a message is not an absolute path")
    return name, directory


def checkpoint_message(stream: str, name: str, directory: str = "") -> Message:
    """Return the message of a checkpoint that is to be packaged.

    Args:
        directory: Of the job of Heritrix; empty for our own crawls.
    """
    package_id = check_package_id(f"{stream}-{name}")
    table = {"packageId": package_id, "crawlStream": stream, "name": name}
    table |= {"checkpointDirAbsolutePath": directory} if directory else {}
    return Message(TO_PACKAGE, json.dumps(table).encode(), package_id)


def _moment_of(text: Any) -> datetime:
    found = datetime.fromisoformat(_text(text))
    if found.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return found.astimezone(UTC)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value
