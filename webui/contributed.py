"""The pages that packages contribute: lines of the route table, and links that lead to them.

An entry point of the group ``webui.pages`` names a `Pages`. The usage of the records comes
through this door, too.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo.contributions import contributions
from webui.navigation import NAVIGATION, Menu, NavigationLink
from webui.people.roles import User
from webui.route import Route

GROUP = "webui.pages"


@dataclass(frozen=True, slots=True)
class HomePart:
    """What a package shows of the collection on the home page.

    Attributes:
        template: One of the page's templates, with a ``part`` that gets ``data``.
        told: The same as JSON values.
    """

    template: str
    data: Mapping[str, Any]
    told: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Pages:
    """The pages of a package.

    Attributes:
        name: The entry point's name.
        routes: Their lines in the table. An address begins with a fixed segment; one that the
            page has already stays the page's.
        menu: Entries of the main navigation, each with the label of its group, such as
            ``Browse``; a label that no group has makes one.
        of_search: What is offered for the records of a search; its address gets the query of the
            search.
        actions: Codes of actions in the activity log (`webui.activity.note`) → what they are
            called, English texts of the catalogue.
        on_home: Gets the `Site`; returns what the home page shows of the package, or None.
    """

    name: str
    routes: tuple[Route, ...]
    menu: tuple[tuple[str, NavigationLink], ...] = ()
    of_search: tuple[NavigationLink, ...] = ()
    actions: Mapping[str, str] = field(default_factory=dict)
    on_home: Callable[[Any], HomePart | None] | None = None

    def __post_init__(self) -> None:
        for route in self.routes:
            if not route.parts or "{" in route.parts[0]:
                raise ValueError(f"an address of a package begins with its name: {route.pattern}")


def contributed() -> tuple[Pages, ...]:
    """Return the pages of all packages; those that cannot be loaded are reported and left out."""
    return tuple(contributions(GROUP, Pages))


def navigation() -> tuple[Menu, ...]:
    """Return the main navigation, with the entries of packages behind ours."""
    groups = {group.label: list(group.entries) for group in NAVIGATION}
    for label, entry in (one for pages in contributed() for one in pages.menu):
        groups.setdefault(label, []).append(entry)
    return tuple(Menu(label, tuple(entries)) for label, entries in groups.items())


def offered_for_search(user: User) -> tuple[NavigationLink, ...]:
    """Return what packages offer a user for the records of a search."""
    return tuple(link for pages in contributed() for link in pages.of_search if user.may(link.role))


def place_of(page_url: str, menus: Iterable[Menu]) -> NavigationLink | None:
    """The entry of menus that a page belongs to: the one that matches most of its address."""
    entries = [one for group in menus for one in group.entries]
    if not entries:
        return None
    found = max(entries, key=lambda entry: entry.reach(page_url))
    return found if found.reach(page_url) else None
