"""A Silo by its settings, ready to be served."""

import getpass
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from oaipmhprovider.provider import Settings
from oaipmhprovider.source import RecordSource
from recordsilo import Granary, Silo
from recordsilo.repository import Repository
from siloprovider.dressed import DressedSource
from siloprovider.errors import SettingInvalid
from siloprovider.granary_source import GranarySource
from siloprovider.searches import SearchedSource
from siloprovider.settings import ProviderSettings
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity, utc_now

PATH = "/oai"
"""Of the base URL, where none is set."""


@dataclass(frozen=True, slots=True)
class Provided:
    """What is served.

    Attributes:
        source: The records.
        settings: How `oaipmhprovider` serves them; without an address, if none is set.
        catch_up: Takes over what changed, which any request would do otherwise; gets a function
            that is called with the number of records so far.
        awaits_all: Whether that reads all records, as the first time.
    """

    source: RecordSource
    settings: Settings
    catch_up: Callable[[Callable[[int], object] | None], None]
    awaits_all: Callable[[], bool]


@contextmanager
def provided(
    silo: Silo, settings: ProviderSettings, now: Callable[[], datetime] = utc_now
) -> Iterator[Provided]:
    """A Silo by its settings, until the end of the block.

    Raises:
        ProvidingError: It cannot be provided so.
    """
    identity = identity_of(settings, settings.name or Repository(silo.path).name or "Silo")
    with SiloSource(silo, identity, only_ready=settings.only_ready, now=now) as source:
        items = source.items
        searched = SearchedSource(source, silo, items, settings)
        dressed = DressedSource(searched, settings, items.ends)
        settings_ = served(settings, items.token_key())
        yield Provided(dressed, settings_, items.catch_up, items.awaits_all)


@contextmanager
def provided_directory(
    granary: Granary, settings: ProviderSettings, now: Callable[[], datetime] = utc_now
) -> Iterator[Provided]:
    """A directory of Silos by its settings, until the end of the block.

    Raises:
        ProvidingError: It cannot be provided so.
        OSError: Nothing can be written in the directory.
    """
    if settings.searches or settings.all_searches:
        raise SettingInvalid(
            "a directory of Silos gives no saved searches as sets; provide the Silo that has them"
        )
    name = os.path.basename(os.path.abspath(granary.dir_of_silos)) or "Silos"
    identity, only_ready = identity_of(settings, name), settings.only_ready
    with GranarySource(granary, identity, only_ready=only_ready, now=now) as source:
        items = source.items
        dressed = DressedSource(source, settings, items.ends)
        settings_ = served(settings, items.token_key())
        yield Provided(dressed, settings_, source.catch_up, source.awaits_all)


class StandingProvider:
    """A directory of Silos that stays open between requests, for a server that has other work."""

    def __init__(self, granary: Granary) -> None:
        self._granary, self._lock, self._opened = granary, Lock(), ExitStack()
        self._known: tuple[ProviderSettings, Provided] | None = None

    def by(self, settings: ProviderSettings) -> Provided:
        """The directory by some settings; what was opened by others is kept for who still uses it.

        Raises:
            ProvidingError, OSError: See `provided_directory`.
        """
        with self._lock:
            if self._known is None or self._known[0] != settings:
                one = self._opened.enter_context(provided_directory(self._granary, settings))
                self._known = settings, one
            return self._known[1]

    def close(self) -> None:
        """Close what was opened."""
        with self._lock:
            self._opened.close()
            self._known = None


def identity_of(settings: ProviderSettings, name: str) -> Identity:
    """What a repository says of itself; `name` if the settings have none."""
    return Identity(settings.name or name, settings.emails or (own_address(),))


def served(settings: ProviderSettings, token_key: bytes) -> Settings:
    """The part of the settings that `oaipmhprovider` knows."""
    return Settings(
        base_url=settings.base_url or None, page_size=settings.page_size, token_key=token_key
    )


def own_address() -> str:
    """The mail address of who started the program, as far as this machine knows it."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        name = "silo"
    host = socket.getfqdn()
    return f"{name}@{host if '.' in host else f'{host}.localdomain'}"
