"""Traits of a sample record, computed from its number without composing it.

Listing and filtering need only these, so a repository of a million records is a million small
numbers.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from oaipmhprovider.sample.dice import Dice
from oaipmhprovider.sample.vocabulary import vocabulary

FIRST_CHANGE = int(datetime(2014, 9, 1, 9, 2, 17, tzinfo=UTC).timestamp())
LAST_CHANGE = int(datetime(2025, 3, 28, 16, 41, 5, tzinfo=UTC).timestamp())
BATCH_DAY = datetime(2017, 7, 14, tzinfo=UTC)
"""The day on which the records of a merged college were loaded."""

_BATCH_COMMITS = tuple(
    int(BATCH_DAY.timestamp()) + seconds for seconds in (40_271, 40_271, 40_272, 46_808, 59_999)
)
_BATCH_BEGINS, _BATCH_ENDS = 0.26, 0.38
_OFFICE_OPENS, _OFFICE_CLOSES = 8 * 3600, 19 * 3600
_DAY = 86_400

KINDS = (
    "article",
    "thesis",
    "conference_item",
    "book_section",
    "monograph",
    "book",
    "dataset",
)
_KIND_OF_HUNDRED = (
    ["article"] * 52
    + ["thesis"] * 14
    + ["conference_item"] * 14
    + ["book_section"] * 7
    + ["monograph"] * 6
    + ["book"] * 4
    + ["dataset"] * 3
)
_ENGLISH_PERCENT = 74
_DELETED_PERCENT = 3
_FRONT_MATTER_PERCENT = 55
_CHANGED_LATER_PERCENT = 18
_SALT = 1000


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of one record; they can be encoded in a small number.

    Attributes:
        kind: The EPrints type.
        discipline: Index into `Vocabulary.disciplines`.
        tongue: Index into `Vocabulary.tongues`; None for English.
        deleted: Whether it has been deleted.
        front_matter: Whether it is available as JATS front matter.
    """

    kind: str
    discipline: int
    tongue: int | None
    deleted: bool
    front_matter: bool

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return the metadata formats of the record."""
        if self.kind == "thesis":
            return ("oai_dc", "uketd_dc")
        return ("oai_dc", "pmc_fm") if self.front_matter else ("oai_dc",)

    @property
    def code(self) -> int:
        """Return a number below 8,192 from which `traits_of_code` makes the same traits."""
        tongue = 0 if self.tongue is None else self.tongue + 1
        return (
            KINDS.index(self.kind) << 10
            | self.discipline << 6
            | tongue << 2
            | self.deleted << 1
            | self.front_matter
        )


def traits_of_code(code: int) -> Traits:
    """Return the traits of a `Traits.code`."""
    tongue = code >> 2 & 15
    return Traits(
        KINDS[code >> 10],
        code >> 6 & 15,
        tongue - 1 if tongue else None,
        bool(code & 2),
        bool(code & 1),
    )


def traits_of(number: int) -> Traits:
    """Return the traits of a record, from its number."""
    dice = Dice(number, _SALT)
    kind = _KIND_OF_HUNDRED[dice.below(100)]
    tongue = None if dice.chance(_ENGLISH_PERCENT) else dice.below(len(vocabulary().tongues))
    if tongue is None:
        discipline = dice.below(len(vocabulary().disciplines))
    else:
        discipline = _index_of_class()[dice.pick(vocabulary().tongues[tongue].topics)[2]]
    front_matter = kind == "article" and dice.chance(_FRONT_MATTER_PERCENT)
    return Traits(kind, discipline, tongue, dice.chance(_DELETED_PERCENT), front_matter)


def changed_at(number: int, index: int, size: int) -> int:
    """Return when a record was last changed, in seconds since the epoch.

    Args:
        number: The record's number.
        index: Its index among the ``size`` records in the order of deposit.
        size: The size of the repository.
    """
    dice = Dice(number, _SALT + 100)
    place = index / size
    batch = _BATCH_BEGINS <= place < _BATCH_ENDS
    later = index and dice.chance(_CHANGED_LATER_PERCENT // (3 if batch else 1))
    if batch and not later:
        return dice.pick(_BATCH_COMMITS)
    deposited = FIRST_CHANGE + int((LAST_CHANGE - FIRST_CHANGE) * place)
    if not later:
        return _in_office_hours(deposited, dice) if index else deposited
    changed = deposited + dice.below(LAST_CHANGE - deposited)
    return _in_office_hours(changed, dice)


def _in_office_hours(moment: int, dice: Dice) -> int:
    midnight = moment - moment % _DAY
    second = _OFFICE_OPENS + dice.below(_OFFICE_CLOSES - _OFFICE_OPENS)
    return max(midnight + second, FIRST_CHANGE)


def deposited_on(index: int, size: int) -> datetime:
    """Return the day on which a record was deposited."""
    seconds = FIRST_CHANGE + int((LAST_CHANGE - FIRST_CHANGE) * index / size)
    return datetime.fromtimestamp(seconds, UTC)


@cache
def _index_of_class() -> dict[str, int]:
    return {one.path[-1]: index for index, one in enumerate(vocabulary().disciplines)}
