"""Files with one JSON object on each line, which are only appended to.

A last line without a line end was not written completely, as after a crash: readers ignore
it, and the next writer cuts it off.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import StateUnreadable

T = TypeVar("T")


def _state_unreadable(path: str, number: int, reason: str) -> Exception:
    return StateUnreadable(path, f"line {number}: {reason}")


def read_lines(
    path: str,
    take: Callable[[Any], T],
    unreadable: Callable[[str, int, str], Exception] = _state_unreadable,
) -> Iterator[T]:
    """Yield what each complete line says, in order; nothing if there is no file.

    Args:
        take: Makes a value of a line's JSON; may raise ValueError, KeyError or TypeError.
        unreadable: Makes the error for a malformed line: of the path, the line's number, and why.

    Raises:
        Exception: As `unreadable` makes it; by default StateUnreadable.
    """
    try:
        file = open(path, "rb", opener=regular_fd)  # noqa: SIM115 - closed below; only a missing file is expected
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                value = take(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise unreadable(path, number, str(error)) from None
            yield value
