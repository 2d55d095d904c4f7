"""Probable variants in all fields of a Silo, without those that a curator has ruled out.

``curation/distinct.jsonl`` has one JSON object per line, appended: ``field``, ``values``,
``distinct`` (false takes an earlier line about the same values back), ``date``, ``agent``.
A cluster is left out if all of its values are in one such line; a new variant shows it again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo import Silo
from recordsilo.disk.atomic_file import append_lines
from recordsilo.disk.json_lines import read_lines
from recordsilo.records.manifest import now_text
from silocuration.review.clusters import Cluster, Method, clusters
from silocuration.review.counts import CLUSTERED, value_counts

DISTINCT = "curation/distinct.jsonl"


@dataclass(frozen=True, slots=True)
class Variants:
    """A cluster of one field.

    Attributes:
        field: The facet, a key of `CLUSTERED`.
        cluster: Its values, the most frequent first.
    """

    field: str
    cluster: Cluster

    @property
    def key(self) -> str:
        """Identifies the cluster: 16 hexadecimal digits, the same for the same values."""
        return _key(self.field, (value for value, _ in self.cluster.values))

    @property
    def changed(self) -> int:
        """How many records change if the values become the most frequent one."""
        return self.cluster.records - self.cluster.values[0][1]


def probable_variants(
    silo: Silo,
    names: Iterable[str] = CLUSTERED,
    method: Method = Method.FINGERPRINT,
    *,
    distance: int = 1,
) -> list[Variants]:
    """Find clusters in several fields.

    Args:
        silo: Its index is asked for the values.
        names: Keys of `CLUSTERED`.
        method: See `Method`.
        distance: See `clusters`.

    Returns:
        The clusters by which most records change first.

    Raises:
        StateUnreadable: `DISTINCT` is malformed.
    """
    ruled_out = [(one.field, frozenset(one.values)) for one in distinct_values(silo.path)]
    found = [
        Variants(name, one)
        for name in names
        for one in clusters(value_counts(silo, name), method, distance=distance)
        if not any(
            field == name and values.issuperset(value for value, _ in one.values)
            for field, values in ruled_out
        )
    ]
    return sorted(found, key=lambda one: (-one.changed, -one.cluster.records, one.field))


@dataclass(frozen=True, slots=True)
class Distinct:
    """Values that a curator said are not variants of one another."""

    field: str
    values: tuple[str, ...]
    agent: str = ""
    date: str = ""

    @property
    def key(self) -> str:
        """As `Variants.key`."""
        return _key(self.field, self.values)


def distinct_values(silo_path: str) -> list[Distinct]:
    """What was ruled out and not taken back since, oldest first.

    Raises:
        StateUnreadable: A complete line is malformed.
    """
    found: dict[str, Distinct] = {}
    for one, is_distinct in read_lines(os.path.join(silo_path, DISTINCT), _decision):
        found.pop(one.key, None)
        if is_distinct:
            found[one.key] = one
    return list(found.values())


def _decision(entry: Any) -> tuple[Distinct, bool]:
    if not entry["values"] or not isinstance(entry["values"], list):
        raise ValueError("it has no list of values")
    values = tuple(map(str, entry["values"]))
    one = Distinct(str(entry["field"]), values, str(entry["agent"]), str(entry["date"]))
    return one, bool(entry["distinct"])


def rule_out(silo_path: str, field: str, values: Sequence[str], *, agent: str) -> None:
    """Say that values are not variants of one another, durably."""
    _note(silo_path, field, values, agent, distinct=True)


def take_back(silo_path: str, one: Distinct, *, agent: str) -> None:
    """Show values as probable variants again."""
    _note(silo_path, one.field, one.values, agent, distinct=False)


def _note(silo_path: str, field: str, values: Sequence[str], agent: str, *, distinct: bool) -> None:
    entry = {
        "field": field,
        "values": sorted(values),
        "distinct": distinct,
        "date": now_text(),
        "agent": agent,
    }
    line = json.dumps(entry, ensure_ascii=True).encode()
    append_lines(os.path.join(silo_path, DISTINCT), [line], silo_path)


def _key(field: str, values: Iterable[str]) -> str:
    text = "\0".join((field, *sorted(values)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
