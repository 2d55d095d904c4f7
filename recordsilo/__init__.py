"""recordsilo stores records harvested from repositories as plain, versioned files.

    >>> import recordsilo
    >>> silo = recordsilo.open("myrepo")
    >>> record = silo.get_item("oai:eprints.example.org:6102")

The store does not use the network or the web. docs/format.md describes the files on disk.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recordsilo.disk.digest import Digest
from recordsilo.distribution import release
from recordsilo.errors import (
    IndexProblem,
    RecordNotFound,
    RecordSiloError,
    SearchError,
    SiloNotFound,
    SiloNotWritable,
)
from recordsilo.granary import Granary
from recordsilo.harvesting import HarvestReceipt, harvest
from recordsilo.index import (
    FacetValue,
    Filters,
    Page,
    PageRequest,
    Row,
    SearchFilters,
)
from recordsilo.records.batch import Batch
from recordsilo.records.differences import Differences, FileDifference
from recordsilo.records.edit import RecordEdit
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.records.manifest import Manifest, Origin, Version
from recordsilo.records.metadata_document import MetadataDocument
from recordsilo.records.record_view import FileInfo
from recordsilo.search_result import SearchResult
from recordsilo.silo import Silo, open_existing
from recordsilo.state import PersistentState

if TYPE_CHECKING:
    __version__: str
    from recordsilo.rdf.records import RDFManifest as RDFManifest
    from recordsilo.rdf.records import RDFRecord as RDFRecord
    from recordsilo.rdf.records import RDFSilo as RDFSilo

__all__ = [
    "Batch",
    "Differences",
    "Digest",
    "FacetValue",
    "FileDifference",
    "FileInfo",
    "Filters",
    "Granary",
    "HarvestReceipt",
    "HarvestedRecord",
    "IndexProblem",
    "Manifest",
    "MetadataDocument",
    "Origin",
    "Page",
    "PageRequest",
    "PersistentState",
    "RecordEdit",
    "RecordNotFound",
    "RecordSiloError",
    "Row",
    "SearchError",
    "SearchFilters",
    "SearchResult",
    "Silo",
    "SiloNotFound",
    "SiloNotWritable",
    "Version",
    "harvest",
]
"""Without ``open``: ``import *`` must not hide the one of Python."""

open = open_existing  # noqa: A001 - as in gzip and wave


def __getattr__(name: str) -> Any:
    """Import what is slow to load on first use; ``import *`` omits it."""
    if name in {"RDFManifest", "RDFRecord", "RDFSilo"}:
        return getattr(import_module("recordsilo.rdf.records"), name)
    if name == "__version__":
        return release()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
