"""The main navigation: one line for each room of the page."""

from dataclasses import dataclass

from webui import urls


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the main navigation.

    Attributes:
        label: An English text of the catalogue.
        url: Where it leads; every page below it belongs to the same room.
    """

    label: str
    url: str

    def holds(self, page_url: str) -> bool:
        """Whether a page is in this room."""
        path = page_url.partition("?")[0]
        return path == self.url or path.startswith(self.url + "/")


NAVIGATION: tuple[Entry, ...] = (
    Entry("Search", urls.SEARCH),
    Entry("Records", urls.RECORDS),
    Entry("Sets", urls.SETS),
    Entry("Saved", urls.SEARCHES),
    Entry("Change many", urls.BULK),
    Entry("Jobs", urls.JOBS),
    Entry("Clusters", urls.CLUSTERS),
    Entry("Upstream", urls.UPSTREAM),
    Entry("Quality", urls.QUALITY),
    Entry("Activity", urls.ACTIVITY),
)
