"""Rules: changes to the fields of a record, as values, and their application (pure).

A rule does the same to one record as to ten thousand. Applied twice, it changes nothing the
second time (`Add` does not add an existing value; `Replace` no longer finds its value).
`ReplacePattern`, `Split` and `Trim` can be written so that they do change more; a preview shows
it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as member
from dataclasses import fields as members
from enum import StrEnum
from time import monotonic, thread_time
from typing import Any

import regex

from silocuration.authorities import FIELDS
from silocuration.editing.fields import (
    LANGUAGE_TAG,
    Field,
    Fields,
    said,
    sound_text,
    with_values,
)
from silocuration.editing.patterns import check_replacement, compiled, finds, replaced
from silocuration.editing.repairs import REPAIRS, repaired
from silocuration.editing.transforms import TRANSFORMS
from silocuration.errors import RecordTooSlow, RuleRefused, TooMuch

MAX_CHARACTERS = 100_000
"""Most characters of a value that a rule writes; a value that was longer may keep its length."""
MAX_PARTS = 10_000
"""Most values that one value is split into."""
RECORD_SECONDS = 2.0
"""Most seconds of CPU time on one record, for each rule and for all; reasonable ones take
milliseconds."""


class Case(StrEnum):
    """Upper or lower case."""

    LOWER = "lower"
    UPPER = "upper"
    TITLE = "title"
    SENTENCE = "sentence"


@dataclass(frozen=True, slots=True)
class SetValues:
    """Give the field these values and no others."""

    field: str
    values: tuple[str, ...]
    lang: str = ""


@dataclass(frozen=True, slots=True)
class Add:
    """Add this value to the field."""

    field: str
    value: str
    lang: str = ""


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace this value of the field by another."""

    field: str
    value: str
    by: str


@dataclass(frozen=True, slots=True)
class ReplacePattern:
    """Replace the matches of a pattern in the field's values.

    Attributes:
        pattern: A regular expression of the package ``regex``.
        by: The replacement; may refer to groups: ``\\1``, ``\\g<year>``.
        ignore_case: Whether upper and lower case match each other.
    """

    field: str
    pattern: str
    by: str
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove values of the field: one, those that a pattern matches, or all.

    Attributes:
        value: Only this value.
        pattern: Only values that it matches somewhere.
    """

    field: str
    value: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """Split the field's values at each separator."""

    field: str
    separator: str


@dataclass(frozen=True, slots=True)
class Trim:
    """Remove outer and repeated white space from the field's values, and these characters.

    Attributes:
        characters: Also removed from both ends, such as ``.,;``.
    """

    field: str
    characters: str = ""


@dataclass(frozen=True, slots=True)
class ChangeCase:
    """Change the case of the field's values."""

    field: str
    case: Case


@dataclass(frozen=True, slots=True)
class MapValues:
    """Replace each value in the table by its new value; an empty one removes it."""

    field: str
    table: Mapping[str, str] = member(hash=False)


@dataclass(frozen=True, slots=True)
class SetLanguage:
    """Set the language of the field's values.

    Attributes:
        lang: A language tag; empty removes it.
        only: Only values that have this language now; ``""``: those without a language.
    """

    field: str
    lang: str
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """Move values of one field to another, at the same place.

    Attributes:
        to: The other field.
        value: Only this value.
        pattern: Only values that it matches somewhere.
    """

    field: str
    to: str
    value: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Transform:
    """Change the field's values by a named transform.

    Attributes:
        how: A key of `transforms.TRANSFORMS`.
    """

    field: str
    how: str


@dataclass(frozen=True, slots=True)
class Identify:
    """Write the identifiers of the field's values into the metadata; see `identify`.

    Attributes:
        field: ``creator`` (also of contributors), ``contributor``, ``publisher`` (also of
            affiliations) or ``subject``.
        table: Value → identifier; empty: the Silo's authority file of the field, as it is when
            the change is planned.
    """

    field: str
    table: Mapping[str, str] = member(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Repair:
    """Repair the field's values that have a finding, where it is certain what they mean.

    Attributes:
        finding: A key of `repairs.REPAIRS`.
    """

    field: str
    finding: str


Rule = (
    SetValues
    | Add
    | Replace
    | ReplacePattern
    | Remove
    | Split
    | Trim
    | ChangeCase
    | MapValues
    | SetLanguage
    | Move
    | Transform
    | Identify
    | Repair
)
"""A change to the fields of a record."""


def apply(rules: Iterable[Rule], fields: Fields) -> Fields:
    """Apply rules to fields, one after the other; return the new fields.

    A value that a rule made empty, or equal to another of its field in the same language, is
    removed; values that were so before stay.

    Raises:
        PatternTooSlow, RecordTooSlow: A pattern took too long on a value, or the rules took too
            long on the record.
        TooMuch: A value would exceed `MAX_CHARACTERS`, or become more than `MAX_PARTS`.
        RuleRefused: A pattern is malformed.
    """
    begun = _times()
    for rule in rules:
        changed = _APPLY[type(rule)](rule, fields)
        fields = fields if changed == fields else _without_made_doubles(fields, changed)
        _check_time(begun)
    return fields


def _times() -> tuple[float, float]:
    """The time of the clock, and what this thread used of the processor."""
    return monotonic(), thread_time()


def _check_time(begun: tuple[float, float]) -> None:
    """Raise an error if the thread used too much since; the clock, which is faster, goes first."""
    if monotonic() - begun[0] > RECORD_SECONDS and thread_time() - begun[1] > RECORD_SECONDS:
        raise RecordTooSlow(RECORD_SECONDS)


def check(rule: Rule) -> Rule:
    """Check a rule, and return it.

    Raises:
        RuleRefused: The rule is invalid; the message says why.
    """
    if not rule.field:
        raise RuleRefused("a rule must name the field that it changes", part="field")
    longest = max(len(text) for one in members(rule) for text in _texts(getattr(rule, one.name)))
    if longest > MAX_CHARACTERS:
        raise RuleRefused(
            f"a value has {longest:,} characters; shorten it to {MAX_CHARACTERS:,} at most"
        )
    if isinstance(rule, Remove | Move) and rule.pattern is not None:
        compiled(rule.pattern)
    if isinstance(rule, SetValues | Add | SetLanguage) and not LANGUAGE_TAG.fullmatch(rule.lang):
        raise RuleRefused(
            f"{rule.lang!r} is not a language tag; write one such as en or zh-Hant", part="lang"
        )
    if isinstance(rule, Remove | Move) and None not in {rule.value, rule.pattern}:
        raise RuleRefused("a rule takes a value or a pattern, not both", part="pattern")
    if isinstance(rule, Split) and not rule.separator.strip(" "):
        raise RuleRefused(
            "a value is split at a separator, which cannot be empty", part="separator"
        )
    if isinstance(rule, Transform) and rule.how not in TRANSFORMS:
        known = ", ".join(TRANSFORMS)
        raise RuleRefused(f"there is no transform {rule.how!r}; there are {known}", part="how")
    if isinstance(rule, Identify) and rule.field not in FIELDS:
        known = ", ".join(FIELDS)
        raise RuleRefused(f"{rule.field!r} has no identifiers; choose {known}", part="field")
    if isinstance(rule, Repair) and rule.finding not in REPAIRS:
        raise RuleRefused(
            f"{rule.finding!r} is not a finding that a rule repairs; those are"
            f" {', '.join(REPAIRS)}",
            part="finding",
        )
    if isinstance(rule, ReplacePattern):
        check_replacement(compiled(rule.pattern, ignore_case=rule.ignore_case), rule.by)
    return rule


def _texts(value: Any) -> Iterable[str]:
    """Yield the texts in an attribute of a rule."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    return value if isinstance(value, tuple) else ()


def _without_made_doubles(before: Fields, after: Fields) -> Fields:
    """Remove values that a change made empty, or equal to another."""
    untouched = set(map(id, before))
    touched = [one for one in after if id(one) not in untouched]
    fields = {one.name for one in touched}
    known = {one for one in before if one.name in fields}
    made = {id(one) for one in touched if one not in known}
    taken = {one.said() for one in after if one.name in fields and id(one) not in made}
    kept: list[Field] = []
    for one in after:
        if id(one) in made:
            if not one.folded or one.said() in taken:
                continue
            taken.add(one.said())
        kept.append(one)
    return tuple(kept)


# --------------------------------------------------------------------------- each rule


def _each(
    fields: Fields, name: str, change: Callable[[Field], Iterable[Field]]
) -> tuple[Field, ...]:
    """Replace every value of a field by none, one or several."""
    begun = _times()
    found: list[Field] = []
    for one in fields:
        if one.name == name:
            found += change(one)
            _check_time(begun)
        else:
            found.append(one)
    return tuple(found)


def _after_last(fields: Fields, name: str, added: Iterable[Field]) -> Fields:
    """Add values after the last one of their field, or at the end."""
    places = [place for place, one in enumerate(fields) if one.name == name]
    end = places[-1] + 1 if places else len(fields)
    return (*fields[:end], *added, *fields[end:])


def _set_values(rule: SetValues, fields: Fields) -> Fields:
    wanted = dict.fromkeys(filter(None, map(sound_text, rule.values)))
    new = [Field(rule.field, text, rule.lang) for text in wanted]
    if said(one for one in fields if one.name == rule.field) == said(new):
        return fields
    return with_values(fields, lambda one: one.name == rule.field, new)


def _add(rule: Add, fields: Fields) -> Fields:
    new = Field(rule.field, sound_text(rule.value), rule.lang)
    there = any(one.said() == new.said() for one in fields)
    return fields if there or not new.text else _after_last(fields, rule.field, [new])


def _replace(rule: Replace, fields: Fields) -> Fields:
    old = " ".join(rule.value.split())
    return _each(
        fields, rule.field, lambda one: [one.with_text(rule.by) if one.folded == old else one]
    )


def _replace_pattern(rule: ReplacePattern, fields: Fields) -> Fields:
    pattern = compiled(rule.pattern, ignore_case=rule.ignore_case)

    def changed(one: Field) -> list[Field]:
        most = max(MAX_CHARACTERS, len(one.text))
        return [one.with_text(replaced(pattern, rule.by, one.text, most))]

    return _each(fields, rule.field, changed)


def _remove(rule: Remove, fields: Fields) -> Fields:
    return _each(
        fields, rule.field, lambda one: () if _meant(one, rule.value, rule.pattern) else (one,)
    )


def _split(rule: Split, fields: Fields) -> Fields:
    def parts(one: Field) -> list[Field]:
        if one.text.count(rule.separator) >= MAX_PARTS:
            raise TooMuch(f"would get more than {MAX_PARTS:,} values of one")
        texts = [text for part in one.text.split(rule.separator) if (text := sound_text(part))]
        if rule.separator not in one.text or not texts:
            return [one]
        return [one.with_text(texts[0]), *(Field(one.name, text, one.lang) for text in texts[1:])]

    return _each(fields, rule.field, parts)


def _trim(rule: Trim, fields: Fields) -> Fields:
    def trimmed(one: Field) -> list[Field]:
        text = " ".join(one.folded.strip(rule.characters + " ").split())
        return [one if text == one.text else one._replace(text=text)]

    return _each(fields, rule.field, trimmed)


def _change_case(rule: ChangeCase, fields: Fields) -> Fields:
    return _each(fields, rule.field, lambda one: [one._replace(text=_CASES[rule.case](one.text))])


def _map_values(rule: MapValues, fields: Fields) -> Fields:
    table = {" ".join(old.split()): new for old, new in rule.table.items()}

    def mapped(one: Field) -> Iterable[Field]:
        new = table.get(one.folded)
        if new is None:
            return (one,)
        return (one.with_text(new),) if new.strip() else ()

    return _each(fields, rule.field, mapped)


def _set_language(rule: SetLanguage, fields: Fields) -> Fields:
    def changed(one: Field) -> list[Field]:
        wanted = rule.only is None or one.lang == rule.only
        return [one._replace(lang=rule.lang) if wanted else one]

    return _each(fields, rule.field, changed)


def _move(rule: Move, fields: Fields) -> Fields:
    return _each(
        fields,
        rule.field,
        lambda one: [one._replace(name=rule.to) if _meant(one, rule.value, rule.pattern) else one],
    )


def _transform(rule: Transform, fields: Fields) -> Fields:
    change = TRANSFORMS[rule.how]
    return _each(fields, rule.field, lambda one: [one.with_text(change(one.text))])


def _repair(rule: Repair, fields: Fields) -> Fields:
    return _each(
        fields, rule.field, lambda one: [one.with_text(repaired(one.folded, rule.finding))]
    )


def _meant(one: Field, value: str | None, pattern: str | None) -> bool:
    if value is not None and one.folded != " ".join(value.split()):
        return False
    return pattern is None or finds(pattern, one.text)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].lower()


def _title(text: str) -> str:
    """Capitalize each word; ``str.title`` breaks words at apostrophes."""
    return regex.sub(r"\w[\w'’]*", lambda word: word[0][0].upper() + word[0][1:].lower(), text)


_CASES: Mapping[Case, Callable[[str], str]] = {
    Case.LOWER: str.lower,
    Case.UPPER: str.upper,
    Case.TITLE: _title,
    Case.SENTENCE: _sentence,
}


_APPLY: Mapping[type, Callable[..., Fields]] = {
    SetValues: _set_values,
    Add: _add,
    Replace: _replace,
    ReplacePattern: _replace_pattern,
    Remove: _remove,
    Split: _split,
    Trim: _trim,
    ChangeCase: _change_case,
    MapValues: _map_values,
    SetLanguage: _set_language,
    Move: _move,
    Transform: _transform,
    Identify: lambda _rule, fields: fields,  # it changes other elements; see `changes`
    Repair: _repair,
}
