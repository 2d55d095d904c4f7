"""What was asked, and what was decided: ``curation/reconciliation/<place>/<field>.jsonl``.

One JSON object per line, appended. A line with ``candidates`` is the answer about a ``value``, one
with ``decision`` what a curator decided: ``accepted`` (with ``id``, ``name``), ``rejected`` or
``open`` (which takes an earlier decision back). Of the lines about a value the last ones count.
What is accepted is also in the authority file of the field.
"""

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recordsilo.disk.atomic_file import append_lines
from recordsilo.disk.json_lines import read_lines
from silocuration.authorities import (
    Authority,
    change_authorities,
    now,
    read_authorities,
)
from silocuration.reconciling.protocol import Candidate

DIRECTORY = "curation/reconciliation"
ACCEPTED, REJECTED, OPEN = "accepted", "rejected", "open"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What is known of a value.

    Attributes:
        candidates: The best first; their ids can stand alone.
        asked: When; empty if it was not.
        decision: `ACCEPTED`, `REJECTED` or `OPEN`.
        id, name: Of the accepted entity.
        batch: Of the decision; decisions made together have the same.
    """

    value: str
    candidates: tuple[Candidate, ...] = ()
    asked: str = ""
    decision: str = OPEN
    id: str = ""
    name: str = ""
    batch: str = ""
    agent: str = ""

    def clear(self, score: float, distance: float) -> Candidate | None:
        """The best candidate, if its score and its distance to the next one are large enough."""
        if not self.candidates or self.candidates[0].score < score:
            return None
        next_best = self.candidates[1].score if len(self.candidates) > 1 else float("-inf")
        is_clear = self.candidates[0].score - next_best >= distance
        return self.candidates[0] if is_clear else None


class Reconciliation:
    """The answers of a place about the values of a field, and the decisions.

    Args:
        place: Its name, as `places` checks it.
        field: A key of `authorities.FIELDS`.
    """

    def __init__(self, silo_path: str, place: str, field: str) -> None:
        self._silo_path, self._place, self._field = silo_path, place, field
        self._path = os.path.join(silo_path, *DIRECTORY.split("/"), place, f"{field}.jsonl")

    def read(self) -> dict[str, Reconciled]:
        """Return what is known, by value.

        Raises:
            StateUnreadable: A line is malformed.
        """
        found: dict[str, Reconciled] = {}
        for value, change in read_lines(self._path, _change):
            found[value] = replace(found.get(value, Reconciled(value)), **change)
        return found

    def add(self, answers: Mapping[str, Sequence[Candidate]]) -> None:
        """Store the candidates of values, durably."""
        date = now()
        self._append(
            {"value": value, "asked": date, "candidates": [_plain(one) for one in some]}
            for value, some in answers.items()
        )

    def accept(self, chosen: Mapping[str, Candidate], agent: str) -> str:
        """Accept a candidate for each value; return the name of the batch.

        The authority file is written first: after a crash, accepting again is enough.
        """
        date, batch = now(), secrets.token_hex(8)
        given = [
            Authority(value, one.id, one.name, self._place, agent, date)
            for value, one in chosen.items()
        ]
        if given:
            change_authorities(self._silo_path, self._field, given)
        self._decide(((value, ACCEPTED, one) for value, one in chosen.items()), agent, batch)
        return batch

    def reject(self, values: Iterable[str], agent: str, batch: str = "") -> str:
        """Say that none of the candidates is meant; return the name of the batch."""
        batch = batch or secrets.token_hex(8)
        self._decide(((value, REJECTED, None) for value in values), agent, batch)
        return batch

    def reopen(self, values: Iterable[str], agent: str) -> int:
        """Take decisions back; return how many. Identifiers given otherwise stay."""
        known = self.read()
        wanted = [one for one in values if one in known and known[one].decision != OPEN]
        authorities = read_authorities(self._silo_path, self._field)
        own = [
            value for value in wanted
            if value in authorities and known[value].decision == ACCEPTED
            and authorities[value].id == known[value].id
        ]  # fmt: skip
        if own:
            change_authorities(self._silo_path, self._field, [], own)
        self._decide(((value, OPEN, None) for value in wanted), agent, "")
        return len(wanted)

    def undo(self, batch: str, agent: str) -> int:
        """Take back the decisions of a batch that still stand; return how many."""
        known = self.read().values()
        return self.reopen([one.value for one in known if batch and one.batch == batch], agent)

    def _decide(
        self, decisions: Iterable[tuple[str, str, Candidate | None]], agent: str, batch: str
    ) -> None:
        date = now()
        self._append(
            {"value": value, "decision": decision, "agent": agent, "batch": batch, "date": date}
            | ({"id": one.id, "name": one.name} if one else {})
            for value, decision, one in decisions
        )

    def _append(self, entries: Iterable[Mapping[str, Any]]) -> None:
        lines = [json.dumps(one, ensure_ascii=True).encode() for one in entries]
        if lines:
            append_lines(self._path, lines, self._silo_path)


def _plain(one: Candidate) -> dict[str, Any]:
    said: dict[str, Any] = {"id": one.id, "name": one.name, "score": one.score}
    if one.matches:
        said["match"] = True
    if one.types:
        said["type"] = list(one.types)
    return said | ({"description": one.description} if one.description else {})


def _change(entry: Any) -> tuple[str, dict[str, Any]]:
    value = str(entry["value"])
    if "decision" in entry:
        if entry["decision"] not in {ACCEPTED, REJECTED, OPEN}:
            raise ValueError("it has an unknown decision")
        said = {name: str(entry.get(name, "")) for name in ("id", "name", "batch", "agent")}
        return value, {"decision": str(entry["decision"]), **said}
    candidates = tuple(
        Candidate(
            str(one["id"]),
            str(one["name"]),
            float(one["score"]),
            bool(one.get("match", False)),
            tuple(map(str, one.get("type", ()))),
            str(one.get("description", "")),
        )
        for one in entry["candidates"]
    )
    return value, {"candidates": candidates, "asked": str(entry["asked"])}
