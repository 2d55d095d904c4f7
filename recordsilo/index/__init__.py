"""The index: a projection of the manifests, which can be rebuilt at any time.

Never the truth, and never needed to read or write a record: it makes ``len``, paged
lists, filters, full text and facets fast. `interface` says what it has to do;
`database.SqliteIndex` does it.
"""

from recordsilo.index.database import SqliteIndex
from recordsilo.index.interface import Index
from recordsilo.index.projection import Described, Entry, ManifestStamp, Row, project
from recordsilo.index.query import Filters, Page
from recordsilo.index.search_values import (
    FacetValue,
    PageRequest,
    SearchFilters,
    SearchResult,
)

__all__ = [
    "Described",
    "Entry",
    "FacetValue",
    "Filters",
    "Index",
    "ManifestStamp",
    "Page",
    "PageRequest",
    "Row",
    "SearchFilters",
    "SearchResult",
    "SqliteIndex",
    "project",
]
