"""Three-way merge of a record's fields: base, ours and theirs (pure).

*Base* is the version that the curator copied, *ours* the edited copy, *theirs* the newest
version of the source. If one side did not change a field, the other side's values are taken. If
both did, the additions and removals of both are applied, unless both replaced the same value by
different ones: a person decides these.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from silocuration.editing.fields import Field, Fields, values_of, with_values

Said = tuple[str, str]
"""Text (white space folded) and language of a value."""


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that both sides changed in different ways."""

    name: str
    base: Fields
    ours: Fields
    theirs: Fields


@dataclass(frozen=True, slots=True)
class Merge:
    """The result of a merge.

    Attributes:
        fields: The fields, to be written into *their* metadata file; fields in conflict are
            theirs.
        conflicts: In the order of the fields.
        from_ours: The names of the fields that have values of ours.
    """

    fields: Fields
    conflicts: tuple[FieldConflict, ...] = ()
    from_ours: tuple[str, ...] = ()


def merge(base: Fields, ours: Fields, theirs: Fields) -> Merge:
    """Merge the fields of three versions of a record."""
    fields = theirs
    conflicts: list[FieldConflict] = []
    from_ours: list[str] = []
    for name in dict.fromkeys(one.name for one in (*theirs, *ours, *base)):
        three = [values_of(side, name) for side in (base, ours, theirs)]
        wanted = _merged(*three)
        if wanted is None:
            conflicts.append(FieldConflict(name, *three))
        elif wanted != _said(three[2]):
            values = [Field(name, text, lang) for text, lang in wanted]
            fields = with_values(fields, _named(name), values)
            from_ours.append(name)
    return Merge(fields, tuple(conflicts), tuple(from_ours))


def _named(name: str) -> Callable[[Field], bool]:
    return lambda one: one.name == name


def _merged(base: Fields, ours: Fields, theirs: Fields) -> list[Said] | None:
    """Return the merged values of one field; None if a person must decide."""
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
    """Whether the sides changed a field with a single value in different ways."""
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
