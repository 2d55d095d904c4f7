"""Kinds of targets, which packages contribute through entry points.

An entry point of the group ``siloexport.targets`` names a `TargetKind`. The command
`silo export NAME`, the forms of the page and the export job are made from it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, BinaryIO, TypeAlias

from recordsilo import Silo
from recordsilo.contributions import contribution, contributions, points
from recordsilo.extras import PackageMissing, lacking
from recordsilo.selection import Selection
from siloexport.errors import ExportError
from siloexport.plan import Versions
from siloexport.targets import Target
from siloexport.targets.tables import TableReport
from silowork.forms import Choices, Field, Input

GROUP = "siloexport.targets"
Values: TypeAlias = Mapping[str, Any]
"""Name of a field → its text; for `Input.TEXTS`, a list of texts."""


class FieldAvailability(StrEnum):
    """Where a field is available."""

    ANYWHERE = "anywhere"
    COMMAND = "command"
    """Only on the command line, for instance the path of a file on this machine."""
    PAGE = "page"
    """Only in the form of the page."""


RESERVED = frozenset({
    "form", "name", "select", "query", "set", "state", "conflicts", "deletions",
    "q", "search", "counted", "kind", "when", "at", "dry_run", "as_of", "as_json",
})  # fmt: skip
"""Names of fields that the form, or the command, of every export has."""


@dataclass(frozen=True, slots=True)
class FormField(Field):
    """A field of a target: an option of its command, an input of its form.

    Its name is none of `RESERVED`, which every export has; nor ``versions`` where there is `open`.

    Attributes:
        choices_of: Returns choices that depend on the Silo, from its directory; raises
            `JobRefused` with the reason if there are none.
        completed: Returns values for the TAB key, from the Silo's directory; others are
            allowed, too. By default those of `choices_of`.
        metavar: Placeholder in the help of the command: ``--NAME METAVAR``.
        option: Of the command; by default ``--`` and the name.
        example: A value for the examples of a command that needs the field.
        asked: Where the field is available.
        is_argument: Whether the command takes it as an argument after the Silo, not an option.
    """

    choices_of: Callable[[str], Choices] | None = None
    completed: Callable[[str], Iterable[str]] | None = None
    metavar: str = ""
    option: str = ""
    example: str = ""
    asked: FieldAvailability = FieldAvailability.ANYWHERE
    is_argument: bool = False

    def __post_init__(self) -> None:
        if self.name in RESERVED:
            raise ValueError(f"a field of a target cannot be called {self.name!r}: exports have it")

    @property
    def flag(self) -> str:
        """The option of the command."""
        return self.option or f"--{self.name.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class Opening:
    """The arguments of `TargetKind.open`.

    Attributes:
        silo_path: The Silo's directory.
        values: Of the fields, from `checked`.
        out: Path of the directory, for a kind that is one.
        versions: Which versions of records are exported.
    """

    silo_path: str
    values: Values
    out: str = ""
    versions: Versions = Versions.CURRENT


Write: TypeAlias = Callable[[Silo, Selection, BinaryIO, Values, Callable[[int], None]], TableReport]


@dataclass(frozen=True, slots=True)
class TargetKind:
    """A kind of target: a directory, a file, or a place that its fields specify.

    Attributes:
        name: Name of the entry point, of the command, and in forms.
        title: Its title in English; the label of a choice if several kinds share a form.
        heading: Of its form; kinds with the same heading and fields share a form.
        help: Of the command: one line, and more after an empty one.
        fields: Its fields.
        examples: Calls of the command; generated for a place.
        open: Opens the target; raises `ExportError`. None if there is `write`.
        write: Writes one file for the whole selection. None if there is `open`.
        is_directory: Whether the target is a directory: OUT on the command line, next to the
            Silo for a job.
        check: Checks values; raises an `ExportError` that names the field.
        ending: Of the file name.
        media_type: Of the file.
        unit: What `TableReport.rows` counts, in the plural.
        at_once: How many records a job sends at once.
        hint: Text above the form, in English.
        explained: What it exports, in the list of forms; by default the hint.
        missing: Text instead of the form if `FormField.choices_of` returns none.
        versions: Which versions are exported by default, where the target is not one file.
        order: Of the forms on the page; then by name.
        module: What it needs of an extra, and may not be installed: the name of a module.
        extra: That extra.
    """

    name: str
    title: str
    heading: str
    help: str
    fields: tuple[FormField, ...] = ()
    examples: tuple[str, ...] = ()
    open: Callable[[Opening], AbstractContextManager[Target]] | None = None
    write: Write | None = None
    is_directory: bool = False
    check: Callable[[str, Values], object] = lambda _silo_path, _values: None
    ending: str = ""
    media_type: str = "application/octet-stream"
    unit: str = "rows"
    at_once: int = 1
    hint: str = ""
    explained: str = ""
    missing: str = ""
    versions: Versions = Versions.CURRENT
    order: int = 50
    module: str = ""
    extra: str = ""

    @property
    def lacking(self) -> PackageMissing | None:
        """Why it cannot be used, if its module is not installed; loads nothing."""
        return lacking(self.module, f"The export as {self.title}", self.extra)

    def asked(self, where: FieldAvailability) -> tuple[FormField, ...]:
        """Return its fields on the command line or in the form."""
        return tuple(one for one in self.fields if one.asked in (where, FieldAvailability.ANYWHERE))


def kind_names() -> list[str]:
    """Return the names of all kinds, sorted, without loading them."""
    return list(points(GROUP))


def kind_named(name: str) -> TargetKind:
    """Return a kind by its name.

    Raises:
        ExportError: There is no such kind.
        ContributionBroken: It cannot be loaded.
    """
    if name not in points(GROUP):
        raise ExportError(f"the kind of an export must be one of {', '.join(kind_names())}")
    return contribution(GROUP, name, TargetKind)


def kinds() -> Iterator[TargetKind]:
    """Return all kinds that can be loaded, by name; a broken one is logged once."""
    return contributions(GROUP, TargetKind)


def checked(
    kind: TargetKind, given: Values, silo_path: str, where: FieldAvailability
) -> dict[str, Any]:
    """Check the values of a kind's fields for `TargetKind.open` and `write`.

    Args:
        given: Name of a field → text; for `Input.TEXTS` a list, or a text with spaces or commas.
        where: On the command line or in the form.

    Raises:
        ExportError: A package is not installed, or a value is invalid or missing; the message
            names the field.
    """
    if (missing := kind.lacking) is not None:
        raise ExportError(str(missing))
    values = {one.name: _checked(one, given.get(one.name), where) for one in kind.asked(where)}
    kind.check(silo_path, values)
    return values


def _checked(field: FormField, given: Any, where: FieldAvailability) -> Any:
    is_option = where is FieldAvailability.COMMAND and not field.is_argument
    named = field.flag if is_option else f"the field {field.name} ({field.label})"
    if field.input is Input.TEXTS:
        some = given or field.default
        texts = some.replace(",", " ").split() if isinstance(some, str) else some
        if field.required and not texts:
            raise ExportError(f"{named} is required")
        return list(texts)
    text = str(given if given is not None else "").strip() or field.default
    if field.required and not text:
        raise ExportError(f"{named} is required")
    known = [value for value, _label in field.choices]
    if text and known and text not in known:
        raise ExportError(f"{named} must be one of {', '.join(known)}")
    if text and field.input is Input.NUMBER:
        try:
            float(text)
        except ValueError:
            raise ExportError(f"{named} must be a number") from None
    return text
