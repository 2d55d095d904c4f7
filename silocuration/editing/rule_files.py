"""Stored rules: ``curation/rules/<name>.toml`` in the Silo ↔ `RuleSet` (docs/curation.md).

The page or a person writes these files; they can be kept under version control like any text. A
file is checked completely when it is read, and an error names the file and the change in it.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from dataclasses import field as member
from reprlib import repr as shortened
from typing import Any

import tomli_w

from recordsilo.disk.atomic_file import make_within, replace_file
from recordsilo.disk.regular_file import open_regular
from recordsilo.disk.toml_files import MOST_BYTES, SUFFIX, TomlInvalid, load_toml
from recordsilo.errors import SearchError, did_you_mean
from recordsilo.formats import FORMATS, format_of_file
from recordsilo.records.manifest import STATES
from recordsilo.selection import Selection, selection_from, selection_table
from silocuration.authorities import read_authorities
from silocuration.editing.fields import field_names, unknown_field
from silocuration.editing.rules import (
    Add,
    Case,
    ChangeCase,
    Identify,
    MapValues,
    Move,
    Remove,
    Repair,
    Replace,
    ReplacePattern,
    Rule,
    SetLanguage,
    SetValues,
    Split,
    Transform,
    Trim,
    check,
)
from silocuration.errors import RuleNotFound, RuleRefused, UnknownField

RULES = "curation/rules"
MAIN = "oai_dc"
"""The file that is changed if a rule does not name one, and the version has it."""
_FILE_NAME = re.compile(r"[^\W_][\w .-]{0,99}")

_KINDS: Mapping[str, type[Rule]] = {
    "set": SetValues,
    "add": Add,
    "replace": Replace,
    "replace pattern": ReplacePattern,
    "remove": Remove,
    "split": Split,
    "trim": Trim,
    "case": ChangeCase,
    "map": MapValues,
    "language": SetLanguage,
    "move": Move,
    "transform": Transform,
    "identify": Identify,
    "repair": Repair,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules, and the records that they change.

    Attributes:
        title: Its purpose, in one line.
        select: The records.
        rules: Applied to the records' fields, in this order.
        state: The new status of the working copies; None does not change it.
        file: The metadata file to change; if empty: ``oai_dc``, else the version's first
            file with fields.
        keep: Whether to apply the rules after later harvests too.
    """

    title: str = ""
    select: Selection = member(default_factory=Selection)
    rules: tuple[Rule, ...] = ()
    state: str | None = None
    file: str = ""
    keep: bool = False


def rule_to_table(rule: Rule) -> dict[str, Any]:
    """Return a rule as a TOML table or JSON object, without default values."""
    table: dict[str, Any] = {"do": _NAMES[type(rule)]}
    for one in fields(rule):
        value = getattr(rule, one.name)
        if one.default is not MISSING and value == one.default:
            continue
        if one.default_factory is not MISSING and value == one.default_factory():
            continue
        table[one.name] = _plain(value)
    return table


def rule_from(table: Mapping[str, Any]) -> Rule:
    """Read a rule from a table.

    Raises:
        RuleRefused: It is invalid.
    """
    given = dict(table)
    do = given.pop("do", None)
    kind = _KINDS.get(do) if isinstance(do, str) else None
    if kind is None:
        raise RuleRefused(f"do must be one of {', '.join(map(repr, _KINDS))}, not {shortened(do)}")
    known = {one.name: one for one in fields(kind)}
    if unknown := given.keys() - known:
        raise RuleRefused(f"{do!r} does not take {', '.join(sorted(unknown))}")
    needed = {
        name
        for name, one in known.items()
        if one.default is MISSING and one.default_factory is MISSING
    }
    if missing := needed - given.keys():
        names = sorted(missing)
        raise RuleRefused(f"{do!r} needs {', '.join(names)}", part=names[0])
    return check(kind(**{name: _READ[name](name, value) for name, value in given.items()}))


def to_table(rule_set: RuleSet) -> dict[str, Any]:
    """Return a rule set as the table of a TOML file."""
    table: dict[str, Any] = {"title": rule_set.title, "keep": rule_set.keep}
    if rule_set.file:
        table["file"] = rule_set.file
    if rule_set.state:
        table["state"] = rule_set.state
    table["select"] = selection_table(rule_set.select)
    table["change"] = [rule_to_table(rule) for rule in rule_set.rules]
    return table


def from_table(table: Mapping[str, Any]) -> RuleSet:
    """Read a rule set.

    Raises:
        RuleRefused: A key or a value is invalid; the message says which, and in which change.
    """
    known = {"title", "keep", "file", "state", "select", "change"}
    if unknown := table.keys() - known:
        raise RuleRefused(
            f"a rule file has no key {', '.join(sorted(unknown))}"
            f"{did_you_mean(min(unknown), known)}"
        )
    state, file = table.get("state"), _text("file", table.get("file", ""))
    if state is not None and state not in STATES:
        raise RuleRefused(f"state must be one of {', '.join(STATES)}, not {shortened(state)}")
    changes = table.get("change", [])
    if not isinstance(changes, list) or not all(isinstance(one, dict) for one in changes):
        raise RuleRefused("write each change as [[change]]")
    rules: list[Rule] = []
    for number, one in enumerate(changes, 1):
        try:
            rules.append(rule_from(one))
            _check_written(rules[-1], file)
        except RuleRefused as error:
            raise RuleRefused(error.reason, change=number, part=error.part) from None
        except UnknownField as error:
            part = "to" if isinstance(rules[-1], Move) else "field"
            raise RuleRefused(str(error), change=number, part=part) from None
    if len({isinstance(one, Identify) for one in rules}) > 1:
        raise RuleRefused("'identify' stands alone: other changes need a rule of their own")
    try:
        select = selection_from(table.get("select", {}))
    except SearchError as error:
        raise RuleRefused(f"select: {error}") from None
    return RuleSet(
        _text("title", table.get("title", "")),
        select,
        tuple(rules),
        state,
        file,
        _truth("keep", table.get("keep", False)),
    )


def _check_written(rule: Rule, file: str) -> None:
    """Check that the file can have the field to which a rule writes new values.

    Formats that this library does not know, and prefixes that a document declares, are checked
    when the document is written.

    Raises:
        UnknownField: The format does not have the field.
    """
    written = rule.to if isinstance(rule, Move) else rule.field
    prefix = written.rpartition(":")[0]
    one = format_of_file(file or MAIN)
    known = known_fields(file)
    if (
        isinstance(rule, SetValues | Add | Move)
        and written not in known
        and one.names is not None
        and (not prefix or any(name.startswith(f"{prefix}:") for name in known))
    ):
        what = one.name if file else f"{one.name} (name the file for another format)"
        raise unknown_field(written, known, what)


def known_fields(file: str) -> tuple[str, ...]:
    """Return the fields of a metadata file's format; without a name, those of all formats."""
    formats = (format_of_file(file),) if file else FORMATS
    return tuple(name for one in formats for name in field_names(one))


def absent_fields(rule_set: RuleSet, seen: Collection[str], who: str) -> tuple[str, ...]:
    """Return a remark on each field that changes read but no format or record has.

    Args:
        seen: The fields of the records.
        who: The records, as the subject of the sentence: ``no record``.
    """
    there = {*known_fields(rule_set.file), *seen}
    there.update(
        rule.to if isinstance(rule, Move) else rule.field
        for rule in rule_set.rules
        if isinstance(rule, SetValues | Add | Move)
    )
    asked = dict.fromkeys(rule.field for rule in rule_set.rules if not isinstance(rule, Identify))
    return tuple(
        f"{who} has a field {name!r}{did_you_mean(name, there)}"
        for name in asked
        if name not in there
    )


def with_identifiers(silo_path: str, about: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the description of a job, in which changes by authority files have their tables.

    Raises:
        AuthoritiesUnreadable: An authority file is malformed.
    """
    rules: Mapping[str, Any] = about.get("rules") or {}
    changes = rules.get("change", ())
    if not any(one["do"] == "identify" and not one.get("table") for one in changes):
        return about
    settled = [
        {**one, "table": {known.value: known.id for known in
                          read_authorities(silo_path, one["field"]).values()}}
        if one["do"] == "identify" and not one.get("table") else one
        for one in changes
    ]  # fmt: skip
    return {**about, "rules": {**rules, "change": settled}}


# --------------------------------------------------------------------------- files


def rules_directory(silo_path: str) -> str:
    """Return the directory of a Silo's rule files."""
    return os.path.join(silo_path, *RULES.split("/"))


def rule_names(silo_path: str) -> list[str]:
    """Return the names of the stored rules, sorted."""
    try:
        found = os.listdir(rules_directory(silo_path))
    except FileNotFoundError:
        return []
    return sorted(name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX))


def load_rules(silo_path: str, name: str) -> RuleSet:
    """Read a rule file by its name, or by its path.

    Raises:
        RuleRefused: There is no such file, it is not TOML, or it is invalid.
    """
    path = _path(silo_path, name)
    try:
        of_silo = os.path.dirname(path) == rules_directory(silo_path)
        return from_table(load_toml(path, follow=not of_silo))
    except FileNotFoundError:
        there = ", ".join(rule_names(silo_path)) or "none"
        raise RuleNotFound(f"there is no rule {name!r}; those here: {there}") from None
    except (RuleRefused, TomlInvalid) as error:
        raise RuleRefused(f"{path}: {error}") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or error
        raise RuleRefused(f"{path!r} cannot be read: {reason}") from None


def rules_text(silo_path: str, name: str) -> str | None:
    """Return the text of a rule file; None if there is no such rule.

    Raises:
        RuleRefused: The name is invalid.
    """
    path = os.path.join(rules_directory(silo_path), _checked_name(name) + SUFFIX)
    try:
        with open_regular(path, follow=False) as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RuleRefused(f"{path!r} cannot be read: {error.strerror}") from None


def save_rules(silo_path: str, name: str, rule_set: RuleSet) -> str:
    """Write a rule file, completely or not at all; return its path.

    Raises:
        RuleRefused: The name is invalid.
    """
    directory = rules_directory(silo_path)
    path = os.path.join(directory, _checked_name(name) + SUFFIX)
    make_within(silo_path, directory)
    write_rules(path, rule_set)
    return path


def write_rules(path: str, rule_set: RuleSet) -> None:
    """Write a rule file at any path, completely or not at all."""
    replace_file(os.path.abspath(path), as_toml(rule_set).encode())


def as_toml(rule_set: RuleSet) -> str:
    """The text of a rule file."""
    return tomli_w.dumps(to_table(rule_set))


def delete_rules(silo_path: str, name: str) -> None:
    """Delete a rule file.

    Raises:
        RuleRefused: There is no such rule, or the name is invalid.
    """
    try:
        os.unlink(os.path.join(rules_directory(silo_path), _checked_name(name) + SUFFIX))
    except FileNotFoundError:
        raise RuleNotFound(f"there is no rule {name!r}") from None


def kept_rules(silo_path: str) -> Iterator[tuple[str, RuleSet]]:
    """Yield the rules to apply after harvests: (name, rules).

    Raises:
        RuleRefused: One of the files cannot be read.
    """
    for name in rule_names(silo_path):
        rule_set = load_rules(silo_path, name)
        if rule_set.keep:
            yield name, rule_set


def _path(silo_path: str, name: str) -> str:
    if name.endswith(SUFFIX) or os.sep in name:
        return name
    return os.path.join(rules_directory(silo_path), _checked_name(name) + SUFFIX)


def _checked_name(name: str) -> str:
    if not _FILE_NAME.fullmatch(name) or name.endswith((" ", ".")):
        raise RuleRefused(
            f"{name!r} is not a valid rule name; use letters, digits, spaces and -_.", part="name"
        )
    return name


# --------------------------------------------------------------------------- values


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return (
        dict(value)
        if isinstance(value, Mapping)
        else str(value)
        if isinstance(value, Case)
        else value
    )


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RuleRefused(f"{name} must be a text, not {shortened(value)}")
    return value


def _truth(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise RuleRefused(f"{name} must be true or false, not {shortened(value)}")
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise RuleRefused(f"{name} must be a list of texts, not {shortened(value)}")
    return tuple(_text(name, one) for one in value)


def _table(name: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise RuleRefused(f"{name} must be a table of texts, not {shortened(value)}")
    return {str(old): _text(name, new) for old, new in value.items()}


def _case(name: str, value: Any) -> Case:
    try:
        return Case(value)
    except ValueError:
        raise RuleRefused(
            f"{name} must be one of {', '.join(Case)}, not {shortened(value)}"
        ) from None


_READ: Mapping[str, Callable[[str, Any], Any]] = {
    "field": _text,
    "values": _texts,
    "value": _text,
    "lang": _text,
    "by": _text,
    "pattern": _text,
    "ignore_case": _truth,
    "separator": _text,
    "characters": _text,
    "case": _case,
    "table": _table,
    "only": _text,
    "to": _text,
    "how": _text,
    "finding": _text,
}
