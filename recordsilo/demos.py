"""What packages add to `silo demo`: values of the entry-point group ``recordsilo.demos``."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DemoPart:
    """What `silo demo` does after its harvest, if it is asked to.

    Attributes:
        name: Of its option, without ``--``, and of its entry point.
        help: A sentence for `silo demo --help`.
        needs_pages: Whether the sample has to serve landing pages and documents.
        check: Called before the harvest.

            Raises:
                RecordSiloError: What it needs is missing.
        run: Called with the path of the Silo and the address of the sample's pages, while they
            are served; prints what it did. Doing it again is harmless.

            Raises:
                RecordSiloError: It failed.
    """

    name: str
    help: str
    check: Callable[[], object]
    run: Callable[[str, str], object]
    needs_pages: bool = False
