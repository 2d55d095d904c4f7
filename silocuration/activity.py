"""The activity log, ``curation/activity/<month>.jsonl``: who changed which value, and when.

Lines are only appended: one JSON object for each changed value, in the order of the changes.
Readers skip a line that a crash left unfinished; the next writer cuts it off. A line is written
after its change, which the record's own version log names too: a crash in between loses the
line, never the change.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import date, timedelta
from difflib import SequenceMatcher
from itertools import zip_longest
from operator import attrgetter

from recordsilo.disk.atomic_file import append_lines
from recordsilo.disk.names import names_in
from recordsilo.disk.regular_file import regular_fd
from recordsilo.records.manifest import now_text
from silocuration.editing.changes import RecordChange
from silocuration.editing.fields import Differing, Fields, differing, read_fields, said
from silocuration.errors import NoFields

ACTIVITY = "curation/activity"
SUFFIX = ".jsonl"
LONGEST_VALUE = 4000
"""Maximum length of a logged value, in characters; the record's versions have the whole value."""
_MONTH = re.compile(r"\d{4}-\d{2}")
_BLOCK = 256 * 1024
_COMPARED = 200
"""Characters of a value that decide which value replaced it."""
_MOST_PAIRS = 1000
"""Of more pairs, none is compared: the values are paired in order."""

ValueChange = tuple[str, str | None, str | None]
"""Field or file, value before, value after; None if it did not or does not exist."""


@dataclass(frozen=True, slots=True)
class Activity:
    """One action of one user.

    Attributes:
        date: When; UTC, ISO 8601.
        agent: Who did it.
        action: One word: ``edit``, ``put``, ``copy``, ``bulk``, ``undo`` …
        identifier: The record's identifier, if a record was changed.
        version: The record's version.
        what: The field, or the file's path.
        old: The value before; None if there was none.
        new: The value after; None if there is none.
        message: The reason.
        job: The job's id, if a job did it.
    """

    date: str
    agent: str
    action: str
    identifier: str = ""
    version: str = ""
    what: str = ""
    old: str | None = None
    new: str | None = None
    message: str = ""
    job: str = ""


_NAMES = tuple(one.name for one in fields(Activity))


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """A filter for lines of the log; empty members match all.

    Attributes:
        text: A part of the line, in any case.
        since: The earliest date.
        until: The latest date; a day or a month is included completely.
    """

    text: str = ""
    agent: str = ""
    action: str = ""
    identifier: str = ""
    since: str = ""
    until: str = ""

    def fits(self, one: Activity) -> bool:
        """Whether a line matches."""
        return (
            (not self.agent or one.agent == self.agent)
            and (not self.action or one.action == self.action)
            and (not self.identifier or one.identifier == self.identifier)
            and one.date >= self.since
            and (not self.until or one.date[: len(self.until)] <= self.until)
            and (not self.text or self.text.casefold() in _all_text(one))
        )


def log_activity(silo_path: str, lines: Iterable[Activity]) -> None:
    """Append lines, durably; does nothing without lines.

    Raises:
        OSError: The disk refused.
    """
    by_month: dict[str, list[Activity]] = defaultdict(list)
    for one in lines:
        by_month[one.date[:7]].append(one)
    for month, some in by_month.items():
        path = os.path.join(_directory(silo_path), month + SUFFIX)
        append_lines(path, map(_line, some), silo_path)


def changes_of(
    values: Iterable[ValueChange], *, agent: str, action: str, identifier: str, version: str,
    message: str = "", job: str = "",
) -> list[Activity]:  # fmt: skip
    """Return one line per changed value of a record; if there is none, one line without values."""
    now = now_text()
    found = [
        Activity(now, agent, action, identifier, version, what, _cut(old), _cut(new), message, job)
        for what, old, new in values
    ]
    return found or [Activity(now, agent, action, identifier, version, message=message, job=job)]


def log_one(
    silo_path: str, action: str, identifier: str, version: str, *values: ValueChange, agent: str
) -> None:
    """Append one action on one record, with the current time."""
    about = {"agent": agent, "action": action, "identifier": identifier, "version": version}
    log_activity(silo_path, changes_of(values, **about))


def of_change(change: RecordChange) -> list[ValueChange]:
    """Return the values that a planned change of a record adds, removes or changes."""
    values = _replaced(change.before, change.after, change.differing)
    if not values:
        for one in change.files:
            values += of_file(one.path, one.before, one.after)
    if change.state is not None:
        values.append(("state", None, change.state))
    return values


def changed_values(change: RecordChange) -> list[ValueChange]:
    """Return what `of_change` returns, each text cut as the log has it."""
    return [(what, _cut(old), _cut(new)) for what, old, new in of_change(change)]


def of_fields(before: Fields, after: Fields) -> list[ValueChange]:
    """Return the differing values by field: each removed value with the one that replaced it.

    Equally many are paired in order. Otherwise values that are alike are paired first, then the
    rest in order; very many are always paired in order.
    """
    return _replaced(before, after, differing(before, after))


def _replaced(before: Fields, after: Fields, changed: Differing) -> list[ValueChange]:
    gone, come = changed
    names = dict.fromkeys(name for name, *_ in [*gone, *come])
    found: list[ValueChange] = []
    for name in names:
        old = [shown(one) for one in gone if one[0] == name]
        new = [shown(one) for one in come if one[0] == name]
        found += [(name, *pair) for pair in _paired(old, new)]
    if not found and said(before) != said(after):
        order = [" · ".join(text for _, text, _ in said(fields)) for fields in (before, after)]
        found.append(("order", order[0], order[1]))
    return found


def _paired(old: list[str], new: list[str]) -> list[tuple[str | None, str | None]]:
    if len(old) == len(new) or len(old) * len(new) > _MOST_PAIRS:
        return list(zip_longest(old, new))
    if len(old) < len(new):
        return [(one, other) for other, one in _paired(new, old)]
    replaced: dict[int, str] = {}
    others: list[str] = []
    for value in new:
        left = [n for n in range(len(old)) if n not in replaced]
        likeness, nearest = max((_likeness(old[n], value), -n) for n in left)
        if likeness >= _ALIKE:
            replaced[-nearest] = value
        else:
            others.append(value)
    left = [n for n in range(len(old)) if n not in replaced]
    replaced |= zip(left, others, strict=False)
    return [(value, replaced.get(n)) for n, value in enumerate(old)]


_ALIKE = 0.6
"""The least likeness, of 1, at which one value is taken for the other's replacement."""


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED], autojunk=False).ratio()


def of_file(path: str, before: bytes | None, after: bytes | None) -> list[ValueChange]:
    """Return the differing values of a file; one entry for the file itself if it has no fields."""
    if before == after:
        return []
    if before is not None and after is not None:
        try:
            if values := of_fields(read_fields(before), read_fields(after)):
                return values
        except NoFields:
            pass
    return [(path, _size(before), _size(after))]


@dataclass(slots=True)
class Effort:
    """How much of the log may be read for an answer that somebody waits for.

    Attributes:
        left: Bytes, four times as many where a text is sought; a line that is looked at by itself
            counts as `_LINE` more, and blocks of lines that are all too new do not count.
        stopped_at: The place of a line, if reading stopped: only lines before it were not read.
        back_to: The date of the oldest line that was read then.
    """

    left: int
    stopped_at: str = ""
    back_to: str = ""


_LINE = 4096


def activity(
    silo_path: str, wanted: ActivityFilter, before: str = "", effort: Effort | None = None
) -> Iterator[tuple[str, Activity]]:
    """Yield the lines that match, newest first, each with its place.

    Args:
        before: The place of a line; only lines before it are read. By default all.
        effort: Stops at the block of lines in which this is used up; by default never.

    Cost: reads backwards as far as the caller iterates; keeps nothing in memory.
    """
    last_month, _, offset = before.partition(":")
    until = wanted.until[:7]
    for month in reversed(names_in(_directory(silo_path), SUFFIX, _MONTH)):
        if (before and month > last_month) or (until and month[: len(until)] > until):
            continue
        if month < wanted.since[:7]:
            return
        end = int(offset) if before and month == last_month else None
        path = os.path.join(_directory(silo_path), month + SUFFIX)
        for place, line in _backwards(path, end, _Sought.of(wanted), effort):
            one = _parsed(line)
            if one is not None and wanted.fits(one):
                yield f"{month}:{place}", one
        if effort is not None and effort.stopped_at:
            effort.stopped_at = f"{month}:{effort.stopped_at}"
            return


def is_place(text: str) -> bool:
    """Whether a text has the form of a line's place."""
    return bool(re.fullmatch(r"\d{4}-\d{2}:\d{1,18}", text, re.ASCII))


def _line(one: Activity) -> bytes:
    values = zip(_NAMES, _values_of(one), strict=True)
    known = [f'"{name}": {_ascii(value)}' for name, value in values if value]
    return f"{{{', '.join(known)}}}".encode("ascii")


_values_of = attrgetter(*_NAMES)
_ascii = json.encoder.encode_basestring_ascii  # for a line, a general encoder takes twice the time


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a line has as it is stored, if it matches; so most lines need not be parsed.

    Attributes:
        parts: Each of these; the rarest is the first.
        text: This, in any case, unless the line has a character that is not ASCII.
        since, until: Bounds of the date, with which a line begins.
        past: A day after which no lines are looked for; a day later than ``until``, because lines
            of several processes are not strictly in order. Empty if ``until`` is no day.
    """

    parts: tuple[bytes, ...]
    text: bytes
    since: bytes
    until: bytes
    past: bytes = b""

    @classmethod
    def of(cls, wanted: ActivityFilter) -> "_Sought":
        exact = {name: getattr(wanted, name) for name in ("identifier", "agent", "action")}
        parts = tuple(
            json.dumps({name: one})[1:-1].encode()
            for name, one in exact.items()
            if one and "?" not in one  # see `_sound`
        )
        text = wanted.text.lower() if wanted.text.isascii() and "?" not in wanted.text else ""
        is_plain = _stored(text) == text.encode()
        bounds = (wanted.since.encode(), wanted.until.encode())
        return cls(parts, text.encode() if is_plain else b"", *bounds, _day_after(wanted.until))


def _day_after(bound: str) -> bytes:
    try:
        return (date.fromisoformat(bound[:10]) + timedelta(days=1)).isoformat().encode()
    except (ValueError, OverflowError):
        return b""


def _stored(value: str) -> bytes:
    return json.dumps(value)[1:-1].encode()


_ANY = _Sought.of(ActivityFilter())
_DATE = b'{"date": "'


def _may_fit(sought: _Sought, lines: bytes, *, is_one: bool) -> bool:
    """Whether there may be a matching line among some, or whether one line may match."""
    if sought == _ANY:
        return True
    if not all(part in lines for part in sought.parts):
        return False
    if is_one and lines.startswith(_DATE):
        at = _date_of(lines)
        if at < sought.since or (sought.until and at[: len(sought.until)] > sought.until):
            return False
    return not sought.text or b"\\u" in lines or sought.text in lines.lower()


_LONGEST_DATE = 60
"""Octets of a line that have its date, if it has one."""


def _date_of(line: bytes) -> bytes:
    """The date with which a line begins; ``b""`` if it begins otherwise."""
    if not line.startswith(_DATE):
        return b""
    return line[len(_DATE) : line.find(b'"', len(_DATE))]


def _parsed(line: bytes) -> Activity | None:
    """Parse a line; None if it is malformed, as after a crash."""
    try:
        known = json.loads(line.decode("utf-8", "surrogatepass"))
        if b"\\ud" not in line and all(type(value) is str for value in known.values()):
            return Activity(**known)
        return Activity(**{name: _sound(str(value)) for name, value in known.items()})
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def _sound(text: str) -> str:
    """Replace halves of surrogate pairs, which no page and no file can contain."""
    return text.encode("utf-8", "replace").decode()


def _backwards(
    path: str, end: int | None, sought: _Sought, effort: Effort | None
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that may match from its end, each with its offset."""
    with open(path, "rb", opener=regular_fd) as file:
        size = file.seek(0, os.SEEK_END)
        position = size if end is None else min(end, size)
        rest = b""
        while position > 0:
            if effort is not None and effort.left <= 0:
                effort.stopped_at = str(position + len(rest))
                return
            size = min(_BLOCK, position)
            position -= size
            file.seek(position)
            block = file.read(size) + rest
            first = block.find(b"\n") + 1 if position > 0 else 0
            if position > 0 and first in {0, len(block)}:  # no line begins in the block
                rest = block
                continue
            rest = block[:first]
            if sought.past and _is_past(block, first, sought.past):
                continue
            if effort is not None:
                effort.left -= size * (4 if sought.text else 1)
                oldest = _date_of(block[first : first + _LONGEST_DATE])
                effort.back_to = oldest.decode("ascii", "replace") or effort.back_to
            if not _may_fit(sought, block, is_one=False):
                continue
            for start, line in _lines(block, first, sought):
                if effort is not None:
                    effort.left -= _LINE
                if _may_fit(sought, line, is_one=True):
                    yield position + start, line


def _is_past(block: bytes, first: int, day: bytes) -> bool:
    """Whether the first and the last line of a block are later than a day."""
    last = block.rfind(b"\n", first, len(block) - 1) + 1 or first
    dates = [_date_of(block[start : start + _LONGEST_DATE]) for start in (first, last)]
    return min(dates)[: len(day)] > day


def _lines(block: bytes, first: int, sought: _Sought) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a block from the last one back, each with its place.

    Args:
        block: Whole lines from ``first`` on.
        first: Where they begin.
        sought: Lines that cannot match may be left out.
    """
    end, wanted, among = len(block), sought.parts[0] if sought.parts else b"", block
    if not wanted and b"\\u" not in block:
        wanted, among = sought.text, block.lower()
    if not wanted:
        for line in reversed(block[first:].splitlines(keepends=True)):
            end -= len(line)
            yield end, line
        return
    while (at := among.rfind(wanted, first, end)) >= 0:
        start = max(block.rfind(b"\n", first, at) + 1, first)
        yield start, block[start : block.find(b"\n", at) + 1 or len(block)]
        end = start


def _directory(silo_path: str) -> str:
    return os.path.join(silo_path, *ACTIVITY.split("/"))


def _all_text(one: Activity) -> str:
    return "\n".join(
        filter(None, (one.identifier, one.what, one.old, one.new, one.message, one.agent, one.job))
    ).casefold()


def shown(value: tuple[str, str, str]) -> str:
    _, text, lang = value
    return f"{text} [{lang}]" if lang else text


def _size(content: bytes | None) -> str | None:
    return None if content is None else f"{len(content):,} bytes"


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= LONGEST_VALUE:
        return text
    return text[:LONGEST_VALUE] + "…"
