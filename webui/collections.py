"""The collections of a Silo as cards, for their list and for the home page."""

import logging
import os
from dataclasses import dataclass
from typing import Any

from recordsilo import Silo
from recordsilo.disk.stamps import stamp_of
from silocuration.collections import Collection, collection_of
from silocuration.errors import CurationError
from silocuration.searches import SEARCHES, SavedSearch, load_search, search_names
from webui import urls
from webui.timed_cache import TimedCache
from webui.words.markdown import first_words

_CARDS: TimedCache[tuple["CollectionCard", ...]] = TimedCache()
_SHORT = 200
logger = logging.getLogger("webui")


@dataclass(frozen=True, slots=True)
class CollectionCard:
    """A collection in a list.

    Attributes:
        text: The beginning of its text.
        picture_url: Empty if it has no picture.
    """

    name: str
    title: str
    text: str
    url: str
    picture_url: str
    date: str
    agent: str

    @classmethod
    def of(cls, search: SavedSearch, found: Collection) -> "CollectionCard":
        """Make the card of a collection."""
        has_picture = bool(found.picture or found.picture_of)
        picture_url = urls.collection(search.name, "picture") if has_picture else ""
        text = first_words(found.text)
        short = text if len(text) <= _SHORT else text[:_SHORT].rpartition(" ")[0] + " …"
        url = urls.collection(search.name)
        return cls(search.name, search.title, short, url, picture_url, search.date, search.agent)

    def to_json(self) -> dict[str, Any]:
        """Return the card as JSON values."""
        return {
            "name": self.name,
            "title": self.title,
            "text": self.text,
            "url": self.url,
            "picture": self.picture_url,
            "feed": urls.collection(self.name, "feed.atom"),
            "date": self.date,
            "agent": self.agent,
        }


def cards(silo: Silo) -> tuple[CollectionCard, ...]:
    """The collections by title; files that cannot be read are logged and left out.

    Cost: reads the files of the saved searches again when one of them was written.
    """
    stamp = stamp_of(os.path.join(silo.path, *SEARCHES.split("/")))
    return _CARDS.get(silo, "cards", lambda: _read(silo.path), stamp)


def changed(silo: Silo) -> None:
    """Read the collections again, because one was changed here."""
    _CARDS.forget(silo)


def _read(silo_path: str) -> tuple[CollectionCard, ...]:
    found = []
    for name in search_names(silo_path):
        try:
            search = load_search(silo_path, name)
        except CurationError:
            logger.warning("the saved search %s cannot be read", name)
            continue
        own = collection_of(search)
        found += [CollectionCard.of(search, own)] if own else []
    return tuple(sorted(found, key=lambda one: (one.title.casefold(), one.name)))
