"""recordsilo: records harvested from repositories, as plain versioned files in a pairtree.

    >>> from recordsilo import Silo
    >>> silo = Silo("myrepo")
    >>> record = silo.get_item("oai:eprints.example.org:6102")

The store knows no network and no web. docs/format.md says what is on disk.
"""

from recordsilo.edit import RecordEdit
from recordsilo.errors import RecordSiloError, SiloNotFound
from recordsilo.granary import Granary
from recordsilo.index import Filters, Page, Row
from recordsilo.manifest import Digest, Manifest, Origin, Version
from recordsilo.record import HarvestedRecord
from recordsilo.record_view import FileInfo
from recordsilo.silo import Batch, Silo
from recordsilo.state import PersistentState

__all__ = [
    "Batch",
    "Digest",
    "FileInfo",
    "Filters",
    "Granary",
    "HarvestedRecord",
    "Manifest",
    "Origin",
    "Page",
    "PersistentState",
    "RecordEdit",
    "RecordSiloError",
    "Row",
    "Silo",
    "SiloNotFound",
    "Version",
]
