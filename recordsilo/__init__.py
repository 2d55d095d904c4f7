"""recordsilo stores records harvested from repositories as plain, versioned files.

    >>> import recordsilo
    >>> silo = recordsilo.open("myrepo")
    >>> record = silo.get_item("oai:eprints.example.org:6102")

The store does not use the network or the web. docs/format.md describes the files on disk.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recordsilo.disk.digest import Digest
    from recordsilo.errors import (
        ArgumentUnknown,
        DanglingLink,
        DirectoryNotEmpty,
        FieldUnknown,
        FileDamaged,
        FileInTheWay,
        FileNotInVersion,
        FileNotKept,
        FileUnreadable,
        IdentifierError,
        IndexProblem,
        LastVersion,
        ManifestUnreadable,
        MetadataConflict,
        MetadataMalformed,
        MetadataUnreadable,
        MomentUnknown,
        NotASilo,
        NotCopied,
        PathNameError,
        ReadOnlyMoment,
        RecordGone,
        RecordNotFound,
        RecordNotThen,
        RecordRemoved,
        RecordSiloError,
        RevisionConflict,
        SearchError,
        SiloGone,
        SiloNotFound,
        SiloNotWritable,
        SiloSettingConflict,
        SourceFailed,
        StateUnreadable,
        VersionExists,
        VersionFrozen,
        VersionNameError,
        VersionNotFound,
        VersionStateError,
    )
    from recordsilo.extras import PackageMissing
    from recordsilo.formats import Description, Link, Value
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
    from recordsilo.rdf.records import RDFManifest as RDFManifest
    from recordsilo.rdf.records import RDFRecord as RDFRecord
    from recordsilo.rdf.records import RDFSilo as RDFSilo
    from recordsilo.records.batch import Batch
    from recordsilo.records.differences import Differences, FileDifference
    from recordsilo.records.edit import RecordEdit
    from recordsilo.records.harvested_record import HarvestedRecord
    from recordsilo.records.manifest import Manifest, Origin, Version
    from recordsilo.records.metadata_document import MetadataDocument
    from recordsilo.records.record_view import FileInfo
    from recordsilo.search_result import SearchResult
    from recordsilo.selection import Selection
    from recordsilo.silo import Silo, open_existing
    from recordsilo.silo_then import SiloThen
    from recordsilo.state import PersistentState

    open = open_existing  # noqa: A001 - as in gzip and wave; an alias would not be exported
    __version__: str

__all__ = [
    "ArgumentUnknown",
    "Batch",
    "DanglingLink",
    "Description",
    "Differences",
    "Digest",
    "DirectoryNotEmpty",
    "FacetValue",
    "FieldUnknown",
    "FileDamaged",
    "FileDifference",
    "FileInTheWay",
    "FileInfo",
    "FileNotInVersion",
    "FileNotKept",
    "FileUnreadable",
    "Filters",
    "Granary",
    "HarvestReceipt",
    "HarvestedRecord",
    "IdentifierError",
    "IndexProblem",
    "LastVersion",
    "Link",
    "Manifest",
    "ManifestUnreadable",
    "MetadataConflict",
    "MetadataDocument",
    "MetadataMalformed",
    "MetadataUnreadable",
    "MomentUnknown",
    "NotASilo",
    "NotCopied",
    "Origin",
    "PackageMissing",
    "Page",
    "PageRequest",
    "PathNameError",
    "PersistentState",
    "ReadOnlyMoment",
    "RecordEdit",
    "RecordGone",
    "RecordNotFound",
    "RecordNotThen",
    "RecordRemoved",
    "RecordSiloError",
    "RevisionConflict",
    "Row",
    "SearchError",
    "SearchFilters",
    "SearchResult",
    "Selection",
    "Silo",
    "SiloGone",
    "SiloNotFound",
    "SiloNotWritable",
    "SiloSettingConflict",
    "SiloThen",
    "SourceFailed",
    "StateUnreadable",
    "Value",
    "Version",
    "VersionExists",
    "VersionFrozen",
    "VersionNameError",
    "VersionNotFound",
    "VersionStateError",
    "harvest",
]
"""Without ``open``: ``import *`` must not hide the one of Python."""

_MODULES = {
    "disk.digest": "Digest",
    "errors": "ArgumentUnknown DanglingLink DirectoryNotEmpty FieldUnknown FileDamaged "
    "FileInTheWay FileNotInVersion FileNotKept FileUnreadable IdentifierError IndexProblem "
    "LastVersion ManifestUnreadable MetadataConflict MetadataMalformed MetadataUnreadable "
    "MomentUnknown NotASilo NotCopied PathNameError ReadOnlyMoment RecordGone RecordNotFound "
    "RecordNotThen RecordRemoved RecordSiloError RevisionConflict SearchError "
    "SiloGone SiloNotFound SiloNotWritable SiloSettingConflict SourceFailed StateUnreadable "
    "VersionExists VersionFrozen VersionNameError VersionNotFound VersionStateError",
    "extras": "PackageMissing",
    "formats": "Description Link Value",
    "granary": "Granary",
    "harvesting": "HarvestReceipt harvest",
    "index": "FacetValue Filters Page PageRequest Row SearchFilters",
    "records.batch": "Batch",
    "records.differences": "Differences FileDifference",
    "records.edit": "RecordEdit",
    "records.harvested_record": "HarvestedRecord",
    "records.manifest": "Manifest Origin Version",
    "records.metadata_document": "MetadataDocument",
    "records.record_view": "FileInfo",
    "search_result": "SearchResult",
    "selection": "Selection",
    "silo": "Silo",
    "silo_then": "SiloThen",
    "state": "PersistentState",
    "rdf.records": "RDFManifest RDFRecord RDFSilo",
}
"""Module → the names that it has. One is loaded when a name of it is asked for, so that
``silo --help`` loads none."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load the module of a name when it is first used."""
    if name == "__version__":
        return import_module("recordsilo.distribution").release()
    if name == "open":  # as in gzip and wave
        return import_module("recordsilo.silo").open_existing
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"recordsilo.{_MODULE_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    """List the names, also those that are not loaded."""
    return sorted({*globals(), *_MODULE_OF, "__version__", "open"})
