"""The kinds of targets that other repositories take in: RO-Crates, items, documents."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO

from recordsilo import Silo
from recordsilo.selection import Selection
from siloexport.identified import found_identifiers
from siloexport.plan import Policy
from siloexport.target_kinds import FieldAvailability, FormField, Opening, TargetKind, Values
from siloexport.targets import Target
from siloexport.targets.datacite import DataciteTarget, checked_settings
from siloexport.targets.datacite_dois import DataciteSettings
from siloexport.targets.datacite_words import GENERAL_TYPES
from siloexport.targets.dspace import DspaceSettings, DspaceTarget, write_item
from siloexport.targets.dspace_metadata import DspaceMapping, read_mapping
from siloexport.targets.rocrate import CrateTarget
from siloexport.targets.tables import TableReport, write_deposits_zip
from silowork.forms import Input


def _crates(opening: Opening) -> AbstractContextManager[Target]:
    return nullcontext(CrateTarget(opening.out, opening.versions))


ROCRATE = TargetKind(
    "rocrate",
    "RO-Crates",
    "Export RO-Crates",
    """Write one RO-Crate 1.2 (a directory) for each record to OUT.

    A crate has the record's files and metadata, and ro-crate-metadata.json, which describes
    them, the people, licences and identifiers, and how each version was made.
    """,
    examples=(
        "silo export rocrate myrepo crates",
        "silo export rocrate myrepo crates --versions all --search 'type:Dataset'",
    ),
    open=_crates,
    is_directory=True,
    explained="Directories that describe themselves in JSON-LD, for research data repositories.",
    order=14,
)


def _dspace_settings(given: Values) -> DspaceSettings:
    return DspaceSettings(
        tuple(given.get("collection") or ()),
        given.get("handles") or "",
        given.get("group") or "",
        read_mapping(given["mapping"]) if given.get("mapping") else DspaceMapping(),
    )


def _dspace(opening: Opening) -> AbstractContextManager[Target]:
    return nullcontext(DspaceTarget(opening.out, _dspace_settings(opening.values)))


def _dspace_zip(
    silo: Silo,
    selection: Selection,
    file: BinaryIO,
    values: Values,
    progress: Callable[[int], None],
) -> TableReport:
    settings = _dspace_settings(values)
    has_orcids = bool(settings.mapping.field_of("creators.orcid"))
    notes: list[str] = []
    report = write_deposits_zip(
        silo,
        selection,
        file,
        lambda add, deposit: write_item(add, deposit, settings),
        Policy(identifiers=found_identifiers(silo, notes.append) if has_orcids else None),
        progress=progress,
    )
    report.notes += notes
    return report


_DSPACE_FIELDS = (
    FormField(
        "collection",
        "Collections",
        Input.TEXTS,
        help="Handle or UUID of a collection for every item, the owning one first; repeatable.",
        metavar="HANDLE",
        example="123456789/2",
    ),
    FormField(
        "handles",
        "Prefix of handles to keep",
        metavar="PREFIX",
        help="Prefix of handles to keep: a record's handle with it becomes the item's.",
    ),
    FormField(
        "group",
        "Group of readers",
        metavar="NAME",
        help="The only group of DSpace that may read the files.",
    ),
    FormField(
        "mapping",
        "Table of fields",
        metavar="FILE.toml",
        help="How metadata is mapped to fields of DSpace, and sets to collections.",
        asked=FieldAvailability.COMMAND,
    ),
)
DSPACE = TargetKind(
    "dspace",
    "DSpace items (Simple Archive Format)",
    "Export for DSpace",
    """Write one item directory for each record to OUT/items, for dspace import.

    Metadata becomes fields of DSpace by a table; files become bitstreams, and metadata as
    harvested those of the bundle METADATA. An item is the record's current version. A later
    export to OUT has the same settings.
    """,
    _DSPACE_FIELDS,
    (
        "silo export dspace myrepo saf --collection 123456789/2",
        "silo export dspace myrepo saf --mapping dspace.toml --state ready",
        "silo export dspace myrepo saf --handles 1842 --group Staff",
    ),
    open=_dspace,
    check=lambda _silo_path, values: _dspace_settings(values),
    is_directory=True,
    explained="Item directories with metadata and files, for dspace import.",
    order=15,
)
DSPACE_ZIP = TargetKind(
    "dspace-zip",
    "DSpace items in a zip",
    "Export a zip for DSpace",
    """Write the items of all records into one zip, to OUT or standard output.

    The zip is as dspace import --zip and the batch import of DSpace's page take it.
    """,
    _DSPACE_FIELDS,
    (
        "silo export dspace-zip myrepo items.zip --collection 123456789/2",
        "silo export dspace-zip myrepo theses.zip --search 'type:Thesis' --mapping dspace.toml",
    ),
    write=_dspace_zip,
    check=lambda _silo_path, values: _dspace_settings(values),
    ending="zip",
    media_type="application/zip",
    unit="items",
    hint="Download the file from the job’s page when it is finished.",
    explained="One zip of items, to download and to import on DSpace’s page.",
    order=24,
)


def _datacite_settings(given: Values) -> DataciteSettings:
    prefix, publisher, kind = (given.get(name) or "" for name in ("prefix", "publisher", "type"))
    return checked_settings(
        DataciteSettings(prefix, publisher, kind, given.get("format") == "json")
    )


def _datacite(opening: Opening) -> AbstractContextManager[Target]:
    return nullcontext(DataciteTarget(opening.out, _datacite_settings(opening.values)))


DATACITE = TargetKind(
    "datacite",
    "DataCite documents",
    "Export for DataCite",
    """Write one document of DataCite 4.5 (XML or JSON) for each record to OUT.

    A record that lacks what DataCite requires (a DOI, a creator, a title, a publisher, a year,
    a type) is reported, and gets none. A later export to OUT has the same settings.
    """,
    (
        FormField(
            "prefix",
            "Prefix of DOIs",
            metavar="PREFIX",
            help="Prefix of DOIs: a record without a DOI below it gets one.",
            example="10.5072",
        ),
        FormField(
            "publisher",
            "Publisher",
            metavar="NAME",
            help="Publisher of records that name none.",
        ),
        FormField(
            "type",
            "Type",
            metavar="TYPE",
            help="Type of records that name none: Dataset, Text … (resourceTypeGeneral).",
            completed=lambda _silo_path: GENERAL_TYPES,
        ),
        FormField(
            "format",
            "Format",
            Input.CHOICE,
            help="Format of the documents; JSON is what DataCite’s REST API takes.",
            default="xml",
            choices=(("xml", "XML"), ("json", "JSON")),
        ),
    ),
    (
        "silo export datacite myrepo dois",
        "silo export datacite myrepo dois --prefix 10.5072 --publisher 'Example University'",
        "silo export datacite myrepo dois --format json --search 'type:Dataset'",
    ),
    open=_datacite,
    check=lambda _silo_path, values: _datacite_settings(values),
    is_directory=True,
    explained="A document for each record, in XML or JSON, to register DOIs with.",
    order=16,
)
