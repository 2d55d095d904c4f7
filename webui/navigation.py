"""The main navigation: four groups, each with the lists and forms of one kind of work."""

from dataclasses import dataclass

from webui import urls
from webui.people.roles import Role, User


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the main navigation.

    Attributes:
        label: An English text of the catalogue.
        path: Its target; every page below it belongs to the entry.
        role: The role that it requires.
        also: Other paths whose pages belong to the entry.
    """

    label: str
    path: str
    role: Role = Role.VIEWER
    also: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """Return its address."""
        return urls.at(self.path)

    def reach(self, page_url: str) -> int:
        """How many characters of a page's address this entry matches."""
        path = page_url.partition("?")[0]
        known = map(urls.at, (self.path, *self.also))
        return max(
            (len(one) for one in known if path == one or path.startswith(one + "/")), default=0
        )


@dataclass(frozen=True, slots=True)
class Group:
    """A menu of the main navigation."""

    label: str
    entries: tuple[Entry, ...]

    def offered(self, user: User) -> tuple[Entry, ...]:
        """The entries that a user may follow."""
        return tuple(one for one in self.entries if user.may(one.role))


NAVIGATION: tuple[Group, ...] = (
    Group(
        "Browse",
        (
            Entry("Records", "/search", also=("/records",)),
            Entry("Sets", "/sets"),
            Entry("Usage", "/usage"),
            Entry("Saved searches", "/searches"),
        ),
    ),
    Group(
        "Curate",
        (
            Entry("Batch edit", "/bulk", Role.CURATOR),
            Entry("Past batch edits", "/bulk/jobs"),
            Entry("Rules", "/rules"),
            Entry("Clusters", "/clusters"),
            Entry("Source changes", "/upstream"),
            Entry("Quality", "/quality"),
            Entry("Probable duplicates", "/quality/duplicates"),
            Entry("Activity", "/activity", Role.CURATOR),
        ),
    ),
    Group(
        "Harvest & export",
        (
            Entry("Jobs", "/jobs"),
            Entry("Harvests", "/harvests"),
            Entry("Crawls", "/crawls"),
            Entry("New job", "/jobs/new", Role.MANAGER),
            Entry("Schedules", "/schedules", Role.MANAGER),
        ),
    ),
    Group(
        "Admin",
        (
            Entry("Accounts", "/accounts", Role.MANAGER),
            Entry("Export places", "/places", Role.MANAGER),
        ),
    ),
)
"""A group appears once it has an entry that the user may follow."""


def place_of(page_url: str) -> Entry | None:
    """The entry that a page belongs to: the one that matches most of its address."""
    found = max(
        (one for group in NAVIGATION for one in group.entries), key=lambda e: e.reach(page_url)
    )
    return found if found.reach(page_url) else None
