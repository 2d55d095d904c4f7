"""The receipt of an import: lines in = counted + bots + other + unreadable (pure)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo.html_tables import ShownAsTable
from recordsilo.wording import counted
from usagestats.expressions import MOST_TIMEOUTS
from usagestats.rules.classify import MACHINE, NO_PATTERN
from usagestats.values import Fate, UseKind

_NAMED = 5
_MANY = 1000
"""Requests without a use that are many even where the patterns have fitted before."""


@dataclass(slots=True)
class ImportReceipt(ShownAsTable):
    """What became of the lines of an import.

    Attributes:
        lines: Lines that were read now.
        fates: Fate → reason → lines.
        kinds: Kind → counted lines.
        known: Lines that were imported before.
        waiting: Files whose last line is not complete; it is read once it is.
        late: Frozen day → lines that came too late for it; they are among the other lines.
        not_held: Identifiers without a record in the Silo, with counted lines.
        failed: A sentence for each file that could not be read to its end, and about days that
            could not be counted.
        left_out: Expressions of ``usage.toml`` that took too long too often.
        kept: Days of lines that were read again, with events of other lines.
        days: Days that were counted.
        counted_before: Whether earlier imports counted uses, so that the patterns have fitted.
        robots: The lists of robots that were used.
        seconds: How long it took.
    """

    lines: int = 0
    fates: dict[str, Counter[str]] = field(
        default_factory=lambda: {fate: Counter() for fate in Fate}
    )
    kinds: Counter[str] = field(default_factory=Counter)
    known: int = 0
    files: int = 0
    waiting: list[str] = field(default_factory=list)
    late: Counter[str] = field(default_factory=Counter)
    not_held: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    days: list[str] = field(default_factory=list)
    frozen: list[str] = field(default_factory=list)
    without_agents: bool = False
    counted_before: bool = False
    robots: str = ""
    seconds: float = 0.0

    def number(self, fate: Fate) -> int:
        """Return the lines of a fate."""
        return sum(self.fates[fate].values())

    @property
    def machines(self) -> int:
        """Return the lines of machines, which are among the bots."""
        return self.fates[Fate.BOT][MACHINE]

    @property
    def nothing_fits(self) -> bool:
        """Whether the patterns are probably wrong: they fit no path of any request.

        If they have fitted before, a few requests that are no uses, as in the log of a quiet
        night, prove nothing.
        """
        tried = self.fates[Fate.OTHER][NO_PATTERN]
        is_proof = tried and (not self.counted_before or tried >= _MANY)
        return bool(is_proof) and not (self.number(Fate.COUNTED) or self.late)

    @property
    def whole(self) -> bool:
        """Whether every file and line could be read, none was late, and the patterns fit."""
        return not (
            self.number(Fate.UNREADABLE)
            or self.late
            or self.failed
            or self.nothing_fits
            or self.left_out
        )

    def as_json(self) -> dict[str, Any]:
        """Return the receipt as JSON values."""
        reasons = {
            fate: {reason: lines for reason, lines in sorted(some.items()) if reason and lines}
            for fate, some in self.fates.items()
        }
        return {
            "lines": self.lines,
            **{str(fate): self.number(fate) for fate in Fate},
            "machines": self.machines,
            "views": self.kinds[UseKind.VIEW],
            "downloads": self.kinds[UseKind.DOWNLOAD],
            "others": self.kinds[UseKind.OTHER],
            "reasons": {fate: some for fate, some in reasons.items() if some},
            "known": self.known,
            "files": self.files,
            "waiting": self.waiting,
            "late": dict(self.late),
            "not_held": len(self.not_held),
            "not_held_first": sorted(self.not_held)[:_NAMED],
            "failed": self.failed,
            "left_out": self.left_out,
            "kept": self.kept,
            "days": self.days,
            "frozen": self.frozen,
            "robots": self.robots,
            "seconds": round(self.seconds, 3),
        }

    def text(self) -> str:
        """Return the receipt for people."""
        rows = [
            (
                self.lines,
                f"{'line' if self.lines == 1 else 'lines'} in {counted(self.files, 'file')}",
            ),
            (self.number(Fate.COUNTED), f"counted: {_listed(self.kinds, ' ')}"),
            (self.number(Fate.BOT), f"bots: {_listed(self.fates[Fate.BOT])}"),
            (self.number(Fate.OTHER), f"other: {_listed(self.fates[Fate.OTHER])}"),
            (
                self.number(Fate.UNREADABLE),
                f"unreadable: {_listed(self.fates[Fate.UNREADABLE])}",
            ),
        ]
        text = [f"{number:>12,}  {words.removesuffix(': ')}" for number, words in rows]
        return "\n".join([*text, *self._notes()])

    def _notes(self) -> list[str]:
        notes = []
        if self.known:
            notes.append(f"{counted(self.known, 'line')} had been imported before.")
        if self.days:
            notes.append(
                f"Counted: {counted(len(self.days), 'day')}, "
                f"{self.days[0]} to {self.days[-1]} (robots: {self.robots})."
            )
        if self.seconds:
            speed = f", {counted(round(self.lines / self.seconds), 'line')}/s" if self.lines else ""
            notes.append(f"It took {self.seconds:,.1f} s{speed}.")
        if self.without_agents:
            notes.append("The log has no user agents, so no robot could be recognised.")
        notes += [
            f"{name}: the last line is not complete and was left; it is read once it is, "
            "or with --complete."
            for name in self.waiting
        ]
        if self.not_held:
            first = ", ".join(sorted(self.not_held)[:_NAMED])
            more = ", …" if len(self.not_held) > _NAMED else ""
            notes.append(
                f"Not in this Silo, but counted: {counted(len(self.not_held), 'identifier')} "
                f"({first}{more})."
            )
        notes += [
            f"The expression {one!r} of usage/usage.toml took too long {MOST_TIMEOUTS} times, and "
            "was left out; avoid nested repetitions such as (a+)+ in it, then import with --again."
            for one in self.left_out
        ]
        if self.kept:
            days = ", ".join(self.kept[:_NAMED]) + (", …" if len(self.kept) > _NAMED else "")
            notes.append(
                f"{counted(len(self.kept), 'day')} ({days}) also have uses from other logs or "
                "live lines, which were not read again and stay as they are."
            )
        if self.late:
            days = ", ".join(sorted(self.late)[:_NAMED])
            notes.append(
                f"{counted(sum(self.late.values()), 'line')} came too late: the days are frozen "
                f"({days}); see usage/ledger.sqlite, table late."
            )
        if self.frozen:
            notes.append(f"Frozen: {counted(len(self.frozen), 'day')} up to {self.frozen[-1]}.")
        if self.number(Fate.UNREADABLE):
            notes.append("The first unreadable lines are in usage/unreadable/, without addresses.")
        if self.lines and self.number(Fate.UNREADABLE) == self.lines:
            notes.append("No line is of this format; name the right one (--format), with --again.")
        if self.nothing_fits:
            notes.append(
                "No pattern fits any path; correct profile or patterns in usage/usage.toml "
                "(silo usage try), then import with --again."
            )
        return notes


def _listed(reasons: Mapping[str, int], between: str = ": ") -> str:
    if between == " ":
        return ", ".join(f"{number:,} {_plural(kind, number)}" for kind, number in reasons.items())
    return ", ".join(
        f"{reason} {number:,}"
        for reason, number in sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
        if number and reason
    )


def _plural(kind: str, number: int) -> str:
    word = "other use" if kind == UseKind.OTHER else kind
    return word if number == 1 else f"{word}s"
