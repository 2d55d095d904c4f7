"""Three states of a record's fields made one: base, ours and theirs (pure).

*Base* is what a curator began with, *ours* what became of it, *theirs* what the source
has now. Field by field: where one side left a field as it was, the other's is taken.
Where both changed it, what each added and took away is done to it, unless both took
away the same value and put different ones in its place: that is for a person to decide.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from silocuration.editing.fields import Field, Fields, values_of, with_values

Said = tuple[str, str]
"""Text, white space folded, and language of a value."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that both sides changed, each in its own way."""

    name: str
    base: Fields
    ours: Fields
    theirs: Fields


@dataclass(frozen=True, slots=True)
class Merge:
    """What came of a merge.

    Attributes:
        fields: The fields, to be written into *their* metadata file; where there is a
            conflict they are theirs.
        conflicts: In the order of the fields.
        from_ours: The names of fields in which ours shows.
    """

    fields: Fields
    conflicts: tuple[Conflict, ...] = ()
    from_ours: tuple[str, ...] = ()


def merge(base: Fields, ours: Fields, theirs: Fields) -> Merge:
    """Merge three states of a record's fields."""
    fields = theirs
    conflicts: list[Conflict] = []
    from_ours: list[str] = []
    for name in dict.fromkeys(one.name for one in (*theirs, *ours, *base)):
        three = [values_of(side, name) for side in (base, ours, theirs)]
        wanted = _merged(*three)
        if wanted is None:
            conflicts.append(Conflict(name, *three))
        elif wanted != _said(three[2]):
            values = [Field(name, text, lang) for text, lang in wanted]
            fields = with_values(fields, _named(name), values)
            from_ours.append(name)
    return Merge(fields, tuple(conflicts), tuple(from_ours))


def _named(name: str) -> Callable[[Field], bool]:
    return lambda one: one.name == name


def _merged(base: Fields, ours: Fields, theirs: Fields) -> list[Said] | None:
    """The values of one field; None where a person has to decide."""
    was, mine, their = _said(base), _said(ours), _said(theirs)
    if was in (their, mine) or mine == their:
        return mine if was == their else their
    gone_here, gone_there = Counter(was) - Counter(mine), Counter(was) - Counter(their)
    new_here, new_there = Counter(mine) - Counter(was), Counter(their) - Counter(was)
    if (gone_here & gone_there and new_here != new_there) or _clash(
        new_here, gone_here, new_there, gone_there
    ):
        return None
    wanted = (Counter(their) | new_here) - (gone_here - gone_there)
    order = [*their, *(one for one in mine if one in new_here)]
    return _ordered(order, wanted)


def _clash(
    new_here: Counter[Said], gone_here: Counter[Said], new_there: Counter[Said],
    gone_there: Counter[Said],
) -> bool:  # fmt: skip
    """Whether the sides did different things to a field of a single value."""
    replaced_here = sum(gone_here.values()) and sum(new_here.values())
    replaced_there = sum(gone_there.values()) and sum(new_there.values())
    return bool(replaced_here and replaced_there and not (gone_here - gone_there))


def _ordered(order: Iterable[Said], wanted: Counter[Said]) -> list[Said]:
    left, found = Counter(wanted), []
    for one in order:
        if left[one] > 0:
            left[one] -= 1
            found.append(one)
    return found


def _said(values: Fields) -> list[Said]:
    return [(one.folded, one.lang) for one in values]
