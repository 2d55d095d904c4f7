"""The rules of a Silo: its settings, with the identifiers and links of its records."""

import functools
import itertools
from collections.abc import Iterator
from dataclasses import replace

from politeweb.addresses import parts_of
from recordsilo import Silo
from recordsilo.disk.identifier import unclean
from recordsilo.errors import RecordSiloError
from recordsilo.formats import links_of
from usagestats.errors import ProfileNeeded
from usagestats.rules.classify import Rules
from usagestats.rules.patterns import Patterns
from usagestats.rules.settings import (
    PROFILES,
    choose_profile,
    profile_patterns,
    read_settings,
)

_MISSES = 1000
"""After this many identifiers that are not on the disk, all records are listed once."""
_LOOKED_AT = 50
"""Records whose links are looked at to choose a profile."""


class Records:
    """The identifiers of a Silo's records, as patterns name them.

    Attributes:
        not_held: Identifiers that were asked for, but that the Silo does not hold.
    """

    def __init__(self, silo: Silo) -> None:
        self._silo = silo
        self.not_held: set[str] = set()
        self._held: frozenset[str] | None = None
        self.resolve = functools.lru_cache(100_000)(self._resolve)

    def _resolve(self, text: str) -> str:
        """Return the full form; the same text if the Silo does not hold the record."""
        if self._held is None and len(self.not_held) > _MISSES:
            self._held = frozenset(self._silo.keys())
        try:
            if self._held is not None:
                found = self._among_held(text)
            elif self._silo.exists(text) or unclean(text) != text:
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
        for form in (text, unclean(text)):
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
        found: dict[str, str] = {}
        for identifier, path in _links(self._silo, iter(self._silo.keys())):
            found[path] = identifier if found.get(path, identifier) == identifier else ""
        return found


def _links(silo: Silo, identifiers: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield each record's identifier with the path of each of its links."""
    for identifier in identifiers:
        try:
            record = silo[identifier]
            version = record.state.current
            for name in version.metadata_files:
                if name in version.paths:
                    with record.get_stream(name, version.name) as file:
                        for link in links_of(name, file.read()):
                            yield identifier, parts_of(link.url).path
        except (RecordSiloError, OSError, ValueError):
            continue  # `silo check` reports it


def rules_of(silo: Silo, profile: str = "", *, remember: bool = True) -> tuple[Rules, Records]:
    """Return the rules of a Silo, and its records as they are found by them.

    Args:
        silo: The Silo.
        profile: A profile to use, in place of the one in ``usage.toml``.
        remember: Whether to write the chosen profile into ``usage.toml``.

    Raises:
        SettingsInvalid: ``usage.toml`` is invalid.
        ProfileNeeded: It has no pattern, and the links of the records fit no profile.
        PackageMissing: The lists of robots are not installed.
    """
    settings = read_settings(silo.path)
    records = Records(silo)
    known = settings.profile
    if profile:
        settings = replace(settings, profile=profile)
    if not settings.patterns:
        settings = replace(settings, profile=fitting_profile(silo, records))
        if not settings.profile:
            raise ProfileNeeded(
                f"nothing says which address means which record of {silo.storage_dir}; "
                f"name its software, --profile {' | '.join(PROFILES)}, or write patterns into "
                "usage/usage.toml (docs/usage.md)"
            )
    if remember and settings.profile != known:
        choose_profile(silo.path, settings.profile)
    records.not_held.clear()
    return Rules(settings, records.resolve, records.by_link), records


def fitting_profile(silo: Silo, records: Records) -> str:
    """Return the profile by which most links of the first records mean them; ``""``: none."""
    links = list(_links(silo, itertools.islice(iter(silo.keys()), _LOOKED_AT)))
    fits = {}
    for name in PROFILES:
        patterns = Patterns(profile_patterns(name), records.resolve)
        used = ((identifier, patterns.use(path)) for identifier, path in links)
        fits[name] = sum(use is not None and use.item == identifier for identifier, use in used)
    best = max(fits, key=lambda name: fits[name])
    return best if fits[best] else ""
