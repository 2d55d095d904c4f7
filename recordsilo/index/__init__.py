"""The index: a projection of the manifests, which can be rebuilt at any time.

It makes ``len``, paged lists, filters, full text and facets fast. The manifests are
authoritative, and records are read and written without the index. `interface` specifies
it; `database.SqliteIndex` implements it.
"""

from recordsilo.index.database import SqliteIndex
from recordsilo.index.interface import Index
from recordsilo.index.orders import cursor_behind
from recordsilo.index.projection import Described, Entry, ManifestStamp, Row, project
from recordsilo.index.query import Filters, Page
from recordsilo.index.search_values import (
    Around,
    FacetValue,
    PageRequest,
    ResultPage,
    SearchFilters,
)

__all__ = [
    "Around",
    "Described",
    "Entry",
    "FacetValue",
    "Filters",
    "Index",
    "ManifestStamp",
    "Page",
    "PageRequest",
    "ResultPage",
    "Row",
    "SearchFilters",
    "SqliteIndex",
    "cursor_behind",
    "project",
]
