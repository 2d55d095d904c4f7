"""The forms that start an export, made from the kinds of targets that packages contribute."""

from collections.abc import Iterator
from dataclasses import dataclass

from siloexport.jobs import is_beside
from siloexport.target_kinds import FieldAvailability, FormField, TargetKind, kinds
from silowork.errors import JobRefused
from silowork.forms import Choices
from webui.http.errors import as_sentence
from webui.words.texts import text as _


@dataclass(frozen=True, slots=True)
class ExportForm:
    """A form for one kind of target, or for several with the same heading and fields.

    Attributes:
        fields: The fields with their choices, which may depend on the Silo.
        fault: Why the form cannot be filled in, as a sentence; ``""`` if it can.
    """

    kinds: tuple[TargetKind, ...]
    fields: tuple[tuple[FormField, Choices], ...]
    fault: str = ""

    @property
    def first(self) -> TargetKind:
        """The kind that is selected initially."""
        return self.kinds[0]

    def has(self, kind: str) -> bool:
        """Whether it is the form of a kind of target."""
        return any(one.name == kind for one in self.kinds)

    @property
    def is_file(self) -> bool:
        """Whether it writes a single file."""
        return self.first.write is not None

    @property
    def is_beside(self) -> bool:
        """Whether the export is written beside the Silo under a name."""
        return is_beside(self.first)

    @property
    def places(self) -> Choices:
        """The choices of its field that depends on the Silo, such as the Fedoras."""
        return next((choices for field, choices in self.fields if field.choices_of), ())

    @property
    def is_missing(self) -> bool:
        """Whether a field has no choices."""
        return any(field.choices_of and not choices for field, choices in self.fields)


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """An export in a menu.

    Attributes:
        place: The choice of `ExportForm.places`; ``""`` for a form without.
        label: The heading of the form, and the place.
    """

    form: str
    place: str
    label: str

    @property
    def do(self) -> str:
        """The value of its button."""
        return f"export-{self.form}={self.place}" if self.place else f"export-{self.form}"


def export_entries(silo_path: str) -> Iterator[ExportEntry]:
    """The exports that a menu offers: each form, or each of its places."""
    for form in export_forms(silo_path):
        kind = form.first
        for place, _label in form.places or (("", ""),):
            label = f"{_(kind.heading)}: {place}" if place else _(kind.heading)
            yield ExportEntry(kind.name, place, label)


def export_forms(silo_path: str) -> list[ExportForm]:
    """The forms for all kinds of targets, in their order."""
    groups: dict[object, list[TargetKind]] = {}
    for kind in sorted(kinds(), key=lambda one: (one.order, one.name)):
        shared = (kind.heading, kind.asked(FieldAvailability.PAGE), kind.lacking is None)
        groups.setdefault(shared, []).append(kind)
    return [_form(tuple(some), silo_path) for some in groups.values()]


def _form(some: tuple[TargetKind, ...], silo_path: str) -> ExportForm:
    if (missing := some[0].lacking) is not None:
        return ExportForm(some, (), as_sentence(str(missing)))
    fields = some[0].asked(FieldAvailability.PAGE)
    try:
        listed = tuple(
            (one, one.choices_of(silo_path) if one.choices_of else one.choices) for one in fields
        )
    except JobRefused as error:
        return ExportForm(some, (), as_sentence(str(error)))
    return ExportForm(some, listed)
