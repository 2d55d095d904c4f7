"""The search over all Silos that commands and the page call."""

from recordsilo import Granary
from recordsilo.errors import SearchError, did_you_mean
from silofleet.search.silos import search_silos
from silofleet.search.values import REPOSITORY, AllSearch, Answer


def search_all(granary: Granary, search: AllSearch) -> Answer:
    """Search every Silo of a directory.

    Args:
        granary: The directory.
        search: What is searched for.

    Raises:
        SearchError: The search is wrong, or a filter names a Silo that does not exist.
    """
    wanted = search.filters.named(REPOSITORY)
    if wanted and (unknown := sorted({*wanted} - {*(names := granary.silos)})):
        raise SearchError(f"there is no Silo {unknown[0]!r}{did_you_mean(unknown[0], names)}")
    return search_silos(granary, search)
