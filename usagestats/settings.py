"""All settings of a Silo's usage together; each part of this package reads its own."""

from usagestats.entities.mapping import read_mapping
from usagestats.push.settings import push_settings
from usagestats.reports.platform import platform_of
from usagestats.rules.settings import read_settings


def check_settings(silo_path: str) -> None:
    """Read all tables, so that a wrong one is not found only by the command that needs it.

    Raises:
        SettingsInvalid: One is invalid; the message names the table and the setting.
    """
    read_settings(silo_path)
    read_mapping(silo_path)
    platform_of(silo_path)
    push_settings(silo_path)
