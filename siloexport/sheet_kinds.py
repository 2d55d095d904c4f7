"""The kinds of targets that are a table with files, for the importer of another repository."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from recordsilo import Silo
from recordsilo.errors import did_you_mean
from recordsilo.repository import Repository
from recordsilo.selection import Selection, filters_from
from siloexport.errors import ExportError
from siloexport.target_kinds import FieldAvailability, FormField, Opening, TargetKind, Values
from siloexport.targets import Target
from siloexport.targets.bulkrax import MODEL, VISIBILITIES, BulkraxTable
from siloexport.targets.sheet import ALL_SETS, COLLECTIONS, NO_SET, Settings, SheetTarget
from siloexport.targets.sheet_facts import SheetTable
from siloexport.targets.workbench import WorkbenchTable
from silowork.forms import Input


def _set_names(silo_path: str) -> dict[str, str]:
    if not silo_path:
        return {}
    return {spec: str(name) for spec, name in Repository(silo_path).set_names.items()}


def _sheet(
    name: str, make: Callable[[Settings], SheetTable], opening: Opening
) -> AbstractContextManager[Target]:
    given = dict(opening.values)
    given[COLLECTIONS] = " ".join(given.get(COLLECTIONS) or ())
    settings = {one: str(value or "") for one, value in given.items()}
    return nullcontext(
        SheetTarget(opening.out, name, make, settings, _set_names(opening.silo_path))
    )


_COLLECTIONS = FormField(
    COLLECTIONS,
    "Sets that become collections",
    Input.TEXTS,
    help=f"A set that becomes a collection; repeatable. {ALL_SETS}, if not given; or {NO_SET}.",
    metavar="SPEC",
    option="--collection",
    completed=lambda silo_path: [ALL_SETS, NO_SET, *_set_names(silo_path)],
)


def _check_sets(silo_path: str, values: Values) -> None:
    asked = [one for one in values.get(COLLECTIONS) or () if one not in {ALL_SETS, NO_SET}]
    if not asked:
        return
    names = _set_names(silo_path)
    with Silo(silo_path, create=False) as silo:
        for spec in asked:
            is_known = any(f"{one}:".startswith(f"{spec}:") for one in names)
            if not is_known and not Selection(filters=filters_from(set_spec=spec)).total(silo):
                raise ExportError(f"no record is in the set {spec}{did_you_mean(spec, names)}")


_NAME = re.compile(r"[A-Z][A-Za-z0-9]*(?:::[A-Z][A-Za-z0-9]*)*")


def _bulkrax_table(settings: Settings) -> SheetTable:
    model, visibility = settings.get("model"), settings.get("visibility")
    return BulkraxTable(model or MODEL, visibility or VISIBILITIES[0])


def _check_bulkrax(silo_path: str, values: Values) -> None:
    _check_sets(silo_path, values)
    model = values.get("model") or MODEL
    if not _NAME.fullmatch(model):
        raise ExportError(
            f"the work type (model) is the name of a class, such as {MODEL}, not {model!r}"
        )


BULKRAX = TargetKind(
    "bulkrax",
    "Hyku and Hyrax (Bulkrax)",
    "Export for Hyku and Hyrax",
    """Write records as files with a CSV table that Bulkrax imports into Hyku or Hyrax, to OUT.

    bulkrax.csv has a row for each collection, work and file, and field_mappings.json is the
    mapping that it needs. Later exports write what changed, and the table again.
    """,
    (
        FormField(
            "model",
            "Work type",
            metavar="NAME",
            help=f"The work type of records; {MODEL}, if not given.",
        ),
        FormField(
            "visibility",
            "Visibility",
            Input.CHOICE,
            help="Who may see a record whose metadata does not say; open, if not given.",
            choices=tuple((one, one) for one in VISIBILITIES),
        ),
        _COLLECTIONS,
    ),
    (
        "silo export bulkrax myrepo hyku",
        "silo export bulkrax myrepo hyku --model Etd --visibility restricted",
        "silo export bulkrax myrepo hyku --state ready --collection none",
    ),
    open=lambda opening: _sheet("bulkrax", _bulkrax_table, opening),
    check=_check_bulkrax,
    is_directory=True,
    explained="Files and a table that Bulkrax imports.",
    order=17,
)


def _workbench_table(settings: Settings) -> SheetTable:
    return WorkbenchTable(settings.get("member_of") or "", settings.get("host") or "")


def _check_workbench(silo_path: str, values: Values) -> None:
    _check_sets(silo_path, values)
    node, host = values.get("member_of") or "", values.get("host") or ""
    if node and not (node.isascii() and node.isdecimal()):
        raise ExportError(f"the node (member-of) is a number, not {node!r}")
    if host and not re.fullmatch(r"https?://[^\s/]+\S*", host):
        raise ExportError(f"the address (host) begins with http:// or https://, not {host!r}")


WORKBENCH = TargetKind(
    "workbench",
    "Islandora (Workbench)",
    "Export for Islandora",
    """Write records as files with a CSV table for Islandora Workbench, to OUT.

    workbench.csv has a row for each collection and record, and for each file of a record with
    several; workbench.yml is the configuration of the task. Later exports write what changed,
    and the table again.
    """,
    (
        FormField(
            "member_of",
            "Member of",
            metavar="NODE",
            help="ID of an existing node that collections, and records without, are members of.",
        ),
        FormField(
            "host",
            "Address of the Islandora",
            metavar="URL",
            help="For the configuration.",
            asked=FieldAvailability.COMMAND,
        ),
        _COLLECTIONS,
    ),
    (
        "silo export workbench myrepo islandora",
        "silo export workbench myrepo islandora --member-of 12 --collection none",
        "silo export workbench myrepo islandora --host https://islandora.example.org",
    ),
    open=lambda opening: _sheet("workbench", _workbench_table, opening),
    check=_check_workbench,
    is_directory=True,
    explained="Files and a table that Islandora Workbench makes nodes of.",
    order=18,
)
