"""What a table for another repository is made from: a record as texts, and its cells (pure)."""

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from infopackages.bagit import safe_path
from recordsilo.cells import guarded
from recordsilo.disk.identifier import clean
from siloexport.bibliography import Bibliography, Name
from siloexport.targets.directory import directory_name
from siloexport.values import Deposit, ExportedFile

DATA, METADATA = "data", "metadata"
"""Where the files of a record are in its directory, and its metadata."""
ABOUT = "silo.json"
DELIMITER = "|"
"""Between the values of a cell."""
_LONGEST, _LONGEST_ENDING = 250, 10
"""Of a file's name and its ending, in bytes."""
_INSTEAD = "\N{BROKEN BAR}"
_UNSAFE = re.compile("[;|&\\s'\"`$#?*\\\\<>]")
_ACCESS = re.compile(r"info:eu-repo/semantics/(open|embargoed|restricted|closed)Access")
_EMBARGO = re.compile(r"info:eu-repo/date/embargoEnd/(\d{4}-\d{2}-\d{2})")

Row: TypeAlias = Mapping[str, str]
"""Name of a column → its cell; empty ones may be left out."""


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """A record as its directory keeps it, in ``silo.json``.

    Attributes:
        name: Of its directory; it identifies the record in the table.
        values: JSON values, as `facts_of` makes them.
    """

    name: str
    values: Mapping[str, Any]

    def sets_among(self, asked: Collection[str] | None) -> list[str]:
        """Return the record's sets without those that contain another of them.

        Args:
            asked: Only these sets, or those in them; None for all.
        """
        specs = self.values["sets"] if asked is None else containing(self.values["sets"])
        found = [one for one in dict.fromkeys(specs) if asked is None or one in asked]
        return [one for one in found if not any(two.startswith(f"{one}:") for two in found)]

    @property
    def title(self) -> str:
        return str(self.values["title"] or self.values["identifier"])

    @property
    def files(self) -> list[dict[str, str]]:
        """The record's files without metadata: ``path`` in the Silo, ``place`` below ``files/``."""
        return [
            {"path": one["path"], "place": f"{self.name}/{one['place']}"}
            for one in self.values["files"]
            if one["place"].startswith(f"{DATA}/")
        ]

    def is_open(self, day: str) -> bool | None:
        """Whether others may see it on a day (``YYYY-MM-DD``); None if that is not said."""
        access, until = self.values["access"], self.values["until"]
        if until and until > day:
            return False
        if access == "embargoed":
            return bool(until)
        return access == "open" if access else (True if until else None)


class SheetTable(Protocol):
    """The form of the table of one importer."""

    @property
    def file_name(self) -> str:
        """Of the table."""

    @property
    def encoding(self) -> str:
        """Of the table."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in their order; those that have no value are left out."""

    @property
    def required(self) -> frozenset[str]:
        """Columns that are never left out."""

    def headed(self, used: Sequence[str]) -> list[str]:
        """Return the first row of the table.

        Args:
            used: The columns that it has.
        """

    def collections(self, specs: Sequence[str], names: Mapping[str, str]) -> Iterator[Row]:
        """Yield the rows of sets.

        Args:
            specs: Their setSpecs, each after those that contain it.
            names: setSpec → the set's name, where it has one.
        """

    def rows(self, facts: SheetFacts, sets: Sequence[str], day: str) -> Iterator[Row]:
        """Yield the rows of a record.

        Args:
            sets: Those of its sets that are collections.
            day: On which the table is written, as ``YYYY-MM-DD``.
        """

    def companion(self) -> tuple[str, str]:
        """Return the name and the content of a file that the importer needs beside the table."""


def record_name(identifier: str) -> str:
    """Return the name of a record's directory, which is its identifier in the table.

    It has no character that an importer splits or changes (space, ``;``, ``|``, ``:``), and does
    not begin as a formula or as a comment does.
    """
    name = _plain(directory_name(identifier).replace(",", "."))
    return f"^{name}" if name.startswith((".", "#", "'")) or guarded(name) != name else name


def set_name(spec: str) -> str:
    """Return what identifies a set in the table; no record has such a name."""
    return f"set {_plain(clean(spec).replace(',', '.'))}"


def place_of(file: ExportedFile) -> str:
    """Return a file's path in the record's directory, without characters that importers change."""
    is_about = file.path.endswith(".about")
    below = METADATA if file.is_metadata or file.document_of or is_about else DATA
    return "/".join([below, *map(_plain, safe_path(file.path).split("/"))])


def _plain(name: str) -> str:
    """Return a name without characters that importers change; a long one ends in a digest."""
    plain = _UNSAFE.sub(_hex, name)
    if len(plain.encode()) <= _LONGEST:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    stem, ending = os.path.splitext(plain)
    kept = stem.encode()[: _LONGEST - 40].decode(errors="ignore")
    return f"{kept}~{digest}{ending if len(ending) <= _LONGEST_ENDING else ''}"


def _hex(match: re.Match[str]) -> str:
    return "".join(f"^{octet:02x}" for octet in match[0].encode())


def containing(specs: Iterable[str]) -> list[str]:
    """Return sets and those that contain them, each after those that contain it."""
    found = set()
    for spec in specs:
        parts = spec.split(":")
        found |= {":".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return sorted(found)


def nearest(spec: str, specs: Collection[str]) -> str:
    """Return the smallest of some sets that contains a set; ``""`` for none."""
    above = spec.rpartition(":")[0]
    while above and above not in specs:
        above = above.rpartition(":")[0]
    return above


def cell(values: Iterable[str]) -> str:
    """Return several values as a cell.

    No importer has a way to escape its delimiter: in a value it is written as a broken bar. A
    space in front of what a spreadsheet would run as a formula is removed by the importers.
    """
    found = dict.fromkeys(" ".join(value.split()) for value in values)
    text = DELIMITER.join(one.replace(DELIMITER, _INSTEAD) for one in found if one)
    return f" {text}" if guarded(text) != text else text


def single(value: str) -> str:
    """Return one value as a cell."""
    return cell([value])


def facts_of(deposit: Deposit, said: Bibliography) -> dict[str, Any]:
    """Return the values of `SheetFacts`: what the last version says, as JSON values."""
    version = deposit.version
    told = [text for one in said.rights for text in (one.text, one.uri)]
    dates = [*told, *(one.text for one in said.dates)]
    return {
        "identifier": deposit.identifier,
        "version": version.name,
        "sets": list(deposit.sets),
        "title": said.title.text,
        "alternatives": _texts(said.alternatives),
        "creators": [_name(one, "aut") for one in said.creators],
        "contributors": [_name(one, "ctb") for one in said.contributors],
        "publishers": _texts(said.publishers),
        "issued": said.issued,
        "types": _texts(said.types),
        "subjects": _texts(said.subjects),
        "languages": list(said.language_tags),
        "identifiers": [one.address or one.text for one in said.identifiers
                        if one.kind != "citation"],
        "citations": [one.text for one in said.identifiers if one.kind == "citation"],
        "rights": [{"text": one.text, "uri": one.uri} for one in said.rights
                   if not _ACCESS.search(f"{one.text} {one.uri}")
                   and not _EMBARGO.search(f"{one.text} {one.uri}")],
        "access": _first(_ACCESS, told),
        "until": _first(_EMBARGO, dates),
        "abstracts": _texts(said.abstracts),
        "notes": _texts(said.notes),
        "relations": [one.identifier.address if one.identifier and one.identifier.address
                      else one.text for one in said.relations],
        "sources": _texts(said.sources),
        "coverages": _texts(said.coverages),
        "container": {"title": said.container.title, "volume": said.container.volume,
                      "issue": said.container.issue},
        "files": [{"path": one.path, "place": place_of(one), "size": one.size,
                   "sha256": one.sha256} for one in version.files],
    }  # fmt: skip


def _texts(values: Iterable[Any]) -> list[str]:
    return [one.text for one in values]


def _name(name: Name, role: str) -> dict[str, str]:
    return {"text": name.text, "role": name.role or role, "kind": name.kind, "orcid": name.orcid}


def _first(pattern: re.Pattern[str], texts: Iterable[str]) -> str:
    return next((match[1] for text in texts if (match := pattern.search(text))), "")
