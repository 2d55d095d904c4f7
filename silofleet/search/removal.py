"""The index of all Silos forgets records that were removed for good."""

import os
from collections.abc import Sequence

from recordsilo import Granary
from recordsilo.removals import OnRemoval
from silofleet.search.feeding import feed
from silofleet.search.index import place_of


def _forget(silo_path: str, _identifiers: Sequence[str]) -> None:
    """Feed the index of the directory that the Silo is in, if it has one, by this Silo alone.

    Raises:
        FeedingBusy, IndexNotWritten, PackageMissing, OSError: See `feed`.
    """
    directory, name = os.path.split(os.path.abspath(silo_path))
    if os.path.isdir(place_of(directory)):
        feed(Granary(directory, create=False), only=name)


REMOVAL = OnRemoval("all-silos", _forget)
