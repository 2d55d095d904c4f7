"""What can go wrong between a repository and a Silo: one tree, each message one sentence.

ScraperError              also the base of what `politeweb` and `oaipmhclient` raise
├── HarvestStopped          a list that ended before its end; what came is kept (`receipt`)
├── HarvestRunning          another process is at the same harvest
├── JournalUnreadable       what is noted of open harvests cannot be read
├── BaseURLConflict         the Silo remembers another repository
├── NoBaseURL               the Silo remembers none
└── NothingToUpdate         nothing was harvested before
"""

from politeweb.errors import FetchError

ScraperError = FetchError
"""Base of everything this package raises, and of what `politeweb` and `oaipmhclient` raise."""


class HarvestRunning(ScraperError):
    """The same harvest is under way in another process or thread; nothing was sent."""

    def __init__(self, storage_dir: str) -> None:
        super().__init__(f"another process is at the same harvest into {storage_dir} just now")


class JournalUnreadable(ScraperError):
    """A journal is damaged, or of a later version of this program: of harvests, of fetched files.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(
            f"{path} cannot be read ({reason}); it may be deleted: what was under way then begins"
            " anew, and nothing that is stored is lost"
        )


class BaseURLConflict(ScraperError):
    """A Silo is harvested from one repository only, and this is another.

    Attributes:
        remembered: The base URL in the Silo.
        given: The one asked for.
    """

    def __init__(self, storage_dir: str, remembered: str, given: str) -> None:
        self.remembered = remembered
        self.given = given
        super().__init__(
            f"{storage_dir} was harvested from {remembered}, not from {given}; if the repository"
            f" moved, say so once: silo harvest --moved {given} {storage_dir}"
        )


class NoBaseURL(ScraperError):
    """The Silo was never harvested from anywhere."""

    def __init__(self, storage_dir: str) -> None:
        super().__init__(
            f"{storage_dir} does not remember a repository; give the repository's base URL"
        )


class NothingToUpdate(ScraperError):
    """An update goes on from an earlier harvest, and there is none."""

    def __init__(self, storage_dir: str) -> None:
        super().__init__(f"nothing was harvested into {storage_dir} yet; harvest it first")
