"""The pages of a list that a second process stores: which it has, and what it answers."""

import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass

from oaipmhscraper.errors import StoringEnded
from oaipmhscraper.lists.list_state import ListState
from oaipmhscraper.storing import fetched_pages
from oaipmhscraper.storing.fetched_pages import Stored, Storing
from recordsilo.second_process import SecondProcess

logger = logging.getLogger("OAIPMH Harvester")

AHEAD = 2
"""Pages that are given to the second process before it answers: one to store, one to come."""
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


class StoringApart(SecondProcess):
    """The second process of one list.

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
        super().__init__(fetched_pages.__name__, tell=wake)
        self._state, self._how = state, how
        self._is_ending = self.is_ended = False
        self.start()
        self.give()

    def give(self) -> None:
        """Give it the next pages."""
        pages = self._state.to_store
        while not self._is_ending and self.unanswered < min(AHEAD, len(pages)):
            level = min(logging.getLogger(name).getEffectiveLevel() for name in ("", logger.name))
            self.ask(pickle.dumps((self._how, pages[self.unanswered], level)))

    def taken(self) -> Stored | None:
        """Take the answer for the first page of ``to_store``, and log what it logged.

        Ctrl-C has to be deferred until the page is counted: an answer comes only once.

        Returns:
            None if there is no answer.

        Raises:
            StoringEnded: The process ended, although more pages are to be stored.
            RecordSiloError, OSError: It could not store the page.
        """
        if self.is_ended or not self.has_answer():
            return None
        content = self.answer()
        if content is None:
            self.is_ended = True
            if self._is_ending:
                return None
            raise StoringEnded(self.wait())
        answer, logged = pickle.loads(content)  # noqa: S301 - a process of ours
        for record in logged:
            if (origin := logging.getLogger(record.name)).isEnabledFor(record.levelno):
                origin.handle(record)
        if isinstance(answer, Stored):
            return answer
        self.is_ended = True
        raise answer.error

    def no_more(self) -> None:
        """Let it end after the pages that it has; the last answer is then None."""
        self._is_ending = True
        super().no_more()
