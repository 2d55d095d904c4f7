"""Compare two versions of a record: files, fields, lines. Reads the store, changes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recordsilo import HarvestedRecord
from recordsilo.records.differences import FileDifference
from webui.record.field_differences import FieldDifferences, FieldValue, compare_fields, fields_of

LineKind = str
_LINES = {"+": "added", "-": "removed", "@": "place"}


@dataclass(frozen=True, slots=True)
class FileComparison:
    """A file that differs between the versions.

    Attributes:
        fields: The fields of a metadata file that was changed, added or removed.
        lines: (``added`` | ``removed`` | ``place`` | ``same``, text) of the difference.
    """

    difference: FileDifference
    fields: tuple[FieldDifferences, ...]
    lines: tuple[tuple[LineKind, str], ...]


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """The differences of two versions; false if there are none."""

    before: str
    after: str
    files: tuple[FileComparison, ...]

    def __bool__(self) -> bool:
        return bool(self.files)


def base_of(record: HarvestedRecord, version: str) -> str:
    """Return the version to compare with: the harvested original, else the previous version.

    ``""`` if there is none.
    """
    seen, name = {version}, record.origin(version).of
    while name and name not in seen and name in record.versions:
        if not record.version_is_curated(name):
            return name
        seen.add(name)
        name = record.origin(name).of
    names = record.versions
    place = names.index(version)
    return names[place - 1] if place else ""


def compare_versions(record: HarvestedRecord, before: str, after: str) -> VersionComparison:
    """Compare two versions by their files, the metadata files by their fields too.

    Args:
        before, after: Names of two of its versions.

    Raises:
        VersionNotFound, FileNotInVersion: See `HarvestedRecord.differences`.
    """
    found = record.differences(before, after)
    return VersionComparison(
        found.before,
        found.after,
        tuple(_file(record, found.before, found.after, one) for one in found.files),
    )


def _file(
    record: HarvestedRecord, before: str, after: str, difference: FileDifference
) -> FileComparison:
    path = difference.path
    sides = [
        _fields(record, version, path) if there is not None else {}
        for version, there in ((before, difference.before), (after, difference.after))
    ]
    lines = tuple((_LINES.get(line[:1], "same"), line) for line in difference.lines)
    return FileComparison(difference, compare_fields(*sides), lines)


def _fields(record: HarvestedRecord, version: str, path: str) -> dict[str, list[FieldValue]]:
    info = record.file_info(path, version)
    if not info.is_metadata or info.size > 1 << 20:
        return {}
    with record.get_stream(path, version) as stream:
        return fields_of(path, stream.read())


def comparison_json(found: VersionComparison) -> dict[str, Any]:
    """Return the comparison as JSON values."""
    return {
        "before": found.before,
        "after": found.after,
        "files": [_file_json(one) for one in found.files],
    }


def _file_json(one: FileComparison) -> dict[str, Any]:
    sides = {"before": one.difference.before, "after": one.difference.after}
    return {
        "path": one.difference.path,
        "change": one.difference.change,
        "form": one.difference.form,
        **{
            side: {"size": digest.size, "sha256": digest.sha256} if digest else None
            for side, digest in sides.items()
        },
        "fields": fields_json(one.fields),
        "lines": list(one.difference.lines),
    }


def fields_json(fields: Iterable[FieldDifferences]) -> dict[str, Any]:
    """Differences of fields for programs: field → its values."""
    return {
        field.name: [
            {
                "change": value.kind,
                "before": _value_json(value.before),
                "after": _value_json(value.after),
            }
            for value in field.values
        ]
        for field in fields
    }


def _value_json(value: FieldValue | None) -> dict[str, str] | None:
    return None if value is None else {"text": value.text, "lang": value.lang}
