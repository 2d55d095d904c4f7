"""The form of a target: its fields, filled in and read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import MOST_OF_A_TITLE, CrawlTarget, Limits
from silocrawl.wishes import (
    OFFERED,
    amount_of,
    amount_text,
    frequency_of,
    texts_of,
    timetable_wished,
)
from silowork.due.timetable import Timetable, moment_of
from webui.crawling.opening import told
from webui.http.errors import BadRequest
from webui.schedule_forms import in_words
from webui.site import Call
from webui.words.texts import text as _

SAME = "same"
"""The choice of a timetable that no frequency is."""
FREQUENCIES = {
    "once": "Once",
    "daily": "Every day",
    "weekly": "Every week",
    "monthly": "Every month",
    "quarterly": "Every three months",
    "six-monthly": "Every six months",
    "annual": "Every year",
}
SCOPES = {
    ScopeKind.PAGE: "The page",
    ScopeKind.DOCUMENTS: "The page and the documents it links to",
    ScopeKind.PATH: "What is below its directory",
    ScopeKind.ROOT: "Its host",
    ScopeKind.SUBDOMAINS: "Its domain with subdomains",
}
"""English texts of the catalogue, like the above."""
LIMITS = {"pages": "Addresses", "bytes": "Bytes", "hours": "Hours", "hops": "Hops"}
_WHEN = ("frequency", "start", "end", "zone")
_HOUR = 3600
T = TypeVar("T")


def frequency_said(wish: Timetable) -> str:
    """How often a target is launched, in words."""
    name = frequency_of(wish)
    return _(FREQUENCIES[name]) if name else in_words(wish)


def filled_in(one: CrawlTarget | None = None) -> dict[str, str]:
    """The fields of the form as text: of a target, or of a new one."""
    limits, scope = (one.limits, one.scope) if one else (Limits(), Scope())
    found = {
        "title": one.title if one else "",
        "scope": scope.kind.value,
        "plus_one": "yes" if scope.plus_one else "",
        "render": "yes" if one and one.is_rendered else "",
        "ignore": "\n".join(scope.ignore),
        "pages": str(limits.pages),
        "bytes": amount_text(limits.bytes),
        "hours": str(limits.seconds // _HOUR),
        "hops": str(limits.hops),
    }
    if one is None:
        return found | {"frequency": "monthly", "start": "", "end": "", "zone": "UTC"}
    when = texts_of(one.when)
    return found | when | {"frequency": when["frequency"] or SAME}


def read(call: Call, one: CrawlTarget | None = None) -> Mapping[str, Any]:
    """Read the form; fields that were not sent stay as they are.

    Returns:
        Attributes of a target.

    Raises:
        BadRequest: Names the field that is wrong.
    """
    given = _Given(call, filled_in(one))
    if len(given.text("title")) > MOST_OF_A_TITLE:
        raise BadRequest("A title has at most {n} characters.", n=MOST_OF_A_TITLE).at("title")
    kind = given.converted("scope", _scope)
    ignore = tuple(filter(None, map(str.strip, given.text("ignore").splitlines())))
    with told(call, "ignore"):
        scope = Scope(kind, given.is_ticked("plus_one", beside="scope"), ignore)
    numbers = {name: given.converted(name, amount_of) for name in LIMITS}
    numbers["seconds"] = numbers.pop("hours") * _HOUR
    if one is not None and given.text("hours") == given.before["hours"]:
        numbers["seconds"] = one.limits.seconds
    for name, number in numbers.items():
        with told(call, "hours" if name == "seconds" else name):
            Limits(**{name: number})
    when = _when(given, one)
    return {
        "title": given.text("title"),
        "scope": scope,
        "limits": Limits(**numbers),
        "when": when,
        "is_rendered": given.is_ticked("render", beside="scope"),
    }


@dataclass(frozen=True, slots=True)
class _Given:
    """What was sent, over what the form had."""

    call: Call
    before: Mapping[str, str]

    def text(self, name: str) -> str:
        return self.call.field(name, self.before[name])

    def is_ticked(self, name: str, *, beside: str) -> bool:
        """Whether a box is ticked; of a form without the field beside it, as before."""
        fields = self.call.form.fields
        return bool(fields.get(name) if beside in fields else self.before[name])

    def converted(self, name: str, convert: Callable[[str], T]) -> T:
        with told(self.call, name):
            return convert(self.text(name) or self.before[name])


def _when(given: _Given, one: CrawlTarget | None) -> Timetable:
    """The timetable: as it was, if its fields are."""
    texts = {name: given.text(name) for name in _WHEN}
    if one is not None and all(texts[name] == given.before[name] for name in _WHEN):
        return one.when
    if texts["frequency"] not in OFFERED:
        said = "Choose how often the target is launched (frequency): {known}."
        raise BadRequest(said, known=", ".join(OFFERED)).at("frequency")
    for name in ("start", "end"):
        if texts[name]:
            given.converted(name, moment_of)
    with told(given.call, "zone"):
        wish = timetable_wished(**texts)
    return replace(wish, is_paused=one is not None and one.when.is_paused)


def _scope(text: str) -> ScopeKind:
    if text not in list(ScopeKind):
        raise BadRequest("The scope is one of {known}.", known=", ".join(ScopeKind)).at("scope")
    return ScopeKind(text)
