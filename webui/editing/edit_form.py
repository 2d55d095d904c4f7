"""The form of a description: values of fields, and what its buttons do (pure).

A form includes the values it started with. On saving, they show whether someone changed the
record in the meantime; if so, they are the base of the three-way view.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from recordsilo.formats.known.dublin_core import OAI_DC
from recordsilo.formats.quality import QualityFinding
from silocuration.editing.fields import (
    LANGUAGE_TAG,
    Field,
    Fields,
    said,
    sound_text,
    values_of,
    with_values,
)
from silocuration.editing.merge import merge
from webui.http.errors import BadRequest
from webui.http.messages import whole_number

DUBLIN_CORE = OAI_DC.fields
"""The fifteen elements, in the order of the specification."""
MAX_VALUES = 1500
SAVE = "save"
_ACTION = re.compile(
    r"(?P<what>remove|up|down)-(?P<number>\d{1,5})|(?P<side>base|theirs)-(?P<name>.+)"
)


@dataclass(frozen=True, slots=True)
class EditForm:
    """A description that is being edited.

    Attributes:
        fields: The values as they are in the form; empty ones are dropped on saving.
        base: The values the form started with.
        was: After a conflicting change, what both sides started with; else None.
        fresh: The number of the value to go on with, such as one just added; or None.
    """

    fields: Fields
    base: Fields
    was: Fields | None = None
    fresh: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "EditForm":
        """Read a submitted form.

        Raises:
            BadRequest: It was not made by this page.
        """
        base = _from_json(values.get("base", "[]"))
        was = _from_json(values["was"]) if values.get("was") else None
        count = whole_number(values.get("values", ""), 0, MAX_VALUES)
        if count is None:
            raise BadRequest(
                "A form must give its number of values (field values), at most {most}.",
                most=MAX_VALUES,
            )
        known = {field.place: field for field in base}
        rows = (_row(values, n, known) for n in range(count))
        return cls(tuple(row for row in rows if row is not None), base, was)

    @property
    def wanted(self) -> Fields:
        """The values to save: those that are not empty."""
        return tuple(field for field in self.fields if field.folded)

    @property
    def loses_title(self) -> bool:
        """Whether saving would remove the only title."""
        return any(one.name == "title" and one.folded for one in self.base) and not any(
            one.name == "title" for one in self.wanted
        )

    @property
    def wrong_languages(self) -> tuple[str, ...]:
        """The languages to save that are not language tags; those that were stored may stay."""
        stored = {one.lang for one in self.base}
        given = dict.fromkeys(one.lang for one in self.wanted)
        return tuple(tag for tag in given if tag not in stored and not LANGUAGE_TAG.fullmatch(tag))

    @property
    def unsaved(self) -> tuple[str, ...]:
        """The fields whose values differ from those that the form was opened with.

        A value that was added and is still empty is no difference.
        """
        fields = tuple(one for one in self.fields if one.folded or one.place is not None)
        names = dict.fromkeys(one.name for one in (*fields, *self.base))
        return tuple(
            name for name in names if values_of(fields, name) != values_of(self.base, name)
        )

    @property
    def title(self) -> str:
        """The title that the description had when the form was opened; ``""`` if none."""
        return next((one.folded for one in self.base if one.name == "title" and one.folded), "")

    @property
    def base_json(self) -> str:
        """The base, for a hidden field."""
        return _to_json(self.base)

    @property
    def was_json(self) -> str:
        """What both sides started with, for a hidden field; empty without a conflict."""
        return "" if self.was is None else _to_json(self.was)

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that have values, in the order of Dublin Core, then the others."""
        used = dict.fromkeys(field.name for field in self.fields)
        first = [name for name in DUBLIN_CORE if name in used]
        return (*first, *(name for name in used if name not in DUBLIN_CORE))

    @property
    def addable(self) -> tuple[str, ...]:
        """The fields a value can be added to."""
        return (*DUBLIN_CORE, *(name for name in self.names if name not in DUBLIN_CORE))

    def rows(self, name: str) -> tuple[tuple[int, Field], ...]:
        """The values of a field with their numbers in the form."""
        return tuple((n, field) for n, field in enumerate(self.fields) if field.name == name)

    # ------------------------------------------------------------------ its buttons

    def after(self, action: str, values: Mapping[str, str]) -> "EditForm":
        """Return the form after a button was pressed.

        Args:
            action: ``add`` (of field ``add``), ``add-title``, ``remove-3``, ``up-3``, ``down-3``,
                ``theirs-title``, ``base-title``.
            values: The submitted fields.

        Raises:
            BadRequest: Unknown button.
        """
        if action == "add":
            return self._added(values.get("add", "").strip())
        if action.startswith("add-"):
            return self._added(action.removeprefix("add-"))
        match = _ACTION.fullmatch(action)
        if match is None:
            raise BadRequest("Unknown action (field do).")
        if match["name"]:
            return self._taken(match["name"], match["side"])
        number = int(match["number"])
        if number >= len(self.fields):
            raise BadRequest("This form has fewer values.")
        if match["what"] == "remove":
            return replace(self, fields=(*self.fields[:number], *self.fields[number + 1 :]))
        return self._moved(number, -1 if match["what"] == "up" else 1)

    def at(self, found: Sequence[QualityFinding], code: str) -> "EditForm":
        """The form at the value that a finding is about; a missing value is added."""
        for number, field in enumerate(self.fields):
            if any(one.code == code for one in about(field, found)):
                return replace(self, fresh=number)
        for one in found:
            if one.code == code and not one.value and (name := self.lacking(one)):
                return self._added(name)
        return self

    def lacking(self, finding: QualityFinding) -> str:
        """The field that a finding says has no value; ``""`` if it is about something else."""
        names = (name for name in self.addable if finding.field.startswith(name))
        return "" if finding.value else next(names, "")

    def _added(self, name: str) -> "EditForm":
        if name not in self.addable:
            raise BadRequest(
                "Values can be added only to these fields: {known}.", known=", ".join(self.addable)
            )
        places = [n for n, _ in self.rows(name)]
        end = places[-1] + 1 if places else len(self.fields)
        fields = (*self.fields[:end], Field(name, ""), *self.fields[end:])
        return replace(self, fields=fields, fresh=end)

    def _moved(self, number: int, by: int) -> "EditForm":
        """Swap with the next value of the same field; at the end, nothing changes."""
        places = [n for n, _ in self.rows(self.fields[number].name)]
        at = places.index(number) + by
        if not 0 <= at < len(places):
            return self
        fields, other = list(self.fields), places[at]
        fields[number], fields[other] = fields[other], fields[number]
        return replace(self, fields=tuple(fields))

    def _taken(self, name: str, side: str) -> "EditForm":
        """A field's values from the present record, or from what both sides started with."""
        chosen = values_of((self.was or ()) if side == "base" else self.base, name)
        wanted = [one._replace(place=None) for one in chosen] if side == "base" else chosen
        return replace(self, fields=with_values(self.fields, _named(name), wanted))

    # ------------------------------------------------------------------ conflicts

    def is_stale(self, now: Fields) -> bool:
        """Whether the record has changed since the form was opened."""
        return now != self.base

    def against(self, now: Fields) -> "EditForm":
        """Return the form merged with a conflicting change, to be reviewed and saved again.

        If both sides changed a field, the form keeps its own values."""
        merged = merge(self.base, self.wanted, now)
        fields = merged.fields
        for conflict in merged.conflicts:
            ours = [one._replace(place=None) for one in conflict.ours]
            fields = with_values(fields, _named(conflict.name), ours)
        return EditForm(fields, now, self.base)

    def differing(self) -> tuple["Differing", ...]:
        """The fields that differ between the three sides of a conflict."""
        if self.was is None:
            return ()
        sides = (self.was, self.wanted, self.base)
        names = dict.fromkeys(one.name for side in sides for one in side)
        found = (Differing(name, *(values_of(side, name) for side in sides)) for name in names)
        return tuple(one for one in found if one.differs)


@dataclass(frozen=True, slots=True)
class Differing:
    """A field with three sides: what both started with, the form's values, and the present ones."""

    name: str
    base: Fields
    ours: Fields
    theirs: Fields

    @property
    def differs(self) -> bool:
        """Whether the three sides differ."""
        return len({said(self.base), said(self.ours), said(self.theirs)}) > 1


def about(field: Field, found: Sequence[QualityFinding]) -> tuple[QualityFinding, ...]:
    """The findings about a value of a form."""
    return tuple(
        one
        for one in found
        if one.value and one.value == field.folded and one.field.startswith(field.name)
    )


def _named(name: str) -> Callable[[Field], bool]:
    return lambda field: field.name == name


def _row(values: Mapping[str, str], number: int, known: Mapping[int | None, Field]) -> Field | None:
    name = values.get(f"name-{number}", "").strip()
    if not name:
        return None
    text = values.get(f"text-{number}", "").replace("\r\n", "\n")
    lang = sound_text(values.get(f"lang-{number}", ""))
    place = values.get(f"place-{number}", "")
    at = whole_number(place, 0, 10**9)
    before = None if at is None else known.get(at)
    if before is None or before.name != name:
        return Field(name, sound_text(text), lang)
    if text == before.text.replace("\r\n", "\n"):
        return before._replace(lang=lang)
    return before._replace(text=sound_text(text), lang=lang)


def _to_json(fields: Fields) -> str:
    rows = [[one.name, one.text, one.lang, one.place] for one in fields]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _from_json(text: str) -> Fields:
    try:
        return tuple(_checked(*row) for row in json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise BadRequest("The form does not say which version it edits (field base).") from None


def _checked(name: object, text: object, lang: object, place: object) -> Field:
    if not (isinstance(name, str) and isinstance(text, str) and isinstance(lang, str)):
        raise TypeError
    if place is not None and not isinstance(place, int):
        raise TypeError
    return Field(name, text, lang, place)
