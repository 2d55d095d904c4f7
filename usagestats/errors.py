"""Errors of this package: a class for each cause, with one sentence."""

from collections.abc import Sequence

_NAMED = 5


class UsageError(Exception):
    """Base class; the text is for the operator."""


class CountsUnreadable(UsageError):
    """A file of counts cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be read: {reason}")


class FormatUnknown(UsageError):
    """A log is in no known format, or the description of a format is invalid."""


class SettingsInvalid(UsageError):
    """A file of settings, ``usage.toml``, is invalid."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class ProfileNeeded(UsageError):
    """Nothing says which address means which record."""


class AddressInvalid(UsageError):
    """Not a valid address of a service."""


class PeriodInvalid(UsageError):
    """A period is not one."""


class CountriesUnreadable(UsageError):
    """The file of addresses and countries cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the countries of addresses cannot be read from {path}: {reason}")


class KeysMissing(UsageError):
    """Keys of days with events are missing: their visitors would be taken for others."""

    def __init__(self, silo_path: str, days: Sequence[str], after: str) -> None:
        first = ", ".join(days[:_NAMED]) + (", …" if len(days) > _NAMED else "")
        super().__init__(
            f"keys of days that have events are missing in {silo_path}/usage/keys: {first}. "
            "Restore usage/keys and usage/secret from a backup; if there is none, keep the counts "
            f"of these days as they are: silo usage freeze {silo_path} --before {after}"
        )


class EventsUnreadable(UsageError):
    """Files of events are missing or damaged, so some days cannot be counted."""

    def __init__(self, paths: Sequence[str], days: Sequence[str]) -> None:
        more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
        first = ", ".join(days[:_NAMED]) + (", …" if len(days) > _NAMED else "")
        super().__init__(
            f"files of events are missing or damaged: {paths[0]}{more}. So {first} cannot be read "
            "and counted again; what was counted before stays. Restore the files from a backup, "
            "or import all logs of these days again with --again"
        )


class ZoneChanged(UsageError):
    """The time zone of the settings is not the one that the stored days are of."""

    def __init__(self, stored: str, given: str) -> None:
        super().__init__(
            f"the counts are of days in {stored}, but usage.toml has timezone = {given!r}; "
            f"write {stored!r} again, or import everything into a new Silo"
        )


class PartMissing(UsageError):
    """Of the ledger and the counts, which tell of the same days, one is missing."""

    def __init__(self, missing: str, present: str) -> None:
        super().__init__(
            f"{missing} is missing or empty, but {present} knows of counted days; restore it from "
            "a backup, or move both away and import all logs again (frozen days are then lost)"
        )


class CountsLost(UsageError):
    """The counts are missing, but can be made again from the events."""

    def __init__(self, path: str, silo_path: str) -> None:
        super().__init__(
            f"{path} is missing or empty; silo usage import {silo_path} makes it again from the "
            "events, also without a LOG"
        )


class NothingImported(UsageError):
    """No log was ever imported."""

    def __init__(self, silo_path: str) -> None:
        super().__init__(f"{silo_path} has no usage yet; silo usage import reads access logs")


class NothingRead(UsageError):
    """No line of a file is in a known format."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is in no known log format; name one with --format, or describe it in "
            "usage/usage.toml (silo help usage)"
        )


class EntityUnknown(UsageError):
    """No record or entity has this name or key, or several have."""
