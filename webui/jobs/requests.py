"""What a form says that begins a job → kind, title and arguments (pure)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reexport.errors import ExportError
from reexport.plan import Versions
from reexport.targets.tables import check_columns
from reexport.values import Deletions, OnConflict
from webui.jobs import kinds
from webui.jobs.errors import JobRefused
from webui.jobs.exported_tables import TABLES
from webui.jobs.exports import FEDORA, FORMS, place_of
from webui.jobs.fedora_places import fedora_place

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A job that somebody asks for."""

    kind: str
    title: str
    arguments: Mapping[str, Any]


def read_request(kind: str, fields: Fields, silo_path: str, records: int) -> Asked:
    """A job from the fields of a form.

    Args:
        kind: One of `READERS`; bulk changes begin with their preview, not here.
        fields: Names → texts.
        records: How many the Silo has.

    Raises:
        JobRefused: A sentence says what is wrong.
    """
    if kind not in READERS:
        raise JobRefused(f"a job of the kind {kind!r} is not begun here; {', '.join(READERS)} are")
    return READERS[kind](fields, silo_path, records)


def _harvest(fields: Fields, _silo_path: str, _records: int) -> Asked:
    prefixes = fields.get("prefixes", "").replace(",", " ").split()
    if not prefixes:
        raise JobRefused("a harvest needs a metadata format, such as oai_dc")
    url = fields.get("url", "").strip()
    if url and not url.lower().startswith(("http://", "https://")):
        raise JobRefused("the address of a repository begins with http:// or https://")
    given = {name: fields.get(name, "").strip() for name in ("set", "from", "until")}
    arguments: dict[str, Any] = {"prefixes": prefixes, "url": url, **given}
    if fields.get("update"):
        arguments["update"] = True
    return Asked(kinds.HARVEST, f"Harvest {', '.join(prefixes)}", _said(arguments))


def _update(_fields: Fields, _silo_path: str, _records: int) -> Asked:
    return Asked(kinds.UPDATE, "Update: every format and set harvested before", {})


def _export(fields: Fields, silo_path: str, _records: int) -> Asked:
    form = fields.get("form", "") or FORMS[0]
    if form not in FORMS:
        raise JobRefused(f"an export is one of {', '.join(FORMS)}")
    arguments: dict[str, Any] = {"form": form}
    arguments |= {known: fields.get(known, "").strip() for known in ("set", "state", "query")}
    name = fields.get("place" if form == FEDORA else "name", "").strip()
    if form == FEDORA:
        arguments |= {"place": fedora_place(silo_path, name).name}
        title = f"Export to Fedora: {name}"
    else:
        place_of(silo_path, name)
        arguments |= {"name": name}
        title = f"Export {name} as {form}"
    arguments |= _columns(fields) if form in TABLES else _policy(fields)
    return Asked(kinds.EXPORT, title, _said(arguments))


def _columns(fields: Fields) -> dict[str, Any]:
    columns = fields.get("columns", "").replace(",", " ").split()
    try:
        check_columns(columns)
    except ExportError as error:
        raise JobRefused(str(error)) from None
    return {"columns": columns}


def _policy(fields: Fields) -> dict[str, Any]:
    return {
        name: _one_of(known, fields.get(name, "") or known[0], what)
        for name, known, what in (
            ("versions", VERSIONS, "the versions of an export"),
            ("deletions", DELETIONS, "what a deletion does to an export (deletions)"),
            ("conflicts", CONFLICTS, "what is done about conflicts (conflicts)"),
        )
    }


def _one_of(known: tuple[str, ...], text: str, what: str) -> str:
    if text not in known:
        raise JobRefused(f"{what} are one of {', '.join(known)}")
    return text


def _audit(fields: Fields, _silo_path: str, records: int) -> Asked:
    text = fields.get("share", "").strip() or "100"
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not 0 < percent <= 100:
        raise JobRefused("the share of an audit is more than 0 % and at most 100 %")
    title = f"Audit: {percent:g} % of the records byte for byte"
    return Asked(kinds.AUDIT, title, {"share": percent / 100, "records": records})


def _reindex(_fields: Fields, _silo_path: str, _records: int) -> Asked:
    return Asked(kinds.REINDEX, "Index anew", {})


def _said(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value}


VERSIONS = tuple(map(str, Versions))
DELETIONS = tuple(map(str, Deletions))
CONFLICTS = tuple(map(str, OnConflict))
READERS: Mapping[str, Callable[[Fields, str, int], Asked]] = {
    kinds.UPDATE: _update,
    kinds.HARVEST: _harvest,
    kinds.EXPORT: _export,
    kinds.AUDIT: _audit,
    kinds.REINDEX: _reindex,
}
"""Kind → what reads its form, in the order shown."""
