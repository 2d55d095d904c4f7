"""What can go wrong between a repository and a Silo: one tree, each message one sentence.

    ScraperError              also the base of all that `politeweb.errors` lists
    ├── EndpointError           the repository, or the way to it (`politeweb`)
    │   └── PageUnreadable        bytes that are no OAI-PMH answer
    │       ├── EntitiesRefused     entities other than XML's own five
    │       └── PageOverfull        far more would be made of it than it has bytes
    ├── TokenLoopError          a list that leads back into itself
    ├── HarvestStopped          a list that ended before its end; what came is kept (`receipt`)
    ├── HarvestRunning          another process is at the same harvest
    ├── JournalUnreadable       what is noted of open harvests cannot be read
    ├── BaseURLConflict         the Silo remembers another repository
    ├── NoBaseURL               the Silo remembers none
    └── NothingToUpdate         nothing was harvested before

The repository's own error conditions are `oaipmhprotocol.OAIError`.
"""

from politeweb.errors import EndpointError, FetchError, shortened

ScraperError = FetchError
"""Base of everything this package raises, and of what `politeweb` raises for it."""


class PageUnreadable(EndpointError):
    """The bytes received are no OAI-PMH answer.

    Attributes:
        reason: What they are instead, or where reading failed.
    """

    def __init__(self, reason: str, url: str = "") -> None:
        self.reason = shortened(reason, 500)
        super().__init__(url, f"the answer of {url or 'the repository'} {self.reason}")

    def at(self, url: str) -> "PageUnreadable":
        """The same, with the request's URL told."""
        return type(self)(self.reason, url)


class OtherAnswer(PageUnreadable):
    """A well-formed answer to another verb than was asked."""


class EntitiesRefused(PageUnreadable):
    """The answer wants entities resolved, as entity bombs and file thieves do."""


class PageOverfull(PageUnreadable):
    """Far more would be made of the answer than it has bytes; it is not mended either."""


class TokenLoopError(ScraperError):
    """A list leads back into itself; the pages before are sound, the list is not complete.

    Attributes:
        token: The resumption token that came again, or that gave the same page again.
    """

    def __init__(self, token: str, what: str = "was handed out before") -> None:
        self.token = token
        super().__init__(f"the list runs in a circle: resumption token {shortened(token)!r} {what}")


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
