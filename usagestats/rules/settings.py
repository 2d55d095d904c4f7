"""The settings of a Silo's usage statistics: ``usage/usage.toml``, and the profiles.

Tables of other parts of the package are read by those parts.
"""

import glob
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from recordsilo.disk.atomic_file import make_parents, replace_file
from recordsilo.disk.regular_file import regular_fd
from recordsilo.disk.toml_tables import check_names
from usagestats.errors import FormatUnknown, SettingsInvalid
from usagestats.expressions import Expression
from usagestats.lines.readers import PARTS, JSONReader, OwnReader, reader_of
from usagestats.rules.patterns import Pattern, pattern_from
from usagestats.store.paths import settings_path
from usagestats.store.tables import naming, read_tables

PROFILES = ("eprints", "dspace6", "dspace7", "ojs", "invenio", "fedora", "silo")
_LOG = ("format", "line", "time", "fields")
_OF_OTHERS = {"entity", "entities", "push", "report"}
_KNOWN = _OF_OTHERS | {
    "profile", "timezone", "window", "robots", "pattern", "log", "logs", "countries", "uuids",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class UsageSettings:
    """What ``usage.toml`` says.

    Attributes:
        own: Patterns of the Silo's own, which are tried first.
        profile: Name of the profile whose patterns are tried next; ``""``: none.
        timezone: Whose days are counted, by its name in the IANA database.
        window: Days after which a day is frozen.
        robots: Further expressions of robots.
        format: The `Reader.spec` of the logs; ``""``: detected.
        countries: File of addresses and countries, relative to ``usage/``; ``debian``: that of
            its package tor-geoipdb; ``""``: none.
        logs: The logs that are imported when none is named; ``*`` stands for any characters.
        uuids: File with the records of UUIDs, relative to ``usage/``; ``""``: none.
    """

    own: tuple[Pattern, ...] = ()
    profile: str = ""
    timezone: str = "UTC"
    window: int = 90
    robots: tuple[str, ...] = ()
    format: str = ""
    countries: str = ""
    logs: tuple[str, ...] = ()
    uuids: str = ""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Return the patterns in their order."""
        return (*self.own, *(profile_patterns(self.profile) if self.profile else ()))

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone."""
        return ZoneInfo(self.timezone)


def profile_patterns(name: str) -> tuple[Pattern, ...]:
    """Return the patterns of a profile."""
    text = files("usagestats.rules").joinpath("profiles", f"{name}.toml").read_text("utf-8")
    found = map(pattern_from, tomllib.loads(text)["pattern"])
    return tuple(replace(one, is_ours=True) for one in found)


def read_settings(silo_path: str) -> UsageSettings:
    """Read the settings of a Silo; the defaults if there is no file.

    Raises:
        SettingsInvalid: The file is invalid; the message says where. Or it is at the Silo's root,
            where it would do nothing.
    """
    _refuse_misplaced(silo_path)
    try:
        return settings_from(read_tables(silo_path))
    except ValueError as error:
        raise SettingsInvalid(settings_path(silo_path), str(error)) from error


def _refuse_misplaced(silo_path: str) -> None:
    misplaced, path = os.path.join(silo_path, "usage.toml"), settings_path(silo_path)
    if os.path.lexists(misplaced):
        mend = f"move it to {path}"
        if os.path.lexists(path):
            mend = f"the settings are in {path}: move what is missing there, and remove this file"
        raise SettingsInvalid(misplaced, f"it is not read here; {mend}")


def settings_from(known: Mapping[str, Any]) -> UsageSettings:
    """Make settings from the content of a file.

    Raises:
        ValueError: A value is invalid.
    """
    check_names(known, sorted(_KNOWN))
    profile, zone = _text(known, "profile"), _text(known, "timezone") or "UTC"
    if profile and profile not in PROFILES:
        raise ValueError(f"there is no profile {profile!r}; there are {', '.join(PROFILES)}")
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"there is no time zone {zone!r}; write, say, Europe/London") from error
    window = known.get("window", 90)
    if not isinstance(window, int) or isinstance(window, bool) or not 1 <= window <= 36500:
        raise ValueError("window is the number of days after which a day is frozen, 1 or more")
    patterns = known.get("pattern", [])
    if not isinstance(patterns, list):
        raise ValueError("patterns are tables [[pattern]]")  # noqa: TRY004  # of a file
    own = []
    for number, table in enumerate(patterns, 1):
        with naming(f"[[pattern]] {number}"):
            own.append(pattern_from(table))
    with naming("[log]"):
        log_format = _format(known.get("log", {}))
    return UsageSettings(
        tuple(own), profile, zone, window, _robots(known), log_format,
        _text(known, "countries"), _texts(known, "logs"), _text(known, "uuids"),
    )  # fmt: skip


def _text(known: Mapping[str, Any], name: str) -> str:
    value = known.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is a text")  # noqa: TRY004  # of a file, not of a caller
    return value


def logs_of(silo_path: str, settings: UsageSettings) -> tuple[str, ...]:
    """Return the logs that the settings name, the oldest first; paths are relative to the Silo.

    Directories and whatever else is no regular file are left out, as a ``*`` may stand for them.

    Raises:
        SettingsInvalid: A name stands for no file.
    """
    found: dict[str, None] = {}
    for pattern in settings.logs:
        all_names = glob.glob(os.path.join(glob.escape(silo_path), pattern))
        names = list(filter(os.path.isfile, all_names))  # a device or a pipe may have no end
        if not names:
            reason = (
                f"{all_names[0]} is not a regular file"
                if all_names
                else f"there is no log {pattern}"
            )
            raise SettingsInvalid(settings_path(silo_path), reason)
        found.update(dict.fromkeys(names))
    return tuple(sorted(found, key=lambda name: (os.path.getmtime(name), name)))


def _texts(known: Mapping[str, Any], name: str) -> tuple[str, ...]:
    texts = known.get(name, [])
    if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
        raise ValueError(f"{name} is a list of texts")
    return tuple(texts)


def _robots(known: Mapping[str, Any]) -> tuple[str, ...]:
    robots = _texts(known, "robots")
    for one in robots:
        with naming("robots"):
            Expression(one)
    return robots


def _format(log: Any) -> str:
    """Return the spec of the reader that the table ``[log]`` describes."""
    check_names(log, _LOG)
    name = _text(log, "format")
    try:
        if name == "regex":
            return OwnReader(_text(log, "line"), _text(log, "time")).spec
        if name == "json":
            fields = log.get("fields", {})
            if not isinstance(fields, dict) or not all(
                isinstance(one, str) for one in fields.values()
            ):
                raise ValueError("the fields of a JSON log are texts: [log.fields]")
            if unknown := sorted(fields.keys() - PARTS):
                raise ValueError(
                    f"a line has no part {unknown[0]!r}; [log.fields] has {', '.join(PARTS)}"
                )
            return JSONReader(fields).spec
        return reader_of(name).spec if name else ""
    except FormatUnknown as error:
        raise ValueError(str(error)) from error


def choose_profile(silo_path: str, name: str) -> None:
    """Write the profile into ``usage.toml``; what else is in it stays as it is."""
    path = settings_path(silo_path)
    line = f'profile = "{name}"\n'
    try:
        with open(path, encoding="utf-8", opener=regular_fd) as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    lines = text.splitlines(keepends=True)
    tables = next((at for at, one in enumerate(lines) if one.lstrip().startswith("[")), len(lines))
    kept = [one for one in lines[:tables] if not _sets_profile(one)]
    make_parents(path, silo_path)
    replace_file(path, "".join((line, *kept, *lines[tables:])).encode())


def _sets_profile(line: str) -> bool:
    name, is_set, _ = line.partition("=")
    return bool(is_set) and name.strip() == "profile"


def has_settings(silo_path: str) -> bool:
    """Whether the Silo has a file of settings."""
    return os.path.exists(settings_path(silo_path))
