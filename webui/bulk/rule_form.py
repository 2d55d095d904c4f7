"""The form of a rule: its changes with their inputs ↔ the table of a rule file (pure)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from recordsilo.selection import Selection, selection_table
from silocuration.editing.fields import sound_text
from silocuration.editing.rule_files import RuleSet, from_table, to_table
from silocuration.editing.rules import Case
from silocuration.errors import RuleRefused
from webui.http.errors import BadRequest
from webui.http.messages import whole_number
from webui.words.texts import text as _

MAX_CHANGES = 100


@dataclass(frozen=True, slots=True)
class ChangeInput:
    """An input of a change; labels and hints are English texts of the catalogue."""

    name: str
    label: str
    kind: Literal["text", "lines", "table", "tick", "case", "how", "finding", "field"] = "text"
    required: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class RuleFormKind:
    """A kind of change, and its inputs besides the field."""

    do: str
    label: str
    inputs: tuple[ChangeInput, ...]


_LANG = ChangeInput(
    "lang", "Language", hint="A language tag such as en. Leave empty for no language."
)
_ONLY_VALUE = ChangeInput("value", "Only this value", hint="Leave empty for all values.")
_PAIRS = (
    "One pair per line: old => new, or separated by a tab. Leave new empty to delete the value."
)
_ONLY_PATTERN = ChangeInput("pattern", "Only values that match this pattern")

KINDS: tuple[RuleFormKind, ...] = (
    RuleFormKind("set", "Set values", (
        ChangeInput("values", "Values", "lines", required=True, hint="One value per line."),
        _LANG)),
    RuleFormKind("add", "Add a value", (ChangeInput("value", "Value", required=True), _LANG)),
    RuleFormKind("replace", "Replace a value", (
        ChangeInput("value", "Value", required=True), ChangeInput("by", "New value"))),
    RuleFormKind("replace pattern", "Replace a pattern", (
        ChangeInput("pattern", "Pattern", required=True, hint="A regular expression."),
        ChangeInput("by", "New value", hint="Use \\1 for the first group."),
        ChangeInput("ignore_case", "Ignore case", "tick"))),
    RuleFormKind("remove", "Remove values", (_ONLY_VALUE, _ONLY_PATTERN)),
    RuleFormKind("split", "Split values", (ChangeInput("separator", "Separator", required=True),)),
    RuleFormKind("trim", "Trim values", (
        ChangeInput("characters", "Also remove these at both ends", hint="For example .,;"),)),
    RuleFormKind("case", "Change case", (ChangeInput("case", "Case", "case", required=True),)),
    RuleFormKind("transform", "Tidy values", (ChangeInput("how", "How", "how", required=True),)),
    RuleFormKind("repair", "Repair a finding", (
        ChangeInput("finding", "Finding", "finding", required=True),)),
    RuleFormKind("map", "Map values", (
        ChangeInput("table", "Old and new values", "table", required=True, hint=_PAIRS),)),
    RuleFormKind("language", "Set language", (
        _LANG, ChangeInput("only", "Only values in this language"))),
    RuleFormKind("move", "Move to another field", (
        ChangeInput("to", "Target field", "field", required=True), _ONLY_VALUE, _ONLY_PATTERN)),
    RuleFormKind("identify", "Write identifiers", ()),
)  # fmt: skip
BY_NAME: Mapping[str, RuleFormKind] = {kind.do: kind for kind in KINDS}
CASES = tuple(one.value for one in Case)
HOWS: Mapping[str, str] = {
    "end": "Remove punctuation at the end",
    "entities": "Replace HTML entities (&amp; becomes &)",
    "tags": "Remove HTML tags",
    "mojibake": "Repair wrongly decoded letters (NÃºria becomes Núria)",
    "family first": "Family name first (Núria Ortega becomes Ortega, Núria)",
    "given first": "Given name first (Ortega, Núria becomes Núria Ortega)",
    "date": "Write dates as 2016-03-31",
    "nfc": "Compose accents (Unicode NFC)",
    "quotes": "Straighten quotation marks",
}
"""Name of a transform → its label, an English text of the catalogue."""
_KEPT_EMPTY = {("replace", "by"), ("replace pattern", "by"), ("language", "lang")}


@dataclass(frozen=True, slots=True)
class RuleForm:
    """A rule that is being edited.

    Attributes:
        search: The query of a search's address, which selects the records.
        identifiers: Only these records, one identifier per line.
        changes: Each as its ``do``, its ``field`` and its inputs, as texts.
        name: Of the rule file that it comes from or will be saved as.
    """

    title: str = ""
    search: str = ""
    identifiers: str = ""
    changes: tuple[Mapping[str, str], ...] = ()
    file: str = ""
    state: str = ""
    keep: bool = False
    name: str = ""
    fresh: int | None = field(default=None, compare=False)

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "RuleForm":
        """Read a submitted form.

        Raises:
            BadRequest: It has too many changes, or one of an unknown kind.
        """
        count = whole_number(values.get("changes", "0"), 0, MAX_CHANGES)
        if count is None:
            raise BadRequest(
                "A rule can have at most {most} changes (field changes).", most=MAX_CHANGES
            )
        return cls(
            title=values.get("title", "").strip(),
            search=values.get("search", "").strip().removeprefix("?"),
            identifiers=values.get("identifiers", ""),
            changes=tuple(_change(values, n) for n in range(count)),
            file=values.get("file", "").strip(),
            state=values.get("state", "").strip(),
            keep=bool(values.get("keep")),
            name=values.get("name", "").strip(),
        )

    @classmethod
    def of_rule(cls, rule_set: RuleSet, name: str, search: str) -> "RuleForm":
        """The form of a saved rule.

        Args:
            name: Its saved name.
            search: The query of a search's address, which selects the records.
        """
        changes = tuple(_as_texts(change) for change in to_table(rule_set).get("change", []))
        return cls(
            rule_set.title, search, "\n".join(rule_set.select.identifiers), changes,
            rule_set.file, rule_set.state or "", rule_set.keep, name,
        )  # fmt: skip

    @property
    def named(self) -> tuple[str, ...]:
        """The pasted identifiers."""
        return tuple(dict.fromkeys(self.identifiers.split()))

    @property
    def field_names(self) -> Iterator[str]:
        """The names of the fields that the rule changes."""
        for change in self.changes:
            names = (
                "field",
                *(one.name for one in BY_NAME[change["do"]].inputs if one.kind == "field"),
            )
            yield from (change[name] for name in names if change.get(name))

    def rule_set(self, select: Selection) -> RuleSet:
        """Return the rule.

        Args:
            select: The selection of `search`; the identifiers are added here.

        Raises:
            RuleRefused: It is invalid.
        """
        if self.named:
            select = replace(select, identifiers=self.named)
        table: dict[str, Any] = {
            "title": self.title,
            "keep": self.keep,
            "file": self.file,
            "select": selection_table(select),
            "change": [_table(change, n) for n, change in enumerate(self.changes, 1)],
        }
        if self.state:
            table["state"] = self.state
        return from_table(table)

    def added(self, do: str, name: str) -> "RuleForm":
        """Return the form with another change of a kind.

        Raises:
            BadRequest: Unknown kind.
        """
        if do not in BY_NAME:
            raise BadRequest(
                "Choose one of these changes: {known} (field add).", known=", ".join(BY_NAME)
            )
        kept = tuple(change for change in self.changes if not _is_blank(change))
        return replace(self, changes=(*kept, {"do": do, "field": name}), fresh=len(kept))

    def with_kind(self, number: str) -> "RuleForm":
        """Return the form with a change whose kind was chosen, to be filled in."""
        place = whole_number(number, 0, MAX_CHANGES)
        return replace(self, fresh=place)

    @property
    def begun(self) -> "RuleForm":
        """With a first change to be filled in."""
        return replace(self, changes=({"do": "replace", "field": ""},))

    def without(self, number: str) -> "RuleForm":
        """Return the form without one of its changes."""
        kept = (change for n, change in enumerate(self.changes) if str(n) != number)
        return replace(self, changes=tuple(kept))


def _is_blank(change: Mapping[str, str]) -> bool:
    """Whether it is the first change, not filled in."""
    return change["do"] == "replace" and not change.get("value") and not change.get("by")


def _change(values: Mapping[str, str], number: int) -> dict[str, str]:
    begin = f"change-{number}-"
    given = {
        name.removeprefix(begin): text for name, text in values.items() if name.startswith(begin)
    }
    if given.get("do") not in BY_NAME:
        raise BadRequest(
            "Change {n} must be one of {known} (field {field}).",
            n=number + 1,
            known=", ".join(BY_NAME),
            field=f"{begin}do",
        )
    return {name: text.replace("\r\n", "\n") for name, text in given.items()}


def _table(change: Mapping[str, str], number: int) -> dict[str, Any]:
    do = change["do"]
    table: dict[str, Any] = {"do": do, "field": change.get("field", "").strip()}
    for one in BY_NAME[do].inputs:
        text = change.get(one.name, "")
        if one.required and not text.strip(" \n"):
            raise RuleRefused(
                _("“{label}” cannot be empty", label=_(one.label)), change=number, part=one.name
            )
        if one.kind == "lines":
            if lines := [line.strip() for line in text.split("\n") if line.strip()]:
                table[one.name] = lines
        elif one.kind == "table":
            table[one.name] = _pairs(text, number)
        elif one.kind == "tick":
            table[one.name] = bool(text)
        elif text or (do, one.name) in _KEPT_EMPTY:
            table[one.name] = sound_text(text) if one.name == "lang" else text
    return table


def _pairs(text: str, number: int) -> dict[str, str]:
    """The pairs of a table: a line that is no pair is a slip, and deletes nothing."""
    found: dict[str, str] = {}
    for line in filter(str.strip, text.split("\n")):
        old, separator, new = line.partition("\t" if "\t" in line else "=>")
        old, new = old.strip(), new.strip()
        if not separator:
            raise RuleRefused(
                _(
                    "the line {line} has no =>; write old => new, or old => to delete",
                    line=repr(old),
                ),
                change=number,
                part="table",
            )
        if found.setdefault(old, new) != new:
            raise RuleRefused(
                _("{old} has two new values; keep one", old=repr(old)),
                change=number,
                part="table",
            )
    return found


def _as_texts(change: Mapping[str, Any]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name, value in change.items():
        if isinstance(value, dict):
            texts[name] = "\n".join(f"{old}\t{new}" for old, new in value.items())
        elif isinstance(value, list):
            texts[name] = "\n".join(value)
        elif value is True:
            texts[name] = "yes"
        else:
            texts[name] = str(value)
    return texts


def rule_name(name: str) -> str:
    """Return a valid name of a rule, which is never a path.

    Raises:
        BadRequest: It is a path.
    """
    if "/" in name or name.endswith(".toml"):
        raise BadRequest("Enter the name of a rule from the list of rules.")
    return name
