"""Where an export may go, each kind of target contributed by a package through an entry point.

An entry point of the group ``siloexport.targets`` names a `TargetKind`. The command
`silo export NAME`, the forms of the page and the export job are made from it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, BinaryIO, TypeAlias

from recordsilo import Silo
from recordsilo.contributions import contribution, contributions, points
from recordsilo.selection import Selection
from siloexport.errors import ExportError
from siloexport.plan import Versions
from siloexport.targets import Target
from siloexport.targets.tables import TableReport

GROUP = "siloexport.targets"
Values: TypeAlias = Mapping[str, Any]
"""Name of a field → a text; of a field of `Input.TEXTS`, a list of texts."""
Choices: TypeAlias = tuple[tuple[str, str], ...]
"""Values, each with what it says, in English."""


class Input(StrEnum):
    """What is given in a field."""

    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"
    TEXTS = "texts"
    """Several: an option that is repeatable; in a form, separated by blanks."""


class Asked(StrEnum):
    """Where a field is asked for."""

    ANYWHERE = "anywhere"
    COMMAND = "command"
    """On the command line only, as for the path of a file on this machine."""
    PAGE = "page"
    """In the page's form only."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a target: an option of its command, an input of its form.

    Attributes:
        name: Not ``form``, ``name``, ``query``, ``set``, ``state``, ``conflicts`` or
            ``deletions``, which every export has; nor ``versions`` where there is `open`.
        label: In English.
        default: What an empty field means.
        choices: Of `Input.CHOICE`.
        choices_of: Those that depend on the Silo, whose directory is given; raises
            `JobRefused` with why there are none.
        help: Ends with a full stop.
        metavar: What stands for a value in the help of the command; ``--NAME METAVAR``.
        option: Of the command; by default ``--`` and the name.
        example: A value, for the examples of a command that needs the field.
    """

    name: str
    label: str
    input: Input = Input.TEXT
    required: bool = False
    default: str = ""
    choices: Choices = ()
    choices_of: Callable[[str], Choices] | None = None
    help: str = ""
    metavar: str = ""
    option: str = ""
    example: str = ""
    asked: Asked = Asked.ANYWHERE

    @property
    def flag(self) -> str:
        """The option of the command."""
        return self.option or f"--{self.name.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class Opening:
    """What a target is opened with.

    Attributes:
        silo_path: The Silo's directory.
        values: Of the fields, as `checked` gives them.
        out: Of a kind that is a directory: its path.
        versions: Which versions of records go there.
    """

    silo_path: str
    values: Values
    out: str = ""
    versions: Versions = Versions.CURRENT


Write: TypeAlias = Callable[[Silo, Selection, BinaryIO, Values, Callable[[int], None]], TableReport]


@dataclass(frozen=True, slots=True)
class TargetKind:
    """A kind of target: a directory, one file, or a place that its fields name.

    Attributes:
        name: Of the command and in forms; the entry point's name.
        title: What it is called, in English; a choice where several share a form.
        heading: Of its form; kinds with the same heading and fields share one.
        help: Of the command: one line; more after an empty one.
        examples: How the command is called; made up for a place.
        open: Makes the target; raises `ExportError`. None where `write` is given.
        write: Writes one file for all that is selected. None where `open` is given.
        is_directory: The target is a directory: OUT on the command line, beside the Silo
            for a job.
        check: Refuses values with an `ExportError` whose sentence names the field.
        ending: Of the file; media_type: of it; unit: what it has one of for each `rows`.
        at_once: How many records a job sends at once.
        hint: Said above the form, in English.
        missing: Said in place of the form where `FormField.choices_of` gives none.
        order: Of the forms on the page; equal ones by name.
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
    missing: str = ""
    order: int = 50

    def asked(self, where: Asked) -> tuple[FormField, ...]:
        """Its fields on the command line, or in the form."""
        return tuple(one for one in self.fields if one.asked in (where, Asked.ANYWHERE))


def kind_names() -> list[str]:
    """The names of all kinds, sorted; none is loaded."""
    return list(points(GROUP))


def kind_named(name: str) -> TargetKind:
    """A kind by its name.

    Raises:
        ExportError: There is none.
        ContributionBroken: It cannot be loaded.
    """
    if name not in points(GROUP):
        raise ExportError(f"an export is one of {', '.join(kind_names())}")
    return contribution(GROUP, name, TargetKind)


def kinds() -> Iterator[TargetKind]:
    """All kinds that can be loaded, by name; a broken one is logged once."""
    return contributions(GROUP, TargetKind)


def checked(kind: TargetKind, given: Values, silo_path: str, where: Asked) -> dict[str, Any]:
    """The values of a kind's fields, as `TargetKind.open` and `write` take them.

    Args:
        given: Texts by name, of `Input.TEXTS` lists or texts with blanks or commas; all
            fields are looked up.

    Raises:
        ExportError: The sentence names the field.
    """
    values = {one.name: _checked(one, given.get(one.name)) for one in kind.asked(where)}
    kind.check(silo_path, values)
    return values


def _checked(field: FormField, given: Any) -> Any:
    if field.input is Input.TEXTS:
        some = given or field.default
        texts = some.replace(",", " ").split() if isinstance(some, str) else some
        if field.required and not texts:
            raise ExportError(f"the field {field.name} ({field.label}) is required")
        return list(texts)
    text = str(given if given is not None else "").strip() or field.default
    if field.required and not text:
        raise ExportError(f"the field {field.name} ({field.label}) is required")
    known = [value for value, _label in field.choices]
    if text and known and text not in known:
        raise ExportError(f"the field {field.name} ({field.label}) is one of {', '.join(known)}")
    if text and field.input is Input.NUMBER:
        try:
            float(text)
        except ValueError:
            raise ExportError(f"the field {field.name} ({field.label}) is a number") from None
    return text
