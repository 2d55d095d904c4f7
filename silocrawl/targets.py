"""Targets: ``crawling/targets/<name>.toml`` in the Silo, what is to be crawled and when.

A file holds what is wished. When a target was launched last is a mark in the file of the queues,
set together with the messages of that launch.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import tomli_w

from crawlmatch.errors import BadAddress
from crawlmatch.uris import heritrix_form
from recordsilo.disk.locks import Locks
from recordsilo.disk.toml_files import TomlFiles
from recordsilo.errors import SearchError
from recordsilo.selection import Selection, selection_from, selection_table
from silocrawl.addresses import fetched_form, why_not_web
from silocrawl.errors import TargetNotFound, TargetRefused
from silocrawl.paths import targets_directory
from silocrawl.scope import LONGEST, Scope, ScopeKind
from silowork.due.timetable import Timetable, moment_of, timetable_of_texts, timetable_table
from silowork.errors import JobRefused

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
MOST_OF_A_TITLE = 500
_KEYS = frozenset(
    {"title", "url", "select", "scope", "plus_one", "ignore", "limits", "when", "agent",
     "made", "render", "watched"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a crawl of one seed ends.

    Attributes:
        pages: Addresses that are fetched in a launch.
        bytes: Of all bodies of a launch, as sent.
        seconds: From the launch to the last request.
        hops: From the seed to an address.
    """

    pages: int = 1_000
    bytes: int = 2_000_000_000
    seconds: int = 7 * 86_400
    hops: int = 20

    def __post_init__(self) -> None:
        """Refuse what ends before it begins.

        Raises:
            TargetRefused: Says what is wrong.
        """
        for name in ("pages", "bytes", "seconds", "hops"):
            if not 1 <= getattr(self, name) <= 10**15:
                raise TargetRefused(f"the limit of {name} is at least 1")


@dataclass(frozen=True, slots=True)
class CrawlTarget:
    """Something that is crawled again and again.

    Attributes:
        name: Of its file; lower-case letters, digits and hyphens.
        when: When it is launched.
        url: The seed; empty for the links of records.
        select: The records whose links are seeds; it follows the search.
        title: For people.
        scope: What belongs to a seed.
        limits: Where the crawl of a seed ends.
        is_rendered: Whether a browser loads the seeds.
        agent: Who made it.
        made: When; aware.
        watched: The Silo of the documents below it: absolute, or seen from this Silo's directory.
            Empty for a target that is not watched.
    """

    name: str
    when: Timetable
    url: str = ""
    select: Selection = field(default_factory=Selection)
    title: str = ""
    scope: Scope = field(default_factory=Scope)
    limits: Limits = field(default_factory=Limits)
    is_rendered: bool = False
    agent: str = ""
    made: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    watched: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be crawled.

        Raises:
            TargetRefused: Says what is wrong.
        """
        if not _NAME.fullmatch(self.name):
            raise TargetRefused(f"{self.name!r} cannot name a target; use a-z, digits and -")
        if len(self.url) > LONGEST:
            raise TargetRefused(f"an address has at most {LONGEST:,} characters")
        if self.url and (said := why_not_web(self.url)):
            raise TargetRefused(said)
        if self.url:
            try:
                heritrix_form(self.url)
            except BadAddress as error:
                raise TargetRefused(str(error)) from None
        if len(self.title) > MOST_OF_A_TITLE:
            raise TargetRefused(f"a title has at most {MOST_OF_A_TITLE} characters")
        if self.url and not self.select.is_everything:
            raise TargetRefused("a target is an address, or the links of records, not both")
        if self.watched and not self.url:
            raise TargetRefused("only an address is watched: documents of records go to them")

    @property
    def seeds_said(self) -> str:
        """What is crawled, in words."""
        return self.url or f"links of {records_said(self.select) or 'all records'}"


def records_said(select: Selection) -> str:
    """Records in words: by its identifier one that is chosen by that; empty for all."""
    chosen = select.identifiers
    if not chosen or select != Selection(identifiers=chosen):
        return str(select)
    return chosen[0] if len(chosen) == 1 else f"{len(chosen):,} records"


def target_name_of(text: str) -> str:
    """Make a name from a title or an address.

    Raises:
        TargetRefused: It has no letters a-z or digits.
    """
    bare = re.sub(r"^https?://(www\.)?", "", text.lower())
    name = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")[:64].rstrip("-")
    if not name:
        raise TargetRefused("a target needs a title with letters a-z or digits; give --title")
    return name


def add_target(silo_path: str, target: CrawlTarget) -> None:
    """Store a new target.

    Raises:
        TargetRefused: The name is taken.
    """
    try:
        _files(silo_path).add(target.name, _table(target))
    except FileExistsError:
        raise TargetRefused(
            f"there is a target {target.name!r} already; give another --title"
        ) from None


def twin_of(silo_path: str, target: CrawlTarget) -> str:
    """The name of another target with the same address or records; empty if there is none."""
    targets, _ = load_targets(silo_path)
    seeds = _seeds(target)
    return next((one.name for one in targets if _seeds(one) == seeds), "")


def _seeds(target: CrawlTarget) -> tuple[str, Selection]:
    return fetched_form(target.url) if target.url else "", target.select


def change_target(silo_path: str, name: str, **changes: Any) -> CrawlTarget:
    """Store a target with other attributes.

    Raises:
        TargetNotFound: There is none.
        TargetRefused: Its file, or the change, is invalid.
    """
    with Locks.of_silo(silo_path).hold_name("targets"):
        target = replace(load_target(silo_path, name), **changes)
        _files(silo_path).store(name, _table(target))
    return target


def remove_target(silo_path: str, name: str) -> None:
    """Delete a target; what was crawled stays.

    Raises:
        TargetNotFound: There is none.
    """
    try:
        _files(silo_path).remove(name)
    except FileNotFoundError:
        raise TargetNotFound(name, target_names(silo_path)) from None


def target_names(silo_path: str) -> list[str]:
    """The names of a Silo's targets, sorted."""
    return _files(silo_path).names()


def load_target(silo_path: str, name: str) -> CrawlTarget:
    """Read a target.

    Raises:
        TargetNotFound: There is none.
        TargetRefused: Its file is invalid.
    """
    try:
        return _target(name, _files(silo_path).load(name))
    except FileNotFoundError:
        raise TargetNotFound(name, target_names(silo_path)) from None
    except (OSError, ValueError, TypeError, SearchError) as error:  # also JobRefused
        file = os.path.relpath(_files(silo_path).path(name), silo_path)
        raise TargetRefused(f"the target {file} is invalid: {error}") from None


def target_text(target: CrawlTarget) -> str:
    """Return a target as the text of its file."""
    return tomli_w.dumps(_table(target))


def target_of(name: str, text: str) -> CrawlTarget:
    """Read the text of a target's file.

    Raises:
        TargetRefused: It is invalid.
    """
    try:
        return _target(name, tomllib.loads(text))
    except (ValueError, TypeError, SearchError) as error:
        raise TargetRefused(f"the target {name} is invalid: {error}") from None


def load_targets(silo_path: str) -> tuple[list[CrawlTarget], list[TargetRefused]]:
    """Read all targets; return them by name, and why the others cannot be read."""
    found, refused = [], []
    for name in target_names(silo_path):
        try:
            found.append(load_target(silo_path, name))
        except TargetRefused as error:
            refused.append(error)
    return found, refused


# --------------------------------------------------------------------------- as tables


def _table(target: CrawlTarget) -> dict[str, Any]:
    table: dict[str, Any] = {
        "title": target.title,
        "url": target.url,
        "select": selection_table(target.select),
        "scope": target.scope.kind.value,
        "plus_one": target.scope.plus_one,
        "ignore": list(target.scope.ignore),
        "render": target.is_rendered,
        "agent": target.agent,
        "watched": target.watched,
        "made": target.made.isoformat(),
        "limits": {one: getattr(target.limits, one) for one in Limits.__slots__},
        "when": timetable_table(target.when),
    }
    return {name: value for name, value in table.items() if value not in ("", [], {}, False)}


def _target(name: str, table: Mapping[str, Any]) -> CrawlTarget:
    if unknown := sorted(set(table) - _KEYS):
        raise TargetRefused(f"a target has no {unknown[0]!r}")
    for key in ("select", "limits", "when"):
        if not isinstance(table.get(key, {}), dict):
            raise TargetRefused(f"{key} is not a table")
    if not isinstance(table.get("ignore", []), list):
        raise TargetRefused("ignore is not a list")
    limits = table.get("limits", {})
    if unknown := sorted(set(limits) - set(Limits.__slots__)):
        raise TargetRefused(f"there is no limit of {unknown[0]}")
    if not all(type(one) is int for one in limits.values()):
        raise TargetRefused("limits are whole numbers")
    kind = str(table.get("scope", ScopeKind.DOCUMENTS))
    if kind not in list(ScopeKind):
        raise TargetRefused(f"{kind!r} is not a scope; there are {', '.join(ScopeKind)}")
    ignore = tuple(map(str, table.get("ignore", [])))
    texts = {key: str(table.get(key, "")) for key in ("title", "url", "agent", "watched")}
    try:
        when, made = timetable_of_texts(table.get("when", {})), moment_of(str(table.get("made")))
    except JobRefused as error:
        raise TargetRefused(str(error)) from None
    return CrawlTarget(
        name,
        when,
        select=selection_from(table.get("select", {})),
        scope=Scope(ScopeKind(kind), table.get("plus_one") is True, ignore),
        limits=Limits(**limits),
        is_rendered=table.get("render") is True,
        made=made,
        **texts,
    )


def _files(silo_path: str) -> TomlFiles:
    return TomlFiles(targets_directory(silo_path), _NAME, silo_path)
