"""The main navigation: one line for each room of the page."""

from dataclasses import dataclass

from webui import urls
from webui.people.roles import Role


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the main navigation.

    Attributes:
        label: An English text of the catalogue.
        path: Where it leads; every page below it belongs to the same room.
        role: Who may go there.
    """

    label: str
    path: str
    role: Role = Role.VIEWER

    @property
    def url(self) -> str:
        """The address of that."""
        return urls.at(self.path)

    def holds(self, page_url: str) -> bool:
        """Whether a page is in this room."""
        path = page_url.partition("?")[0]
        return path == self.url or path.startswith(self.url + "/")


NAVIGATION: tuple[Entry, ...] = (
    Entry("Search", "/search"),
    Entry("Records", "/records"),
    Entry("Sets", "/sets"),
    Entry("Saved searches", "/searches"),
    Entry("Batch edit", "/bulk", Role.CURATOR),
    Entry("Jobs", "/jobs"),
    Entry("Clusters", "/clusters"),
    Entry("Source changes", "/upstream"),
    Entry("Quality", "/quality"),
    Entry("Activity", "/activity", Role.CURATOR),
)
