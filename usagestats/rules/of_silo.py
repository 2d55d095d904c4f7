"""The rules of a Silo: its settings, with the identifiers and links of its records."""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from politeweb.addresses import parts_of
from recordsilo import Silo
from recordsilo.disk.identifier import unclean
from recordsilo.errors import RecordSiloError
from recordsilo.formats import Link, links_of
from usagestats.errors import ProfileNeeded, SettingsInvalid
from usagestats.rules.classify import Rules
from usagestats.rules.patterns import Patterns
from usagestats.rules.settings import (
    PROFILES,
    choose_profile,
    profile_patterns,
    read_settings,
)
from usagestats.rules.uuids import read_table, uuid_of
from usagestats.store.paths import place

_NOT_CLEANED = re.compile("[:/.]")
"""What no such form has."""
_MISSES = 1000
"""After this many identifiers that are not on the disk, all records are listed once."""
_LOOKED_AT = 50
"""Records whose links are looked at to choose a profile."""


class Records:
    """The identifiers of a Silo's records, as patterns name them.

    Args:
        uuids: The table of UUIDs that its settings name; ``""``: none.

    Attributes:
        not_held: Identifiers that were asked for, but that the Silo does not hold.
    """

    def __init__(self, silo: Silo, uuids: str = "") -> None:
        self._silo, self._uuids = silo, uuids
        self.not_held: set[str] = set()
        self._held: frozenset[str] | None = None
        self.resolve = functools.lru_cache(100_000)(self._resolve)

    def _resolve(self, text: str) -> str:
        """Return the full form; the same text if the Silo does not hold the record."""
        if self._held is None and len(self.not_held) > _MISSES:
            self._held = frozenset(self._silo.indexed())
        try:
            if self._held is not None:
                found = self._among_held(text)
            elif self._silo.exists(text) or not _NOT_CLEANED.search(text):
                found = self._silo.resolve(text)
            else:
                found = ""
        except (RecordSiloError, OSError):
            found = ""
        if not found:
            self.not_held.add(text)
        return found or text

    def _among_held(self, text: str) -> str:
        """Return the full form, by the list of all identifiers; ``""`` if it is not there."""
        assert self._held is not None
        for form in _forms(text):
            for prefix in self._prefixes:
                if prefix + form in self._held:
                    return prefix + form
        return ""

    @functools.cached_property
    def _prefixes(self) -> tuple[str, ...]:
        known = (self._silo.state.get(key) for key in ("identifier_uri_prefix", "uri_base"))
        return ("", *(one for one in known if isinstance(one, str)))

    def by_link(self, path: str) -> str:
        """Return the only record that links to a path; ``""`` if none does, or several."""
        return self._by_link.get(path, "")

    @functools.cached_property
    def _by_link(self) -> dict[str, str]:
        links = _links(self._silo, iter(self._silo.keys()))
        return _only((parts_of(link.url).path, identifier) for identifier, link in links)

    def by_uuid(self, uuid: str) -> str:
        """Return the record of a UUID, by the table or else by the metadata; ``""``: unknown.

        Args:
            uuid: In lower case.

        Raises:
            SettingsInvalid: The table cannot be read.
        """
        if named := self._table.get(uuid):
            return self.resolve(named)
        return self._by_uuid.get(uuid, "")

    def check(self) -> None:
        """Read the table of UUIDs, so that a wrong one is refused before a line is read.

        Raises:
            SettingsInvalid: It cannot be read.
        """
        _ = self._table

    @functools.cached_property
    def _table(self) -> Mapping[str, str]:
        """The table of UUIDs that the settings name."""
        if not self._uuids:
            return {}
        path = place(self._silo.path, self._uuids)
        try:
            return read_table(path)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            raise SettingsInvalid(path, reason) from error
        except ValueError as error:
            raise SettingsInvalid(path, str(error)) from error

    @functools.cached_property
    def _by_uuid(self) -> dict[str, str]:
        links = _links(self._silo, iter(self._silo.keys()))
        return _only((uuid_of(link), identifier) for identifier, link in links)


def _forms(text: str) -> Iterator[str]:
    """Yield an identifier, and the one whose form in addresses it is.

    Raises:
        IdentifierError: It is not such a form.
    """
    yield text
    if not _NOT_CLEANED.search(text):
        yield unclean(text)


def _only(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the record of each key; ``""`` for one that several records have."""
    found: dict[str, str] = {}
    for key, identifier in pairs:
        if key:
            found[key] = identifier if found.get(key, identifier) == identifier else ""
    return found


def _links(silo: Silo, identifiers: Iterator[str]) -> Iterator[tuple[str, Link]]:
    """Yield each record's identifier with each of its links."""
    for identifier in identifiers:
        try:
            record = silo[identifier]
            version = record.state.current
            for name in version.metadata_files:
                if name in version.paths:
                    with record.get_stream(name, version.name) as file:
                        for link in links_of(name, file.read()):
                            yield identifier, link
        except (RecordSiloError, OSError, ValueError):
            continue  # `silo check` reports it


def rules_of(silo: Silo, profile: str = "", *, remember: bool = True) -> tuple[Rules, Records]:
    """Return the rules of a Silo, and its records as they are found by them.

    Args:
        profile: A profile to use, in place of the one in ``usage.toml``.
        remember: Whether to write the chosen profile into ``usage.toml``.

    Raises:
        SettingsInvalid: ``usage.toml`` is invalid.
        ProfileNeeded: It has no pattern, and the links of the records fit no profile.
        PackageMissing: The lists of robots are not installed.
    """
    settings = read_settings(silo.path)
    records = Records(silo, settings.uuids)
    records.check()
    known = settings.profile
    if profile:
        settings = replace(settings, profile=profile)
    if not settings.patterns:
        settings = replace(settings, profile=fitting_profile(silo, records))
        if not settings.profile:
            raise ProfileNeeded(
                f"nothing says which address means which record of {silo.storage_dir}; "
                f"name its software, --profile {' | '.join(PROFILES)}, or write patterns into "
                "usage/usage.toml (silo help usage)"
            )
    if remember and settings.profile != known:
        choose_profile(silo.path, settings.profile)
    records.not_held.clear()
    return Rules(settings, records.resolve, records.by_link, records.by_uuid), records


def fitting_profile(silo: Silo, records: Records) -> str:
    """Return the profile by which most links of the first records mean them; ``""``: none."""
    links = list(_links(silo, itertools.islice(iter(silo.keys()), _LOOKED_AT)))
    by_uuid = _only((uuid_of(link), identifier) for identifier, link in links)
    fits = {}
    for name in PROFILES:
        patterns = Patterns(
            profile_patterns(name), records.resolve, by_uuid=lambda uuid: by_uuid.get(uuid, "")
        )
        used = ((identifier, patterns.use(parts_of(link.url).path)) for identifier, link in links)
        fits[name] = sum(use is not None and use.item == identifier for identifier, use in used)
    best = max(fits, key=lambda name: fits[name])
    return best if fits[best] else ""
