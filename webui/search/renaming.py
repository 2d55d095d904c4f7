"""Rename values of a field in all records of a search: the form, its counts and its rule."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recordsilo.index.projection import MAX_FACET
from recordsilo.selection import Selection
from silocuration.batch.specs import JobSpec
from silocuration.editing.fields import sound_text
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import MapValues, Replace, Rule, check
from silocuration.errors import RuleRefused
from silocuration.review.counts import CLUSTERED, RenameCounts
from webui import urls
from webui.http.errors import BadRequest
from webui.http.messages import parse_pairs
from webui.search.request import Pair, SearchRequest
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

MOST = 1000
"""Most values that become one at once."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """Values of a field, and the new value that they get.

    Attributes:
        field: A facet with values of a field (`CLUSTERED`), or an element of Dublin Core that
            is no facet.
        values: The old values, each once.
        search: The query of a search's address, in whose records they are renamed.
        message: Why.
    """

    field: str
    values: tuple[str, ...]
    to: str = ""
    search: str = ""
    message: str = ""

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "Renaming":
        """Read the fields of an address or a form: ``value`` or ``value-N`` for each old value.

        Raises:
            BadRequest: No field or no value is given, or too many values.
        """
        given = [(name, value) for name, value in pairs if value]
        single = dict(given)
        values = [v for name, v in given if name == "value" or name.startswith("value-")]
        found = tuple(dict.fromkeys(values))
        field = single.get("field", "")
        if not field:
            raise BadRequest("Choose the field whose values are renamed (field).")
        if not found:
            raise BadRequest("Choose a value to rename (value).")
        if len(found) > MOST:
            raise BadRequest("Rename at most {most} values at once (value).", most=numeral(MOST))
        return cls(
            field,
            found,
            single.get("to", ""),
            single.get("search", "").strip().removeprefix("?"),
            single.get("message", ""),
        )

    @property
    def new(self) -> str:
        """The new value; empty until one is typed that differs from the only old one."""
        to = sound_text(self.to)
        return "" if self.values == (to,) else to

    @property
    def is_facet(self) -> bool:
        """Whether the index has the values, so that the records can be counted."""
        return self.field in CLUSTERED

    @property
    def element(self) -> str:
        """The element of Dublin Core whose values are renamed."""
        return CLUSTERED.get(self.field, self.field)

    @property
    def request(self) -> SearchRequest:
        """The search in whose records the values are renamed, without the facet's own filters."""
        found = SearchRequest.of(parse_pairs(self.search))
        return found.without_field(self.field) if self.is_facet else found

    @property
    def found(self) -> SearchRequest:
        """The search that finds the records with one of the values, if the index has them."""
        if not self.is_facet:
            return self.request
        chosen = tuple((self.field, value) for value in self.values)
        return replace(self.request, chosen=(*self.request.chosen, *chosen))

    @property
    def select(self) -> Selection:
        """The records that are changed."""
        return self.found.selection

    def rule_set(self) -> RuleSet:
        """Return the rule that renames the values.

        Raises:
            RuleRefused: The new value is empty or the only old one, or an old value is cut in
                the index.
        """
        to = sound_text(self.to)
        old = tuple(value for value in self.values if sound_text(value) != to)
        if not to:
            raise RuleRefused(_("enter the new value"), part="to")
        if not old:
            raise RuleRefused(_("the new value is the same as the old one"), part="to")
        if self.is_facet and max(map(len, old)) >= MAX_FACET:
            raise RuleRefused(
                _(
                    "a value is longer than {most} characters, which is all that facets have of "
                    "it; replace it by a pattern in a batch edit",
                    most=MAX_FACET,
                ),
                part="to",
            )
        rule: Rule = (
            Replace(self.element, old[0], to)
            if len(old) == 1
            else MapValues(self.element, dict.fromkeys(old, to))
        )
        return RuleSet(select=self.select, rules=(check(rule),))


def rename_url(search: str, field: str, values: Iterable[str] = ()) -> str:
    """The address of the form that renames values.

    Args:
        search: The query of the search in whose records they are renamed.
        field: See `Renaming`.
        values: The old values.
    """
    pairs = [("field", field), *(("value", one) for one in values)]
    return f"{urls.rename()}?{urls.query([*pairs, ('search', search)] if search else pairs)}"


def told(found: RenameCounts, new: str) -> str:
    """What renaming would do, in words; without a new value, how many records have the old."""
    said = _changing(found, new)
    if found.elsewhere:
        said += f" {_beside(found.elsewhere)}"
    if not new or not found.having or not found.already:
        return said
    others = counted(
        "{n} record has the new value already.",
        "{n} records have the new value already.",
        found.already,
    )
    if not found.both:
        return f"{said} {others}"
    both = counted("{n} of them has both.", "{n} of them have both.", found.both)
    return f"{said} {others} {both}"


def _changing(found: RenameCounts, new: str) -> str:
    if not found.having:
        return _("No record changes.")
    if found.elsewhere:
        return counted(
            "{n} of the {all} records that have the value changes.",
            "{n} of the {all} records that have the value change.",
            found.having,
            all=numeral(found.having + found.elsewhere),
        )
    if not new:
        return counted("{n} record has the value.", "{n} records have the value.", found.having)
    return counted("{n} record changes.", "{n} records change.", found.having)


def _beside(others: int) -> str:
    return counted(
        "{n} record that has it is not among these results and stays as it is.",
        "{n} records that have it are not among these results and stay as they are.",
        others,
    )


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The records with a value that a batch edit does not change, as its page tells of them.

    Attributes:
        said: How many.
        url: The form that renames the value in all records.
    """

    said: str
    url: str

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> "Elsewhere | None":
        """Read what `noted` stored with a batch edit; None if there is nothing to tell."""
        found = about.get(_NOTED)
        if not found:
            return None
        having, others = int(found["records"]), int(found["elsewhere"])
        said = _(
            "Of {all} records that have the value, {n} are among the results.",
            all=numeral(having + others),
            n=numeral(having),
        )
        return cls(f"{said} {_beside(others)}", _url_of(found))


_NOTED = "renamed"


def _url_of(found: Mapping[str, Any]) -> str:
    """The address of the form that renames the same in all records."""
    url = rename_url("", str(found["field"]), [str(one) for one in found["values"]])
    return f"{url}&{urls.query([('to', str(found['to']))])}"


def noted(spec: JobSpec, renaming: Renaming, counts: RenameCounts | None) -> JobSpec:
    """Return a batch edit that stores how many records have the value and are not changed."""
    if counts is None or not counts.elsewhere:
        return spec
    told_of = {
        "records": counts.having,
        "elsewhere": counts.elsewhere,
        "field": renaming.field,
        "values": list(renaming.values),
        "to": renaming.to,
    }
    return replace(spec, about={**spec.about, _NOTED: told_of})


def counts_as_json(found: RenameCounts | None, new: str) -> Mapping[str, object] | None:
    """The counts as a program gets them."""
    if found is None:
        return None
    return {
        "records": found.having,
        "already": found.already,
        "both": found.both,
        "elsewhere": found.elsewhere,
        "said": told(found, new),
        "edit": _("Edit all {n}", n=numeral(found.having)) if found.having else "",
        "all": _("Rename in all records") if found.elsewhere else "",
    }
