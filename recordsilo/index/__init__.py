"""The index: a projection of the manifests in SQLite, rebuildable at any time.

Never the truth, and never needed to read or write a record: it makes ``len``,
membership, paged lists and filters instant.
"""

from recordsilo.index.database import Index
from recordsilo.index.projection import Row, project
from recordsilo.index.query import Filters, Page

__all__ = ["Filters", "Index", "Page", "Row", "project"]
