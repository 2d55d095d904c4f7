"""The main navigation: four groups, each with the lists and forms of one kind of work."""

from dataclasses import dataclass

from webui import urls
from webui.people.roles import Role, User


@dataclass(frozen=True, slots=True)
class NavigationLink:
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
class Menu:
    """A menu of the main navigation."""

    label: str
    entries: tuple[NavigationLink, ...]

    def offered(self, user: User) -> tuple[NavigationLink, ...]:
        """The entries that a user may follow."""
        return tuple(one for one in self.entries if user.may(one.role))


NAVIGATION: tuple[Menu, ...] = (
    Menu(
        "Browse",
        (
            NavigationLink("Records", "/search", also=("/records",)),
            NavigationLink("Sets", "/sets"),
            NavigationLink("Collections", "/collections"),
            NavigationLink("Saved searches", "/searches"),
        ),
    ),
    Menu(
        "Curate",
        (
            NavigationLink("Batch edit", "/bulk", Role.CURATOR),
            NavigationLink("Past batch edits", "/bulk/jobs"),
            NavigationLink("Rules", "/rules"),
            NavigationLink("Clusters", "/clusters"),
            NavigationLink("Source changes", "/upstream"),
            NavigationLink("Quality", "/quality"),
            NavigationLink("Probable duplicates", "/quality/duplicates"),
            NavigationLink("Activity", "/activity", Role.CURATOR),
        ),
    ),
    Menu(
        "Harvest & export",
        (
            NavigationLink("Jobs", "/jobs"),
            NavigationLink("Harvests", "/harvests"),
            NavigationLink("Crawls", "/crawls"),
            NavigationLink("New job", "/jobs/new", Role.MANAGER),
            NavigationLink("Schedules", "/schedules", Role.MANAGER),
        ),
    ),
    Menu(
        "Admin",
        (
            NavigationLink("Accounts", "/accounts", Role.MANAGER),
            NavigationLink("Export places", "/places", Role.MANAGER),
        ),
    ),
)
"""A group appears once it has an entry that the user may follow."""

FLEET_MENU: tuple[Menu, ...] = (
    Menu("Repositories", (NavigationLink("Repositories", "/fleet", also=("/add-repositories",)),)),
    Menu("Silos", (NavigationLink("Silos", "/silos"),)),
    Menu("Search", (NavigationLink("Search", "/search"),)),
    Menu("Accounts", (NavigationLink("Accounts", "/accounts", Role.MANAGER),)),
)
"""The menu of a directory of Silos that is a fleet: single links."""
