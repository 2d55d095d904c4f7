"""Expressions whose steps are bounded by construction, so that `re` can run them (pure).

The package ``regex`` can end a search that takes too long, but a search by it costs a multiple.
An expression of the usual kind needs no such end: it is of single characters, classes of them,
groups and alternatives, and only single characters repeat. `most_steps` counts the steps that a
search by backtracking takes at worst in a text of `LONGEST` characters. In the printable ASCII
characters `re` and ``regex`` find the same for all that is read here; the tests compare them.

A repeated class that what follows cannot begin with ends at one place only: whatever was given
back, the next character is of the class. Likewise where all that follows may be empty, the first
attempt succeeds. Everywhere else a repeat multiplies the attempts at what follows.
"""

import re
from dataclasses import dataclass
from typing import TypeAlias

LONGEST = 1000
"""Most characters of a text."""
MAX_STEPS = 20_000_000
"""A tenth of a second at worst: 4 to 6 ns a step, measured."""
_PRINTABLE = "".join(map(chr, range(32, 127)))
_ANY = frozenset(_PRINTABLE)
_CLASSES = {one: frozenset(re.findall(rf"\{one}", _PRINTABLE)) for one in "dDsSwW"}
_SPECIAL = frozenset("\\.^$*+?{}[]()|")
_COUNT = re.compile(r"\{(\d{1,4})(,(\d{1,4})?)?\}", re.ASCII)
_SET_OPERATION = re.compile(r"--|&&|\|\||~~")
"""What may get a meaning in classes; ``regex`` has it in its other syntax."""
_GROUP = re.compile(r"\((?:\?:|\?P<[A-Za-z_]\w*>|(?!\?))", re.ASCII)
Letters: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A character of a class, as often as this."""

    letters: Letters
    least: int = 1
    most: int = 1


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of several sequences."""

    ways: "tuple[_Sequence, ...]"


_END = _Repeat(frozenset())
"""The end of the text, before which there is no character."""
_Sequence: TypeAlias = tuple["_Repeat | _Choice", ...]


class _Unread(Exception):  # no error
    """The expression is not of the kind that is read here."""


class _ExpressionReader:
    """Reads an expression, from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def whole(self) -> tuple[_Sequence, ...]:
        """Return the alternatives."""
        ways = self._ways()
        if self._at < len(self._text):
            raise _Unread
        return ways

    def _ways(self) -> tuple[_Sequence, ...]:
        ways = [self._sequence()]
        while self._text.startswith("|", self._at):
            self._at += 1
            ways.append(self._sequence())
        return tuple(ways)

    def _sequence(self) -> _Sequence:
        items: list[_Repeat | _Choice] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            if self._text[self._at] == "$":
                self._at += 1
                if self._count() != (1, 1):
                    raise _Unread
                items.append(_END)
            elif group := _GROUP.match(self._text, self._at):
                items += self._group(group.end())
            else:
                letters = self._letters()
                items.append(_Repeat(letters, *self._count()))
        return tuple(items)

    def _group(self, start: int) -> _Sequence:
        self._at = start
        ways = self._ways()
        if not self._text.startswith(")", self._at):
            raise _Unread
        self._at += 1
        least, most = self._count()
        if most != 1:
            raise _Unread
        if not least:
            ways += ((),)
        return ways[0] if len(ways) == 1 else (_Choice(ways),)

    def _letters(self) -> Letters:
        letter = self._text[self._at]
        self._at += 1
        if letter == ".":
            return _ANY
        if letter == "[":
            return self._class()
        if letter == "\\":
            return self._escaped()
        if letter in _SPECIAL or letter not in _ANY:
            raise _Unread
        return frozenset(letter)

    def _escaped(self) -> Letters:
        letter = self._text[self._at : self._at + 1]
        self._at += 1
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter not in _ANY or letter.isalnum():
            raise _Unread
        return frozenset(letter)

    def _class(self) -> Letters:
        is_not, begun = self._text.startswith("^", self._at), self._at
        self._at += is_not
        found: set[str] = set()
        while not self._text.startswith("]", self._at) or not found:
            one = self._member()
            after = self._text[self._at : self._at + 2]
            if after[:1] == "-" and after != "-]":
                self._at += 1
                last = self._member()
                if len(one) > 1 or len(last) > 1 or min(one) > min(last):
                    raise _Unread
                one = frozenset(map(chr, range(ord(min(one)), ord(min(last)) + 1)))
            found |= one
        if _SET_OPERATION.search(self._text, begun, self._at):
            raise _Unread
        self._at += 1
        return _ANY - found if is_not else frozenset(found)

    def _member(self) -> Letters:
        letter = self._text[self._at : self._at + 1]
        self._at += 1
        if letter == "\\":
            return self._escaped()
        if letter not in _ANY or letter in "[]":
            raise _Unread
        return frozenset(letter)

    def _count(self) -> tuple[int, int]:
        """Read how often what is before may be there; `LONGEST` stands for any number."""
        sign, least, most = self._text[self._at : self._at + 1], 1, 1
        if not sign or sign not in "*+?{":
            return least, most
        if sign == "{":
            found = _COUNT.match(self._text, self._at)
            if found is None:
                raise _Unread
            self._at = found.end()
            least = int(found[1])
            most = least if found[2] is None else LONGEST if found[3] is None else int(found[3])
            if most < least:
                raise _Unread
        else:
            self._at += 1
            least, most = {"*": (0, LONGEST), "+": (1, LONGEST), "?": (0, 1)}[sign]
        if self._text.startswith("?", self._at):  # as few as possible: as many attempts
            self._at += 1
        if self._text[self._at : self._at + 1] in {"*", "+", "?", "{"}:
            raise _Unread
        return least, min(most, max(least, LONGEST))


@dataclass(frozen=True, slots=True)
class _After:
    """What follows a part of an expression.

    Attributes:
        first: What it may begin with, if it is not empty.
        is_sure: Whether it fits everywhere, because all of it may be empty.
        tries: Most steps until it fails at its first character.
    """

    first: Letters
    is_sure: bool
    tries: int = 1


_NOTHING = _After(frozenset(), is_sure=False)


def _before(way: _Sequence, after: _After) -> _After:
    """Return what a sequence with what follows it is to what is before it."""
    for item in reversed(way):
        if isinstance(item, _Repeat):
            first, may_be_empty, tries = item.letters, not item.least, 1
            if may_be_empty:
                first, tries = first | after.first, 1 + after.tries
        else:
            each = [_before(one, after) for one in item.ways]
            first = frozenset().union(*(one.first for one in each))
            tries = 1 + sum(one.tries for one in each)
            may_be_empty = any(map(_may_be_empty, item.ways))
        after = _After(first, may_be_empty and after.is_sure, tries)
    return after


def _may_be_empty(way: _Sequence) -> bool:
    return all(
        item.least == 0 if isinstance(item, _Repeat) else any(map(_may_be_empty, item.ways))
        for item in way
    )


def _cost(way: _Sequence, after: _After) -> tuple[int, int]:
    """Return the most steps of one attempt at a sequence, and at how many places it may end."""
    costs: list[tuple[int, int]] = []
    for item in reversed(way):
        costs.append(_cost_of(item, after))
        after = _before((item,), after)
    steps, ways = 1, 1
    for more, ends in reversed(costs):
        steps += ways * more
        ways *= ends
    return steps, ways


def _cost_of(item: _Repeat | _Choice, after: _After) -> tuple[int, int]:
    if isinstance(item, _Repeat):
        is_one = item.least == item.most or after.is_sure or not item.letters & after.first
        gives_back = 0 if item.least == item.most else item.most - item.least
        steps = item.most + 1 + gives_back * after.tries
        return steps, 1 if is_one else gives_back + 1
    each = [_cost(way, after) for way in item.ways]
    return sum(steps for steps, _ in each), 1 if after.is_sure else sum(ends for _, ends in each)


def most_steps(expression: str, *, whole: bool = False) -> int | None:
    """Return the most steps of a search in a text of `LONGEST` printable ASCII characters.

    Args:
        expression: In the syntax of `re`.
        whole: Whether the whole text has to match.

    Returns:
        None if the expression is not of the kind that is read here.
    """
    anchored = expression.startswith("^")
    try:
        ways = _ExpressionReader(expression[anchored:]).whole()
    except (_Unread, RecursionError):
        return None
    if len(ways) > 1 and anchored:
        return None  # only one of the alternatives is
    after = _NOTHING if whole else _After(_ANY, is_sure=True)
    steps, _ = _cost((_Choice(ways),), after)
    return steps if anchored or whole else steps * (LONGEST + 1)


def as_re(expression: str, *, whole: bool = False) -> "re.Pattern[str] | None":
    """Compile an expression for `re`, if its steps are bounded; else return None."""
    steps = most_steps(expression, whole=whole)
    if steps is None or steps > MAX_STEPS:
        return None
    try:
        return re.compile(expression)
    except re.error:  # two groups of one name
        return None


def is_readable(text: str) -> bool:
    """Whether the bound is true for a text, and both engines find the same in it."""
    return len(text) <= LONGEST and text.isascii() and text.isprintable()
