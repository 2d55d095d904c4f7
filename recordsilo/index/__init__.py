"""The index: a projection of the manifests in SQLite, rebuildable at any time.

Never the truth, and never needed to read or write a record: it makes ``len``,
membership, paged lists, filters, full text and facets instant.
"""

from recordsilo.index.database import Index
from recordsilo.index.projection import Entry, ManifestStamp, Row, project
from recordsilo.index.query import Filters, Page
from recordsilo.index.search_values import (
    FacetValue,
    PageRequest,
    SearchFilters,
    SearchResult,
)

__all__ = [
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
    "project",
]
