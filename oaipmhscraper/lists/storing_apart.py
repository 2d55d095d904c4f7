"""The pages of a list that a second process stores: which it has, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass

from oaipmhscraper.errors import StoringEnded
from oaipmhscraper.lists.list_state import ListState
from oaipmhscraper.storing.fetched_pages import AHEAD, Stored, Storing, StoringProcess

MOST_AHEAD = 10_000
"""Most pages that are fetched and not stored. Their responses are stored anyway; this bounds the
journal, and what a full disk or a stopped harvest leaves to be stored."""

SHARE = 0.25
"""A second process pays if the repository takes this share of the time for storing: it costs about
a tenth more CPU, and saves no more time than is waited for the repository."""


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Apart:
    """When and how a list is stored by a second process.

    Attributes:
        how: How pages are stored from WARC files; None if there are none.
        begins_at: Number of listed records from which on the second process may store; None for
            never, 0 for at once.
        flush: Returns once all responses are on the medium.
    """

    how: Storing | None = None
    begins_at: int | None = None
    flush: Callable[[], None] = _nothing

    def pays(self, listed: int, waited: float, stored: float) -> bool:
        """Whether a second process would store while this one waits for the repository.

        Args:
            listed: Number of listed records so far.
            waited: Seconds that the repository took for the pages stored here.
            stored: Seconds that it took to store them.
        """
        if self.begins_at is None or listed < self.begins_at:
            return False
        return self.begins_at == 0 or waited >= SHARE * stored


class StoringApart:
    """The second process of one list, while it runs.

    Attributes:
        is_ended: Whether its last answer was taken.

    Args:
        state: The list; its ``to_store`` are the pages to store.
        how: How they are stored.
        wake: Called in another thread, whenever `taken` has an answer.

    Raises:
        OSError: The process cannot be started.
    """

    def __init__(self, state: ListState, how: Storing, wake: Callable[[], object]) -> None:
        self._state = state
        self._process = StoringProcess(how, wake)
        self._process.start()
        self._is_ending = False
        self.is_ended = False
        self.give()

    def give(self) -> None:
        """Give it the next pages."""
        pages = self._state.to_store
        while not self._is_ending and self._process.unanswered < min(AHEAD, len(pages)):
            self._process.store(pages[self._process.unanswered])

    def taken(self) -> Stored | None:
        """Take the answer for the first page of ``to_store``; None if there is none.

        Ctrl-C has to be deferred until the page is counted: an answer comes only once.

        Raises:
            StoringEnded: The process ended, although more pages are to be stored.
            RecordSiloError, OSError: It could not store the page.
        """
        if self.is_ended or not self._process.has_answer():
            return None
        answer = self._process.stored()
        if isinstance(answer, Stored):
            return answer
        self.is_ended = True
        if self._is_ending and isinstance(answer.error, StoringEnded):
            return None
        raise answer.error

    def no_more(self) -> None:
        """Let it end after the pages that it has; the last answer is then None."""
        self._is_ending = True
        self._process.no_more()

    def close(self) -> None:
        """End it at once, if it has not ended."""
        self._process.close()
