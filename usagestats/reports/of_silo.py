"""Reports of a Silo: its figures, its items, and how it names itself."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from typing import Any

from usagestats.entities.mapping import read_tables
from usagestats.entities.usage import Usage as UsageOfSilo
from usagestats.errors import PackageMissing, SettingsInvalid
from usagestats.reports.definitions import (
    ACCESS_TYPES,
    MACHINE,
    REGULAR,
    Definition,
    Notice,
)
from usagestats.reports.items import item_of
from usagestats.reports.making import (
    MonthFigures,
    Platform,
    Report,
    Request,
    Usage,
    is_namespace,
    make_report,
)
from usagestats.rules.robots import Robots
from usagestats.rules.settings import read_settings
from usagestats.store import queries
from usagestats.store.ledger import Ledger
from usagestats.store.periods import month_after, months_between
from usagestats.store.places import settings_path
from usagestats.values import Figures

_HARVESTER_STATE = "oaipmh_harvester.json"
_SETTINGS = ("platform", "namespace", "publisher", "access_type", "created_by", "registry_record")


def platform_of(silo_path: str) -> Platform:
    """Return how a Silo names itself in reports: ``[report]`` of ``usage.toml``, or the
    harvested repository's name.

    Raises:
        SettingsInvalid: The settings are invalid.
    """
    path = settings_path(silo_path)
    table = read_tables(path).get("report", {})
    if not isinstance(table, dict) or not all(isinstance(one, str) for one in table.values()):
        raise SettingsInvalid(path, "[report] is a table of texts")
    if unknown := sorted(set(table) - set(_SETTINGS)):
        raise SettingsInvalid(path, f"[report] has no setting {unknown[0]!r}; it has {_SETTINGS}")
    name = table.get("platform") or _repository_name(silo_path)
    found = Platform(
        name=name if len(name) > 1 else "Silo",
        publisher=table.get("publisher", ""),
        registry_record=table.get("registry_record", ""),
        created_by=table.get("created_by") or f"recordsilo {version('recordsilo')}",
    )
    found = replace(found, access_type=table.get("access_type", found.access_type))
    found = replace(found, namespace=table.get("namespace", found.namespace))
    if found.access_type not in ACCESS_TYPES:
        raise SettingsInvalid(path, f"access_type is one of {', '.join(ACCESS_TYPES)}")
    if not is_namespace(found.namespace):
        raise SettingsInvalid(path, "namespace has 2 to 18 letters, digits, _, . and /")
    return found


def _repository_name(silo_path: str) -> str:
    try:
        with open(os.path.join(silo_path, _HARVESTER_STATE), "rb") as file:
            state: Any = json.load(file)
        name = state["identify"]["repositoryName"]
    except (OSError, ValueError, KeyError, TypeError):
        name = ""
    return str(name or os.path.basename(silo_path.rstrip("/")))


def robots_of(silo_path: str) -> str:
    """Return the names and versions of the lists of robots by which the logs were read.

    If no import says so, it is the installed list, or that it is unknown without the extra.
    """
    with Ledger(silo_path, "read") as ledger:
        used = [str(receipt.get("robots", "")) for _, receipt in ledger.receipts()]
    if known := "; ".join(filter(None, dict.fromkeys(used))):
        return known
    try:
        return Robots(read_settings(silo_path).robots).version
    except PackageMissing:
        return "unknown: the package counter-robots is not installed"


def _not_counted(silo_path: str, months: Sequence[str]) -> list[Notice]:
    """Say which days of a report are not counted yet, because an import was interrupted."""
    with Ledger(silo_path, "read") as ledger:
        days = [day for day in ledger.stale() if day[:7] in months]
    return [Notice.of(3040, f"not counted yet: {', '.join(days)}")] if days else []


def months_of(usage: UsageOfSilo, first: str, last: str) -> tuple[str, ...]:
    """Return the months of a report, by default those that have counts; empty without counts."""
    bounds = queries.bounds(usage.counts)
    if bounds is None:
        return ()
    return tuple(months_between((first or bounds[0])[:7], (last or bounds[1])[:7]))


def report_of(
    usage: UsageOfSilo,
    definition: Definition,
    request: Request,
    *,
    now: datetime,
    notices: Sequence[Notice] = (),
) -> Report:
    """Make a report of a Silo.

    Raises:
        UsageError: The counts or the settings cannot be read.
    """
    path = usage.silo.path
    months = months_between(month_after(request.months[0], -12), request.months[-1])
    figures = {
        method: _figures(usage, months, machine=method == MACHINE)
        for method in (REGULAR, MACHINE)
        if method in request.access_methods
    }
    items = {name: item_of(name, found) for _, name, found in usage.catalogue.metadata()}
    return make_report(
        definition,
        request,
        platform_of(path),
        Usage(figures, items, robots_of(path)),
        now=now,
        notices=(*notices, *_not_counted(path, request.months)),
    )


def _figures(usage: UsageOfSilo, months: Sequence[str], *, machine: bool) -> MonthFigures:
    found: dict[str, dict[str, Figures]] = {}
    for month in months:
        of_month: Mapping[str, Figures] = usage.counts.month_items(month, machine=machine)
        for name, figures in of_month.items():
            found.setdefault(name, {})[month] = figures
    return found
