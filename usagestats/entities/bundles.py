"""Bundles: keys of entities that somebody asserted to be the same, in ``usage/bundles.jsonl``.

Lines are only appended: an assertion, or that one is taken back. Nothing else is rewritten.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recordsilo.disk.atomic_file import append_lines
from recordsilo.disk.json_lines import read_lines
from usagestats.entities.mapping import KEY
from usagestats.errors import CountsUnreadable, EntityUnknown
from usagestats.store.paths import bundles_path


@dataclass(frozen=True, slots=True)
class Bundles:
    """The bundles of a Silo.

    Attributes:
        members: Key of a bundle (``b:…``) → keys of its entities, sorted.
        bundle_of: Key of an entity → key of its bundle.
    """

    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bundle_of: Mapping[str, str] = field(default_factory=dict)

    def whole(self, key: str) -> tuple[str, ...]:
        """The keys that are the same as a key of an entity or a bundle, itself included."""
        return self.members.get(self.bundle_of.get(key, key), (key,))


def read_bundles(silo_path: str) -> Bundles:
    """Read the bundles.

    Raises:
        CountsUnreadable: The file is damaged.
    """
    return bundles_of(_assertions(silo_path))


def bundles_of(assertions: Iterable[Sequence[str]]) -> Bundles:
    """Join the keys of assertions that share one."""
    group: dict[str, set[str]] = {}
    for keys in assertions:
        joined = set().union(*(group.get(key, {key}) for key in keys))
        for key in joined:
            group[key] = joined
    members = {_bundle_key(some): tuple(sorted(some)) for some in group.values()}
    return Bundles(members, {key: name for name, some in members.items() for key in some})


def assert_same(silo_path: str, keys: Sequence[str], agent: str, now: str) -> str:
    """Assert that keys are of one entity; return the key of their bundle.

    Args:
        silo_path: Of the Silo.
        keys: Two or more; those of a bundle stand for its members.
        agent: Who says so.
        now: When, ISO 8601.

    Raises:
        EntityUnknown: These are not two different keys.
        CountsUnreadable, OSError: The file is damaged, or cannot be written.
    """
    known = read_bundles(silo_path)
    single = sorted({member for key in keys for member in known.whole(key)})
    if len(set(keys)) < 2 or len(single) < 2:
        raise EntityUnknown("name two different entities that are the same")
    _append(silo_path, {"same": single, "agent": agent, "at": now})
    return read_bundles(silo_path).bundle_of[single[0]]


def take_back(silo_path: str, keys: Sequence[str], agent: str, now: str) -> int:
    """Take back each assertion that has all of these keys; return their number.

    Raises:
        EntityUnknown: There is none.
        CountsUnreadable, OSError: As `assert_same`.
    """
    known = read_bundles(silo_path)
    wanted = {member for key in keys for member in known.members.get(key, (key,))}
    found = [some for some in _assertions(silo_path) if wanted <= set(some)]
    if not found:
        raise EntityUnknown("no assertion says that these entities are the same")
    _append(silo_path, {"undo": [list(some) for some in found], "agent": agent, "at": now})
    return len(found)


def dissolve(silo_path: str, key: str, agent: str, now: str) -> int:
    """Take back every assertion about a bundle; return their number.

    Args:
        silo_path: Of the Silo.
        key: Of the bundle, or of one of its entities.
        agent: Who says so.
        now: When, ISO 8601.

    Raises:
        EntityUnknown: There is no such bundle.
        CountsUnreadable, OSError: As `assert_same`.
    """
    members = set(read_bundles(silo_path).whole(key))
    found = [some for some in _assertions(silo_path) if members.intersection(some)]
    if not found:
        raise EntityUnknown("no assertion says that this entity is the same as another")
    _append(silo_path, {"undo": [list(some) for some in found], "agent": agent, "at": now})
    return len(found)


def _append(silo_path: str, line: Mapping[str, Any]) -> None:
    append_lines(bundles_path(silo_path), [json.dumps(line).encode()], silo_path)


def _assertions(silo_path: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for same, undone in read_lines(bundles_path(silo_path), _line, _unreadable):
        found = [keys for keys in found if keys not in undone]
        if same:
            found.append(same)
    return found


def _line(line: Any) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    return _keys(line.get("same", [])), [_keys(some) for some in line.get("undo", [])]


def _keys(found: Any) -> tuple[str, ...]:
    keys = tuple(found)
    if not all(isinstance(key, str) and KEY.fullmatch(key) for key in keys):
        raise ValueError("these are no keys of entities")
    return keys


def _unreadable(path: str, number: int, reason: str) -> Exception:
    return CountsUnreadable(path, f"line {number}: {reason}")


def _bundle_key(keys: Iterable[str]) -> str:
    return f"b:{hashlib.md5(min(keys).encode(), usedforsecurity=False).hexdigest()}"
