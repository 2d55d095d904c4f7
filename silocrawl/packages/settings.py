"""How packages are made and where they go: ``crawling/store.toml``, which people may write."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from recordsilo.disk.toml_files import TomlFiles
from recordsilo.disk.toml_tables import SettingWrong, as_toml, checked, kinds_of
from silocrawl.packages.layout import store_file
from silocrawl.packages.values import PackageInvalid, PackagingError, check_node, stream_of
from silowork.due.timetable import duration_of, duration_text
from silowork.errors import JobRefused

NAAN_FOR_TESTS = "99999"
"""Of ARKs that nobody keeps a promise about (ARK, "Name Assigning Authority Numbers")."""
_NAAN, _SHOULDER = (
    re.compile(r"[0-9bcdfghjkmnpqrstvwxz]{5,9}"),
    re.compile(r"[bcdfghjkmnpqrstvwxz]{1,6}[0-9]|"),
)
_SCHEME = re.compile(r"[a-z][a-z0-9+]{1,15}://")
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_OF_THE_BAG = frozenset({"bagging-date", "payload-oxum", "bag-software-agent",
                         "bagit-profile-identifier"})  # fmt: skip
RIGHTS = ("basis", "note", "document", "act", "granted-from")
"""What a store's file may say of rights; each becomes a field of PREMIS."""
_EMPTY: Mapping[str, str] = MappingProxyType({})


class SettingsRefused(PackagingError, ValueError):
    """Settings with which no package can be made; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How packages are made, and where they go.

    Attributes:
        store: A directory, absolute or seen from the Silo's, or a URL such as ``s3://bucket/crawls``.
        sips: Whether each package is written as one file, too.
        stream: Name of our own crawls in those of packages.
        naan: The number of who gives the ARKs.
        shoulder: Begins their names; ends with the only digit among its letters, or is empty.
        embargo_days: So long after its crawl a package is shown by no access node.
        nodes: The access nodes that are to merge each package.
        delete_local: Whether WARC files are deleted here when they were verified in the store.
        virus_check: Whether a scanner looks at the WARC files.
        checkpoint_every: Time after which a running crawl makes a checkpoint; None: never.
        bag_info: Further lines of ``bag-info.txt``.
        rights: What PREMIS says of rights; its names are `RIGHTS`.
    """

    store: str = ""
    sips: bool = False
    stream: str = "own"
    naan: str = NAAN_FOR_TESTS
    shoulder: str = "s1"
    embargo_days: int = 0
    nodes: tuple[str, ...] = ()
    delete_local: bool = False
    virus_check: bool = False
    checkpoint_every: timedelta | None = None
    bag_info: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    rights: Mapping[str, str] = field(default_factory=lambda: _EMPTY)

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            SettingsRefused: Says what is wrong.
        """
        if not _NAAN.fullmatch(self.naan):
            raise SettingsRefused(f"{self.naan!r} is not a NAAN; it has five digits, such as 12148")
        if not _SHOULDER.fullmatch(self.shoulder):
            raise SettingsRefused(
                f"{self.shoulder!r} is not a shoulder; it has letters without vowels and l,"
                " and a digit at its end, such as x5"
            )
        if self.stream != stream_of(self.stream):
            raise SettingsRefused(
                f"the stream {self.stream!r} has other characters than A-Z a-z 0-9 _ -"
            )
        if not 0 <= self.embargo_days <= 100_000:
            raise SettingsRefused("embargo-days is a number of days, 0 or more")
        for name in self.nodes:
            check_node(name)
        self._check_texts()

    def _check_texts(self) -> None:
        for label, text in (*self.bag_info.items(), *self.rights.items()):
            if not _LABEL.fullmatch(label) or not text.isprintable() or not text.strip():
                raise SettingsRefused(f"{label} = {text!r} is not a line of text with a name")
        for label in self.bag_info:
            if label.lower() in _OF_THE_BAG:
                raise SettingsRefused(f"{label} in bag-info is written by silo itself")
        if unknown := sorted(set(self.rights) - set(RIGHTS)):
            raise SettingsRefused(f"rights have no {unknown[0]!r}; they have {', '.join(RIGHTS)}")

    @property
    def is_for_tests(self) -> bool:
        """Whether the ARKs are not meant to last."""
        return self.naan == NAAN_FOR_TESTS


def load_settings(silo_path: str) -> StoreSettings:
    """Read the settings of a Silo; without a file they are the defaults.

    Raises:
        SettingsRefused: The file is invalid; says what is wrong.
    """
    try:
        return settings_of(_files(silo_path).load(_NAME))
    except FileNotFoundError:
        return StoreSettings()
    except (OSError, ValueError) as error:
        file = os.path.relpath(store_file(silo_path), silo_path)
        raise SettingsRefused(f"{file} is invalid: {error}") from None


def store_settings(silo_path: str, settings: StoreSettings) -> None:
    """Write the settings of a Silo, completely or not at all."""
    _files(silo_path).store(_NAME, settings_table(settings))


_NAME = "store"


def _files(silo_path: str) -> TomlFiles:
    return TomlFiles(os.path.dirname(store_file(silo_path)), re.compile(_NAME), silo_path)


def store_address(silo_path: str, settings: StoreSettings) -> str:
    """Return the absolute path or the URL of the store.

    Raises:
        SettingsRefused: None is named.
    """
    if not settings.store:
        raise SettingsRefused(
            'no store is named: give --store, or write store = "/srv/store" into'
            " crawling/store.toml (silo crawl store does)"
        )
    if _SCHEME.match(settings.store):
        return settings.store.rstrip("/")
    return os.path.abspath(os.path.join(silo_path, os.path.expanduser(settings.store)))


# --------------------------------------------------------------------------- as tables

_USUAL = StoreSettings()
_KINDS = {
    name.replace("_", "-"): kind for name, kind in kinds_of(_USUAL, StoreSettings.__slots__).items()
}


def settings_of(table: Mapping[str, Any]) -> StoreSettings:
    """Read settings as they are in the file.

    Raises:
        SettingsRefused: Says what is wrong.
    """
    try:
        known = {name.replace("-", "_"): value for name, value in checked(table, _KINDS).items()}
        if "checkpoint_every" in known:
            known["checkpoint_every"] = duration_of(known["checkpoint_every"])
        return StoreSettings(**known)
    except JobRefused:
        raise SettingsRefused("checkpoint-every is a duration such as 30m, 12h or 2d") from None
    except (SettingWrong, PackageInvalid) as error:  # PackageInvalid: the name of a node
        raise SettingsRefused(str(error)) from None


def settings_table(settings: StoreSettings, *, with_defaults: bool = False) -> dict[str, Any]:
    """Return settings as they are in the file.

    Args:
        with_defaults: Whether those that are as they are anyway are among them.
    """
    found: dict[str, Any] = {}
    for name in StoreSettings.__slots__:
        value = getattr(settings, name)
        if value is not None and (with_defaults or value != getattr(_USUAL, name)):
            is_time = isinstance(value, timedelta)
            found[name.replace("_", "-")] = duration_text(value) if is_time else as_toml(value)
    return found


def with_changes(settings: StoreSettings, **changes: Any) -> StoreSettings:
    """Return settings of which some are replaced by options that were given (not None)."""
    return replace(
        settings, **{name: value for name, value in changes.items() if value is not None}
    )
