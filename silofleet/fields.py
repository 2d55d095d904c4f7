"""Values of a fleet as JSON, and as rows of its ledger: each field by its type. Pure.

Nothing that comes from a broker is believed before it is checked.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from politeweb.errors import shortened
from silofleet.errors import FleetRefused
from silofleet.values import Endpoint, RunOutcome
from silofleet.wishes import endpoint_of, table_of

T = TypeVar("T")
_LONGEST_TEXT = 20_000
_LARGEST_FRACTION = 86_400.0
"""The largest number that need not be whole: an interval in seconds."""


def to_json(value: Any) -> dict[str, Any]:
    """Return the fields of a value by name, of the values in it too; a wish as in its file."""
    return {
        name: _written(getattr(value, name), one) for name, (one, _) in _types(type(value)).items()
    }


def _written(value: Any, kind: type) -> Any:
    if kind is Endpoint:
        return table_of(value)
    return stored(value) if value is None or kind in _READ else to_json(value)


def stored(value: Any) -> Any:
    """Return a field as it is stored: a moment as text in UTC, a duration in seconds."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds")
    return value.total_seconds() if isinstance(value, timedelta) else value


def of_json(kind: type[T], text: str | bytes, what: str) -> T:
    """Read a value from the text of `to_json`, perhaps of another release.

    Fields that it does not have are ignored, and those that the text lacks are None if they may be.

    Args:
        what: Names it in the error.

    Raises:
        FleetRefused: Not a valid one.
    """
    try:
        return _read(kind, json.loads(text))
    except (
        LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError,
        FleetRefused,
    ) as error:  # fmt: skip
        raise FleetRefused(f"{what} in the broker is malformed: {error!r}") from None


def of_row(kind: type[T], row: Sequence[Any]) -> T:
    """Read a row of the ledger with a column for each field, in their order."""
    values = list(row)
    for place, read in _stored_otherwise(kind):
        if values[place] is not None:
            values[place] = read(values[place])
    return kind(*values)


def columns(kind: type) -> str:
    """Return the names of the fields, for SQL."""
    return ", ".join(_types(kind))


def whole_number(value: Any) -> int:
    """Read a value from elsewhere as a number that the ledger can hold.

    Raises:
        ValueError, TypeError, OverflowError: Not such a number.
    """
    number = int(value)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{number} is not a number that a ledger can hold")
    return number


def _fraction(value: Any) -> float:
    if not math.isfinite(number := float(value)) or not 0 <= number <= _LARGEST_FRACTION:
        raise ValueError(f"a number is not between 0 and {_LARGEST_FRACTION:g}")
    return number


def _storable(value: Any) -> str:
    """A text that a ledger can hold: JSON may have halves of surrogate pairs."""
    return shortened(str(value), _LONGEST_TEXT).encode("utf-8", "replace").decode()


def moment_of(text: str) -> datetime:
    """Return a moment that `stored` wrote, in UTC.

    Raises:
        ValueError, TypeError, OverflowError: Not a moment, or UTC has none for it.
    """
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _wish(table: Any) -> Endpoint:
    json.dumps(table, ensure_ascii=False).encode()  # it may have halves of surrogate pairs
    return endpoint_of(table, "its wish")


_READ: Mapping[type, Callable[[Any], Any]] = {
    int: whole_number,
    float: _fraction,
    str: _storable,
    bool: bool,
    datetime: moment_of,
    timedelta: lambda seconds: timedelta(seconds=seconds),
    RunOutcome: RunOutcome,
    Endpoint: _wish,
}
_AS_STORED = (int, float, str)
"""Types of fields that are in a row as in the value."""


def _read(kind: type[T], found: Any) -> T:
    def field(value: Any, one: type, is_optional: bool) -> Any:
        if value is None and is_optional:
            return None
        return _READ[one](value) if one in _READ else _read(one, value)

    values = {
        name: found.get(name) if how[1] else found[name] for name, how in _types(kind).items()
    }
    return kind(**{name: field(values[name], *how) for name, how in _types(kind).items()})


def _typed(kind: type) -> Mapping[str, tuple[type, bool]]:
    hints = get_type_hints(kind).items()
    return {
        name: (next(iter({*get_args(one)} - {NoneType}), one), NoneType in get_args(one))
        for name, one in hints
    }


_types: Callable[[type], Mapping[str, tuple[type, bool]]] = cache(_typed)
"""Field → its type, and whether it may also be None."""


def _converted(kind: type) -> Sequence[tuple[int, Callable[[Any], Any]]]:
    types = enumerate(_types(kind).values())
    return [(place, _READ[one]) for place, (one, _) in types if one not in _AS_STORED]


_stored_otherwise: Callable[[type], Sequence[tuple[int, Callable[[Any], Any]]]] = cache(_converted)
"""Places in a row whose values are converted, and how."""
