"""Ask a place for candidates: a list of one's own here, or a service by `http_service`."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from silocuration.reconciling.lists import candidates_in, read_list
from silocuration.reconciling.places import ReconciliationPlace
from silocuration.reconciling.protocol import Candidate, ReconciliationQuery, ServiceManifest


class OpenPlace(Protocol):
    """A place that was opened."""

    manifest: ServiceManifest

    def candidates(self, queries: Sequence[ReconciliationQuery]) -> list[tuple[Candidate, ...]]:
        """Return the candidates of each query, in order.

        Raises:
            PlaceUnusable: It does not answer as specified.
        """

    def close(self) -> None:
        """End the connections."""


class ListOfOnesOwn:
    """A list, asked in this process.

    Raises:
        ListUnusable: It cannot be read.
    """

    def __init__(self, place: ReconciliationPlace, silo_path: str) -> None:
        self._names = read_list(place.list_path(silo_path))
        self.manifest = ServiceManifest(place.title)

    def candidates(self, queries: Sequence[ReconciliationQuery]) -> list[tuple[Candidate, ...]]:
        """See `OpenPlace`."""
        return [candidates_in(self._names, one) for one in queries]

    def close(self) -> None:
        """Do nothing."""


def opened(place: ReconciliationPlace, silo_path: str, **options: Any) -> OpenPlace:
    """Open a place.

    Raises:
        PlaceUnusable, ListUnusable: It cannot be asked.
    """
    if place.list:
        return ListOfOnesOwn(place, silo_path)
    from silocuration.reconciling.http_service import (  # noqa: PLC0415  # loads 100 ms of HTTP
        Service,
    )

    return Service(place, **options)


def of_values(
    values: Mapping[str, int] | Sequence[str], kind: str = ""
) -> list[ReconciliationQuery]:
    """Return the query of each value."""
    return [ReconciliationQuery(value, (kind,) if kind else ()) for value in values]
