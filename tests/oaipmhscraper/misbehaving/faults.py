"""The register of faults: what each does, and the expected result of a harvest."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from misbehaving.repository import (
    Asked,
    Instead,
    Page,
    Reply,
    Repository,
    changed,
    identifier,
    sample_items,
)

Plant = Callable[[Repository], None]

POISONED = 23
"""The record that some faults choose; it lies in the middle of the busy day."""


@dataclass(frozen=True)
class Fault:
    """A fault, and what can be had in spite of it.

    Attributes:
        name: The function's.
        line: Its number among the things that real repositories do.
        plant: Makes a repository have it.
        lost: Identifiers of records that nobody can get, in any way.
        titles: Where the right title is not the item's, by identifier.
        extra: Identifiers that come instead of those of the items.
        query: What the person pasted behind the base URL.
        arguments: Of the harvest: ``set_spec`` and so on.
        listed: Numbers of the items that the harvest asks for; None: all.
        unnamed: Whether what is lost has no identifier that one could tell.
        doubted: Whether nothing can show that the list is whole.
    """

    name: str
    line: int
    plant: Plant
    lost: frozenset[str] = frozenset()
    titles: Mapping[str, str | None] = field(default_factory=dict)
    extra: frozenset[str] = frozenset()
    query: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    listed: frozenset[int] | None = None
    unnamed: bool = False
    doubted: bool = False

    @property
    def attainable(self) -> frozenset[str]:
        """Every identifier that a perfect harvester brings home."""
        numbers = {item.number for item in sample_items()} if self.listed is None else self.listed
        return frozenset(map(identifier, numbers)) - self.lost | self.extra

    @property
    def lost_by_name(self) -> frozenset[str]:
        """The identifiers under which a receipt has to tell what is lost."""
        if self.extra:
            return frozenset()
        return frozenset({""}) if self.unnamed else self.lost


FAULTS: dict[str, Fault] = {}


def fault(line: int, *, lost: Iterable[int] = (), **more: Any) -> Callable[[Plant], Plant]:
    """Register a function as a fault; see `Fault`."""

    def register(plant: Plant) -> Plant:
        assert plant.__doc__, plant.__name__
        assert plant.__name__ not in FAULTS, plant.__name__
        FAULTS[plant.__name__] = Fault(
            plant.__name__, line, plant, frozenset(map(identifier, lost)), **more
        )
        return plant

    return register


def repository_with(*names: str) -> Repository:
    """A repository with faults, the last one outermost."""
    repository = Repository()
    for name in names:
        FAULTS[name].plant(repository)
    return repository


def now_and_then(repository: Repository, instead: Callable[[Asked, Reply], Reply]) -> None:
    """Answer a list request another way the first time it is sent."""

    @changed(repository, "reply")
    def reply(step: Callable[[Asked], Reply], asked: Asked) -> Reply:
        proper = step(asked)
        return instead(asked, proper) if asked.lists and asked.times == 0 else proper


def pages_with(repository: Repository, number: int, verbs: str, answer: Callable[[], str]) -> None:
    """Answer the lists of ``verbs`` another way where a record is on the page.

    With GetRecord among the verbs, the record alone as well.
    """

    @changed(repository, "entries")
    def entries(step: Callable[[Page], str], page: Page) -> str:
        concerned = page.holds(number) and page.place.verb in verbs
        return answer() if concerned else step(page)

    @changed(repository, "get_record")
    def get_record(step: Callable[[Asked], str], asked: Asked) -> str:
        concerned = asked.params.get("identifier") == identifier(number) and "GetRecord" in verbs
        return answer() if concerned else step(asked)


def instead(reply: Reply) -> Callable[[], str]:
    """For `pages_with`: this reply, whatever was asked."""

    def answer() -> str:
        raise Instead(reply)

    return answer


def no_list_size(repository: Repository) -> None:
    """Have no completeListSize anywhere; it is optional."""

    @changed(repository, "token_attributes")
    def token_attributes(step: Callable[[Page], dict[str, Any]], page: Page) -> dict[str, Any]:
        return {}
