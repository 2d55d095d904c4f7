"""Which path means which record, and what was done with it (pure)."""

import functools
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from usagestats.bounded import is_readable
from usagestats.expressions import Expression
from usagestats.store.tables import naming
from usagestats.values import Use, UseKind

Resolve = Callable[[str], str]
"""An identifier in any form → in full form, where the Silo holds it."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of address; the first pattern that is found in a path decides.

    Attributes:
        path: A regular expression, searched in the path without its query.
        record: The record's identifier, from the expression's groups: ``uuid:{id}``;
            ``{link}`` stands for the path itself: then it is the record with that link.
            ``{by_uuid}`` stands for the record that has the UUID of the group ``uuid``; without
            one, the pattern does not fit.
        kind: What such a request is.
        link: The path that ``{link}`` stands for, from the expression's groups; ``""``: the path
            of the request.
        is_ours: Whether it is of a profile: then it needs no limits, which cost a multiple of the
            search.
    """

    path: str
    record: str
    kind: UseKind
    link: str = ""
    is_ours: bool = False

    @property
    def expression(self) -> "Expression | re.Pattern[str]":
        """Return the expression of the path, which is checked if it is a user's."""
        return re.compile(self.path) if self.is_ours else self.checked()

    def checked(self) -> Expression:
        """Compile the expression of a user.

        Raises:
            ValueError: It is invalid, or `record` or `link` names a group that it does not have.
        """
        with naming("path"):
            expression = Expression(self.path)
        for what, text in ((RECORD, self.record), (LINK, self.link)):
            named = _names_in(text, what)
            if what == RECORD:
                named = named - {LINK, BY_UUID} | ({_UUID} if BY_UUID in named else set())
            if lacking := sorted(named - expression.groups):
                raise ValueError(
                    f"the {what} {text!r} names the group {lacking[0]!r}, "
                    f"which the path {self.path!r} does not have"
                )
        return expression

    def linked(self, path: str, found: "re.Match[str]") -> str:
        """Return the path that ``{link}`` stands for."""
        if not self.link:
            return path
        return self.link.format_map({name: text or "" for name, text in found.groupdict().items()})


RECORD, LINK, BY_UUID = "record", "link", "by_uuid"
_UUID = "uuid"
_CONTROLS = re.compile("[\x00-\x1f\x7f]")


def pattern_from(known: Any) -> Pattern:
    """Make a pattern from a table ``[[pattern]]``.

    Raises:
        ValueError: A value is missing or invalid.
    """
    if not isinstance(known, Mapping) or set(known) - {"path", RECORD, LINK, "kind"}:
        raise ValueError("a pattern has the values path, record, kind and link")
    texts = {name: known.get(name, "") for name in ("path", RECORD)}
    if not all(isinstance(text, str) and text for text in texts.values()):
        raise ValueError("a pattern needs a path and a record, both texts")
    link = known.get(LINK, "")
    if not isinstance(link, str):
        raise ValueError("the link of a pattern is a text")  # noqa: TRY004  # of a file
    kind = str(known.get("kind"))
    if kind not in [*UseKind]:
        raise ValueError(f"the kind of a pattern is view, download or other, not {kind!r}")
    pattern = Pattern(texts["path"], texts[RECORD], UseKind(kind), link)
    pattern.checked()
    return pattern


def _names_in(template: str, what: str) -> set[str]:
    """Return the names in braces of a template.

    Raises:
        ValueError: It is malformed, or has more than names.
    """
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"the {what} {template!r} is invalid: {error}") from error
    if any(form or conversion for _, _, form, conversion in fields):
        raise ValueError(f"the {what} {template!r} has more than names in braces")
    return {name for _, name, _, _ in fields if name is not None}


class Patterns:
    """Patterns in their order.

    Args:
        resolve: Finds the full form of an identifier.
        by_link: Finds the record with a link to this path; ``""`` if there is none.
        by_uuid: Finds the record that has a UUID, or a file with it; ``""`` if there is none.
    """

    def __init__(
        self,
        patterns: Sequence[Pattern],
        resolve: Resolve = lambda text: text,
        by_link: Resolve = lambda _: "",
        by_uuid: Resolve = lambda _: "",
    ) -> None:
        self._patterns = [
            (one.expression, one, frozenset(_names_in(one.record, RECORD))) for one in patterns
        ]
        self._resolve, self._by_link, self._by_uuid = resolve, by_link, by_uuid
        self.use = functools.lru_cache(20_000)(self.find)

    @property
    def own(self) -> list[Expression]:
        """Return the expressions of the user."""
        return [one for one, *_ in self._patterns if isinstance(one, Expression)]

    def find(self, path: str) -> Use | None:
        """Return the use that a request for a path is; None if no pattern is found in it.

        `use` remembers what it returned for some thousand paths.
        """
        plain = is_readable(path)
        for expression, pattern, named in self._patterns:
            if plain and isinstance(expression, Expression):
                found = expression.plain_search(path)
            else:
                found = expression.search(path)
            if found is None:
                continue
            groups: dict[str, str] = found.groupdict("")
            if not plain or "%" in path:
                groups = {name: _plain(unquote(text)) for name, text in groups.items()}
            if BY_UUID in named:
                groups[BY_UUID] = self._by_uuid(groups[_UUID].lower())
                if not groups[BY_UUID]:
                    continue
            item, file = "", groups.get("file", "")
            if LINK in named:
                link = pattern.linked(path, found)
                item, groups[LINK] = self._by_link(link), _plain(link)
            item = item or self._resolve(pattern.record.format_map(groups))
            return Use(item, pattern.kind, file) if item else None
        return None


def _plain(text: str) -> str:
    """Percent-encode control characters, which no identifier has, but any request may have."""
    if text.isprintable():
        return text
    return _CONTROLS.sub(lambda found: f"%{ord(found[0]):02X}", text)
