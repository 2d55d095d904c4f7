"""How a Silo names itself in reports: the table ``[report]`` of ``usage.toml``."""

import os
import re
from dataclasses import dataclass
from typing import Any

from recordsilo.disk.toml_tables import checked
from recordsilo.distribution import release
from recordsilo.repository import Repository
from usagestats.errors import SettingsInvalid
from usagestats.reports.definitions import ACCESS_TYPES
from usagestats.store.paths import settings_path
from usagestats.store.tables import naming, read_tables

_SETTINGS = ("platform", "namespace", "publisher", "access_type", "created_by", "registry_record")
_NAMESPACE = re.compile(r"[a-zA-Z][a-zA-Z0-9_./]{1,17}")
"""Section 3.3, Proprietary_ID."""


@dataclass(frozen=True, slots=True)
class Platform:
    """Who reports.

    Attributes:
        name: Of the site, as reports name it.
        namespace: Begins the site's own identifiers (``silo`` in ``silo:oai:a:1``).
        publisher: Of items whose metadata name none.
        access_type: Of every item.
        created_by: Who makes the report.
        registry_record: Address in COUNTER's registry, or ``""``.
    """

    name: str
    namespace: str = "silo"
    publisher: str = ""
    access_type: str = "Open"
    created_by: str = "recordsilo"
    registry_record: str = ""


def platform_of(silo_path: str) -> Platform:
    """Return how a Silo names itself: by its settings, or by the harvested repository's name.

    Raises:
        SettingsInvalid: The settings are invalid.
    """
    try:
        with naming("[report]"):
            return _platform_from(read_tables(silo_path).get("report", {}), silo_path)
    except ValueError as error:
        raise SettingsInvalid(settings_path(silo_path), str(error)) from error


def _platform_from(table: Any, silo_path: str) -> Platform:
    table = checked(table, dict.fromkeys(_SETTINGS, str))
    name = table.get("platform") or (
        Repository(silo_path).name or os.path.basename(silo_path.rstrip("/"))
    )
    given = {key: text for key, text in table.items() if text and key != "platform"}
    given.setdefault("created_by", f"recordsilo {release()}")
    found = Platform(name if len(name) > 1 else "Silo", **given)
    if found.access_type not in ACCESS_TYPES:
        raise ValueError(f"access_type is one of {', '.join(ACCESS_TYPES)}")
    if not _NAMESPACE.fullmatch(found.namespace):
        raise ValueError("namespace has 2 to 18 letters, digits, _, . and /")
    return found
