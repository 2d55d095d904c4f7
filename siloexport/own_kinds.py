"""The kinds of targets of this package: files, bags, packages, Fedora, tables, a zip, links."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import BinaryIO

from infopackages.ocfl.layouts import DESCRIPTIONS, HASHED
from recordsilo import Silo
from recordsilo.disk.whole_file import as_text
from recordsilo.repository import Repository
from recordsilo.selection import Selection
from siloexport.errors import ExportError
from siloexport.fedora_places import FedoraPlace, fedora_place, fedora_places
from siloexport.plan import Versions
from siloexport.target_kinds import FieldAvailability, FormField, Opening, TargetKind, Values, Write
from siloexport.targets import Target, tables
from siloexport.targets.database import write_parquet, write_sqlite
from siloexport.targets.tables import TableReport
from silowork.forms import Choices, Input

_EXPORT_FILES = "Export files"
_EXPORT_TABLE = "Export a table"
_EXPORT_DATABASE = "Export for data analysis"
_TABLE_HINT = (
    "One row for each record. Download the file from the page of the job when it is finished."
)
_FILE_HINT = "Download the file from the job’s page when it is finished."


def _files(opening: Opening) -> AbstractContextManager[Target]:
    from siloexport.targets.files import FilesTarget  # noqa: PLC0415 - each command needs one

    return nullcontext(FilesTarget(opening.out, opening.versions))


def _bag(opening: Opening) -> AbstractContextManager[Target]:
    from siloexport.targets.bag import BagTarget  # noqa: PLC0415
    from siloexport.targets.bag_settings import read_settings  # noqa: PLC0415

    info, profile = (opening.values.get(name) or None for name in ("info", "profile"))
    return nullcontext(BagTarget(opening.out, read_settings(info, profile)))


def _sip(opening: Opening) -> AbstractContextManager[Target]:
    from siloexport.targets.sip import SipTarget  # noqa: PLC0415
    from siloexport.targets.sip_writing import SipSettings  # noqa: PLC0415

    bag, tar = (opening.values.get(name) == "yes" for name in ("bag", "tar"))
    settings = SipSettings(bag, tar, opening.values.get("submitter") or "")
    return nullcontext(SipTarget(opening.out, settings))


def _ocfl(opening: Opening) -> AbstractContextManager[Target]:
    from siloexport.targets.ocfl import OcflTarget  # noqa: PLC0415

    asked = opening.values.get("layout") or ""
    names = [name for name in DESCRIPTIONS if name.startswith(asked)] if asked else [""]
    return nullcontext(OcflTarget(opening.out, names[0]))


FILES = TargetKind(
    "files",
    "files",
    _EXPORT_FILES,
    """Write records as plain files, in one directory per record below OUT.

    Metadata is written as it was harvested (oai_dc) and as a separate document
    (oai_dc.xml). With --versions curated or all, each version has a directory. A second
    export writes what changed in the Silo; if others changed that record in OUT, it is
    kept and reported. What else they changed in OUT is found by silo export verify.
    """,
    examples=(
        "silo export files myrepo out",
        "silo export files myrepo out --set 7374617475733D707562",
        "silo export files myrepo out --item 6102 --item 6103",
        "silo export files myrepo out --state ready --dry-run",
        "silo export files myrepo out --search 'creator:adeyemi' --versions all",
    ),
    open=_files,
    is_directory=True,
    explained="Plain files or BagIt bags, in a directory beside the Silo.",
    order=10,
)
BAG = TargetKind(
    "bag",
    "bags (BagIt)",
    _EXPORT_FILES,
    """Write one BagIt bag (a tar file) for each record to OUT.

    The same versions on the same day give the same bytes. Fields and a profile apply to
    all later exports to OUT, until you give others.
    """,
    (
        FormField(
            "info",
            "Fields for every bag-info.txt",
            metavar="FILE",
            help="Fields for every bag-info.txt, one per line, such as Source-Organization: ….",
            asked=FieldAvailability.COMMAND,
        ),
        FormField(
            "profile",
            "BagIt profile",
            metavar="FILE.json",
            help="BagIt profile that the bags must conform to.",
            asked=FieldAvailability.COMMAND,
        ),
    ),
    (
        "silo export bag myrepo bags --versions all",
        "silo export bag myrepo bags --state ready --jobs 2",
        "silo export bag myrepo bags --info bag-info.txt --profile profile.json",
    ),
    open=_bag,
    is_directory=True,
    order=11,
)


SIP = TargetKind(
    "sip",
    "packages for archives (E-ARK SIP)",
    "Export packages for archives",
    """Write one submission information package (E-ARK SIP) for each record to OUT.

    A package has the metadata, the files of each version as a representation, and METS and
    PREMIS 3 with checksums and how each version was made. A later export to OUT makes the
    same kind of packages.
    """,
    (
        FormField(
            "bag",
            "In bags (BagIt)",
            Input.TICK,
            help="Put each package into a bag.",
        ),
        FormField(
            "tar",
            "As tar files",
            Input.TICK,
            help="Write each package as a tar file (.tar.gz).",
        ),
        FormField(
            "submitter",
            "Submitting organization",
            metavar="NAME",
            help="Organization that submits the packages; by default the repository's address.",
        ),
    ),
    (
        "silo export sip myrepo sips",
        "silo export sip myrepo sips --versions all --bag --tar",
        "silo export sip myrepo sips --state ready --submitter 'Example University'",
    ),
    open=_sip,
    is_directory=True,
    explained="METS, PREMIS and the files of each record, for long-term archives.",
    order=12,
)

OCFL = TargetKind(
    "ocfl",
    "storage root (OCFL)",
    "Export a storage root",
    """Write records as objects of an OCFL 1.1 storage root, OUT.

    Each version of a record becomes a version of its object, with who made it, when and why.
    Content is stored once. Later exports add versions; what is there is never changed.
    """,
    (
        FormField(
            "layout",
            "Layout",
            Input.CHOICE,
            help=f"Layout of a new storage root (extension of OCFL); {HASHED[:4]} if not given.",
            asked=FieldAvailability.COMMAND,
            choices=tuple(
                (name[:4], f"{name[:4]}: {title}") for name, title in sorted(DESCRIPTIONS.items())
            ),
        ),
    ),
    (
        "silo export ocfl myrepo ocfl",
        "silo export ocfl myrepo ocfl --state ready --jobs 2",
        "silo export ocfl myrepo ocfl --layout 0003 --search 'year:2016'",
    ),
    open=_ocfl,
    is_directory=True,
    explained="Objects with all their versions, for long-term storage (OCFL 1.1).",
    versions=Versions.ALL,
    order=13,
)


# -- one file ----------------------------------------------------------------------------


def _table(write: Callable[..., TableReport], encoding: str) -> Write:
    def write_table(
        silo: Silo,
        selection: Selection,
        file: BinaryIO,
        values: Values,
        progress: Callable[[int], None],
    ) -> TableReport:
        columns = tables.columns_named(values.get("columns") or tables.USUAL)
        with as_text(file, encoding) as text:
            return write(silo, selection, text, columns, progress=progress)

    return write_table


def _whole(write: Callable[..., TableReport]) -> Write:
    def write_whole(
        silo: Silo,
        selection: Selection,
        file: BinaryIO,
        _values: Values,
        progress: Callable[[int], None],
    ) -> TableReport:
        return write(silo, selection, file, progress=progress)

    return write_whole


def _links(
    silo: Silo,
    selection: Selection,
    file: BinaryIO,
    _values: Values,
    progress: Callable[[int], None],
) -> TableReport:
    with as_text(file) as text:
        return tables.write_links(silo, selection, text, progress=progress)


def _zip(
    silo: Silo,
    selection: Selection,
    file: BinaryIO,
    values: Values,
    progress: Callable[[int], None],
) -> TableReport:
    versions, names = Versions(values["versions"]), values["names"]
    report = tables.write_zip(silo, selection, file, names, versions, progress=progress)
    if report.empty and not report.rows and not report.failed:
        raise ExportError(_why_empty(names, versions))
    return report


def _why_empty(names: Sequence[str], versions: Versions) -> str:
    curated = " in a curated version" if versions is Versions.CURATED else ""
    if names:
        return f"no selected record has metadata named {' or '.join(names)}{curated}"
    return f"no selected record has metadata{curated}"


def _check_columns(_silo_path: str, values: Values) -> None:
    tables.check_columns(tables.columns_named(values["columns"]))


_COLUMNS = FormField(
    "columns",
    "Fields",
    Input.TEXTS,
    help=f"A column; repeatable. Of: {', '.join(tables.FIELDS)}, and those that packages "
    "contribute.",
    completed=lambda _silo_path: tables.fields(),
    metavar="FIELD",
    option="--field",
    default=" ".join(tables.USUAL),
)
CSV = TargetKind(
    "csv",
    "CSV",
    _EXPORT_TABLE,
    """Write a CSV table with one row per record to OUT or standard output.""",
    (_COLUMNS,),
    (
        "silo export csv myrepo table.csv",
        "silo export csv myrepo --filter year=2016 --field record --field dc:title > titles.csv",
    ),
    write=_table(tables.write_csv, tables.CSV_ENCODING),
    check=_check_columns,
    ending="csv",
    media_type="text/csv; charset=utf-8",
    hint=_TABLE_HINT,
    explained="One row for each record, as CSV or JSON lines, to download.",
    order=20,
)
JSONL = TargetKind(
    "jsonl",
    "JSON lines",
    _EXPORT_TABLE,
    """Write JSON with one line per record to OUT or standard output.""",
    (_COLUMNS,),
    ("silo export jsonl myrepo table.jsonl", "silo export jsonl myrepo | head -1"),
    write=_table(tables.write_jsonl, "utf-8"),
    check=_check_columns,
    ending="jsonl",
    media_type="application/jsonl",
    hint=_TABLE_HINT,
    order=21,
)
SQLITE = TargetKind(
    "sqlite",
    "SQLite database",
    _EXPORT_DATABASE,
    """Write a database with tables of records, their values, versions, files and links to OUT.

    It has keys and a full-text search (record_search), and opens in Datasette, DuckDB, pandas
    and other programs.
    """,
    examples=(
        "silo export sqlite myrepo records.db",
        "silo export sqlite myrepo articles.db --filter type=Article",
    ),
    write=_whole(write_sqlite),
    ending="db",
    media_type="application/vnd.sqlite3",
    hint=_FILE_HINT,
    explained="Records, values, versions, files and links as tables, for download.",
    order=24,
)
PARQUET = TargetKind(
    "parquet",
    "Parquet",
    _EXPORT_DATABASE,
    """Write one row per record, with its values in lists, as Parquet to OUT.""",
    examples=("silo export parquet myrepo records.parquet",),
    write=_whole(write_parquet),
    ending="parquet",
    media_type="application/vnd.apache.parquet",
    hint=_FILE_HINT,
    order=25,
    module="duckdb",
    extra="usage",
)
LINKS = TargetKind(
    "links",
    "Links",
    "Export a list of links",
    """Write all addresses in records with identifier and field, separated by tabs.""",
    examples=(
        "silo export links myrepo links.tsv",
        "silo export links myrepo --search 'title:solar'",
    ),
    write=_links,
    ending="tsv",
    media_type="text/tab-separated-values; charset=utf-8",
    unit="links",
    hint=_FILE_HINT,
    explained="All links in the records, for download.",
    order=22,
)
ZIP = TargetKind(
    "zip",
    "Zip",
    "Export metadata as a zip",
    """Write metadata files as a zip to OUT or standard output.""",
    (
        FormField(
            "names",
            "Only files of these names",
            Input.TEXTS,
            help="Only files of this name; repeatable.",
            metavar="NAME",
            option="--file",
        ),
        FormField(
            "versions",
            "Versions",
            Input.CHOICE,
            default=str(Versions.CURRENT),
            choices=tuple((str(one), str(one)) for one in Versions),
        ),
    ),
    (
        "silo export zip myrepo metadata.zip",
        "silo export zip myrepo metadata.zip --file oai_dc --versions all --state ready",
    ),
    write=_zip,
    ending="zip",
    media_type="application/zip",
    unit="files",
    hint=_FILE_HINT,
    explained="The metadata files of the records, to download.",
    order=23,
)


# -- Fedora ------------------------------------------------------------------------------


@contextmanager
def _fedora(opening: Opening) -> Iterator[Target]:
    """Open a Fedora by its address or by the name of a place; loads rdflib."""
    from siloexport.crosswalk import Crosswalk  # noqa: PLC0415 - slow, and only for Fedora
    from siloexport.targets.fedora import FedoraClient, FedoraTarget  # noqa: PLC0415
    from siloexport.targets.fedora.layout import Layout  # noqa: PLC0415

    given = opening.values
    if "place" in given:
        place = fedora_place(opening.silo_path, given["place"])
    else:
        place = FedoraPlace("", given["url"], given["credentials"] or None, given["crosswalk"])
    crosswalk = Crosswalk.named(place.crosswalk or "default")
    layout = Layout(given["layout"]) if given.get("layout") else None
    names = Repository(opening.silo_path).set_names
    set_names = {spec: str(name) for spec, name in names.items() if name}
    with FedoraClient(place.url, place.auth(os.environ)) as client:
        yield FedoraTarget(place.url, client, crosswalk, layout, set_names)


def _places(silo_path: str) -> Choices:
    return tuple((one.name, f"{one.name} ({one.url})") for one in fedora_places(silo_path).values())


def _check_place(silo_path: str, values: Values) -> None:
    if "place" in values:
        fedora_place(silo_path, values["place"])


FEDORA = TargetKind(
    "fedora",
    "Fedora",
    "Export to Fedora",
    """Export records with their versions to Fedora 6 or 7, and verify them there.

    A record is one Archival Group, named by its cleaned identifier, below URL. User and
    password come from a file (--credentials), from FEDORA_USER and FEDORA_PASSWORD, or
    from your netrc.
    """,
    (
        FormField(
            "url",
            "Address",
            required=True,
            help="A container; created if missing.",
            metavar="URL",
            option="--to",
            example="http://127.0.0.1:8080/rest/silo",
            asked=FieldAvailability.COMMAND,
        ),
        FormField(
            "credentials",
            "Credentials",
            help="A file with user:password; else FEDORA_USER and FEDORA_PASSWORD, or netrc.",
            metavar="FILE",
            asked=FieldAvailability.COMMAND,
        ),
        FormField(
            "crosswalk",
            "Crosswalk",
            help="How metadata is mapped to RDF: a file, or the name of a built-in crosswalk.",
            metavar="FILE.toml",
            asked=FieldAvailability.COMMAND,
        ),
        FormField(
            "place", "Export place", Input.CHOICE, choices_of=_places, asked=FieldAvailability.PAGE
        ),
        FormField(
            "layout",
            "Layout",
            Input.CHOICE,
            help="As in earlier exports to this place if not given; at first plain.",
            choices=(
                ("", "as in earlier exports; at first plain"),
                ("plain", "plain: objects and their files"),
                ("pcdm", "PCDM: objects, described files, sets as collections"),
            ),
        ),
    ),
    open=_fedora,
    check=_check_place,
    at_once=4,  # most of the time is spent waiting for the server
    hint="Each record becomes an object with its versions. Existing objects are kept.",
    explained="Objects with their versions, in a Fedora repository.",
    missing="No Fedora is configured for this Silo. Add one under “Export places”.",
    order=30,
    module="rdflib",
    extra="rdf",
)
