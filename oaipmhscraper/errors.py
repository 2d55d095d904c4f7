"""Errors of harvesting: one hierarchy, each message one sentence.

ScraperError              also the base of the errors of `politeweb`, `filestores`, `oaipmhclient`
├── HarvestStopped          a list broke off; stored pages are kept (`receipt`)
├── HarvestRunning          another process is at the same harvest, or at a list of it
├── StoringEnded            the process that stores pages ended
├── FetchedPageUnreadable   a page that is to be stored cannot be read from its WARC file
├── JournalUnreadable       the journal of open harvests cannot be read
├── ElsewhereUnreadable     the list of WARC files in an object store cannot be read
├── ArchiveRunning          another process moves the WARC files of the Silo
├── BaseURLConflict         the Silo belongs to another repository
├── NoBaseURL               the Silo belongs to no repository
└── NothingToUpdate         nothing was harvested before
"""

from collections.abc import Sequence

from politeweb.errors import FetchError

ScraperError = FetchError
"""Base of the errors of this package, `politeweb`, `filestores` and `oaipmhclient`."""


class HarvestRunning(ScraperError):
    """Another process or thread runs the same harvest, or one of a list of it.

    Args:
        storage_dir: The Silo's directory.
        lists: The lists that are being harvested; empty if it is the same harvest.
    """

    def __init__(self, storage_dir: str, lists: Sequence[str] = ()) -> None:
        what = "harvesting " + ", ".join(lists) if lists else "running the same harvest"
        super().__init__(
            f"another process is {what} into {storage_dir}; try again when it has ended"
        )


class StoringEnded(ScraperError):
    """The process that stores pages ended; the same harvest continues with its page."""

    def __init__(self, code: int) -> None:
        self.code = code
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        super().__init__(
            f"the process that stores records {how}; the same command continues with the pages"
            " that are fetched and not stored yet"
        )


class FetchedPageUnreadable(ScraperError):
    """A WARC file with pages that are to be stored is missing or damaged."""

    def __init__(self, sentence: str) -> None:
        super().__init__(
            f"{sentence}; it has pages that are not stored yet. Restore it, or fetch the list"
            " again with --again"
        )


class JournalUnreadable(ScraperError):
    """A journal of harvests or of fetched files is damaged, or of a later version of the program.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(
            f"{path} cannot be read ({reason}); it may be deleted: open harvests then"
            " start again, and no stored record is lost"
        )


class ElsewhereUnreadable(ScraperError):
    """The list of the WARC files that are in an object store is damaged."""

    def __init__(self, path: str, number: int, reason: str) -> None:
        super().__init__(f"line {number} of {path} cannot be read: {reason}; restore the file")


class ArchiveRunning(ScraperError):
    """Another process moves the WARC files of the same Silo to or from an object store."""

    def __init__(self, silo_path: str) -> None:
        super().__init__(f"another process is moving the WARC files of {silo_path}")


class BaseURLConflict(ScraperError):
    """A Silo is harvested from one repository only, and this is another.

    Attributes:
        remembered: The base URL in the Silo.
    """

    def __init__(self, storage_dir: str, remembered: str, given: str) -> None:
        self.remembered = remembered
        self.given = given
        super().__init__(
            f"{storage_dir} was harvested from {remembered}, not from {given}; if the repository"
            f" has moved, run once: silo harvest --moved {given} {storage_dir}"
        )


class NoBaseURL(ScraperError):
    """The Silo was never harvested."""

    def __init__(self, storage_dir: str) -> None:
        super().__init__(f"{storage_dir} has no repository yet; give the repository's base URL")


class NothingToUpdate(ScraperError):
    """There is no earlier harvest to update."""

    def __init__(self, storage_dir: str, *, has_pages: bool = False) -> None:
        what, advice = "nothing was harvested into", "harvest it first"
        if has_pages:
            what = "no records were stored in"
            advice = "to update its pages: silo update --pages-only"
        super().__init__(f"{what} {storage_dir} yet; {advice}")
