"""How a Silo, or a directory of Silos, is provided: ``curation/provider.toml``.

The command `silo provide` begins with these settings, and the page serves ``/oai`` by them.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import tomli_w

from politeweb.addresses import Address
from politeweb.errors import RequestRefused
from recordsilo.disk.atomic_file import make_parents, replace_file
from recordsilo.disk.toml_files import load_toml
from recordsilo.disk.toml_tables import SettingWrong, as_toml, checked, kinds_of
from siloprovider.errors import SettingInvalid, SettingsUnreadable
from siloprovider.identifiers import check_prefix

SETTINGS = "curation/provider.toml"
CURRENT, READY = "current", "ready"
MOST_RECORDS = 1000
_EMAIL = re.compile(r'[^\s@,;<>()"]+@(?:[^\s.@,;<>()"]+\.)+[^\s.@,;<>()"]+')
_NOT_TEXT = re.compile(r"[^\t\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Branding:
    """The icon of the collection, for pages of those who harvest it.

    Attributes:
        icon: Its address.
        link: Where it leads to; may be empty, as the title may.
        width, height: In pixels; 0 if not told.
    """

    icon: str
    link: str = ""
    title: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """How a Silo is provided.

    Attributes:
        page: Whether the page serves it at ``/oai``.
        name: Of the repository; empty for that of the harvested one.
        emails: Of who looks after it.
        base_url: Its address for harvesters; empty for that of the server.
        state: `CURRENT` or `READY`: which version is given.
        identifiers: What identifiers begin with (see `siloprovider.identifiers`); empty for those
            of the source.
        rights: The address of the licence of the metadata; empty if none is told.
        friends: Base URLs of other repositories.
        searches: Saved searches that are sets.
        all_searches: Whether all of them are.
        page_size: Records in a response.
        per_minute: Requests of a client in a minute; 0 for any number.
        branding: None if there is no icon.
    """

    page: bool = False
    name: str = ""
    emails: tuple[str, ...] = ()
    base_url: str = ""
    state: str = CURRENT
    identifiers: str = ""
    rights: str = ""
    friends: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    all_searches: bool = False
    page_size: int = 100
    per_minute: int = 600
    branding: Branding | None = field(default=None)

    @property
    def only_ready(self) -> bool:
        """Whether only versions that are ready are given."""
        return self.state == READY

    def with_(self, **given: Any) -> Self:
        """These settings with other values, where any are given; checked.

        Raises:
            SettingInvalid: One is malformed.
        """
        changed = replace(self, **{name: one for name, one in given.items() if one is not None})
        changed.check()
        return changed

    def check(self) -> None:
        """Check the form of every value.

        Raises:
            SettingInvalid: One is malformed; the message says which.
        """
        title = self.branding.title if self.branding else ""
        texts = (
            ("name", self.name),
            ("icon_title", title),
            *(("searches", s) for s in self.searches),
        )
        for where, text in texts:
            if _NOT_TEXT.search(text) or len(text) > _LONGEST:
                raise SettingInvalid("a name or title is too long, or no text on one line", where)
        for email in self.emails:
            if not _EMAIL.fullmatch(email):
                sentence = f"{email!r} is not an address of mail; write name@example.org"
                raise SettingInvalid(sentence, "emails")
        if self.state not in (CURRENT, READY):
            raise SettingInvalid(
                f"there is no state {self.state!r}; it is current or ready", "state"
            )
        if self.identifiers:
            check_prefix(self.identifiers)
        icon = self.branding or Branding("")
        urls = (
            ("base_url", self.base_url), ("rights", self.rights), ("icon", icon.icon),
            ("icon_link", icon.link), *(("friends", one) for one in self.friends),
        )  # fmt: skip
        for where, url in urls:
            if url:
                check_url(url, where)
        if self.branding and not self.branding.icon:
            sentence = "a link, title or size of an icon needs the address of the icon"
            raise SettingInvalid(sentence, "icon")
        if not 1 <= self.page_size <= MOST_RECORDS:
            raise SettingInvalid(f"a response has 1 to {MOST_RECORDS:,} records")
        if self.per_minute < 0:
            raise SettingInvalid("requests in a minute are a number, 0 for any number")


def check_url(text: str, field: str = "") -> None:
    """Check an address that others are told.

    Args:
        field: Of the form that has it.

    Raises:
        SettingInvalid: It is none, or has a password.
    """
    try:
        address = Address.parse(text)
    except RequestRefused:
        address = None
    if address is None or address.auth or address.url != text or _NOT_TEXT.search(text):
        sentence = f"{text!r} is not a web address; write https://… without a password"
        raise SettingInvalid(sentence, field)


def settings_path(path: str) -> str:
    """Where the settings of a Silo or a directory of Silos are."""
    return os.path.join(path, *SETTINGS.split("/"))


def read_settings(path: str) -> ProviderSettings:
    """Read the settings of a Silo or a directory of Silos; the usual ones if it has none.

    Raises:
        SettingsUnreadable: The file is invalid, or cannot be read.
    """
    place = settings_path(path)
    try:
        table = load_toml(place, follow=False)
    except FileNotFoundError:
        return ProviderSettings()
    except (OSError, ValueError) as error:
        raise SettingsUnreadable(place, getattr(error, "strerror", "") or str(error)) from None
    try:
        return _settings_from(table)
    except SettingInvalid as error:
        raise SettingsUnreadable(place, str(error)) from None


def store_settings(path: str, settings: ProviderSettings) -> None:
    """Write the settings, completely or not at all.

    Raises:
        SettingInvalid: One is malformed; nothing is written.
        OSError: The disk refused.
    """
    settings.check()
    place = settings_path(path)
    make_parents(place, path)
    replace_file(place, tomli_w.dumps(_table(settings)).encode())


_KINDS = kinds_of(ProviderSettings(), [one.name for one in fields(ProviderSettings)])
_ICON_KINDS = kinds_of(Branding(""), [one.name for one in fields(Branding)])


def _settings_from(table: Mapping[str, Any]) -> ProviderSettings:
    given = dict(table)
    icon = given.pop("branding", None)
    try:
        if icon is not None:
            if not isinstance(icon, dict):
                raise SettingInvalid("branding is a table: [branding]")
            icon = Branding(**{"icon": "", **checked(icon, _ICON_KINDS)})
        found = ProviderSettings(**checked(given, _KINDS), branding=icon)
    except SettingWrong as error:
        raise SettingInvalid(str(error)) from None
    found.check()
    return found


def _table(settings: ProviderSettings) -> dict[str, Any]:
    """The settings that are not the usual ones."""
    usual = ProviderSettings()
    table: dict[str, Any] = {}
    for one in fields(settings):
        value = getattr(settings, one.name)
        if value != getattr(usual, one.name) and not isinstance(value, Branding):
            table[one.name] = as_toml(value)
    if settings.branding is not None:
        icon = settings.branding
        table["branding"] = {
            one.name: value for one in fields(icon) if (value := getattr(icon, one.name))
        }
    return table
