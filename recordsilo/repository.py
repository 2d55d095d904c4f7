"""What a Silo knows of the repository that it was harvested from: its name, sets and formats.

The harvester stores it in ``oaipmh_harvester.json`` (`oaipmhscraper.scraper`). Everybody else reads
it here. A file that cannot be read is reported by `silo check`; here nothing is known then.
"""

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

from recordsilo.disk.regular_file import regular_fd
from recordsilo.disk.stamps import stamp_of

STATE_FILE = "oaipmh_harvester.json"
logger = logging.getLogger("recordsilo")


class Repository:
    """The harvested repository of a Silo; its file is read again when it changes.

    A harvest in another process may replace the file at any time.
    """

    def __init__(self, silo_path: str) -> None:
        self._path = os.path.join(silo_path, STATE_FILE)
        self._seen: object = None
        self._state: Mapping[str, Any] = {}

    @property
    def name(self) -> str:
        """Its name; empty if it is not known."""
        return str(self["identify"].get("repositoryName") or "")

    @property
    def set_names(self) -> Mapping[str, Any]:
        """setSpec → the set's name, for sets that have one; read it once for many look-ups."""
        return self["sets"]

    def __getitem__(self, key: str) -> Mapping[str, Any]:
        """Return the object under a key of the file; empty if nothing was harvested yet."""
        stamp = stamp_of(self._path)
        if stamp != self._seen or stamp is None:
            self._state, self._seen = self._read(), stamp
        found = self._state.get(key)
        return found if isinstance(found, dict) else {}

    def _read(self) -> Mapping[str, Any]:
        try:
            with open(self._path, "rb", opener=regular_fd) as file:
                state = json.load(file)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            logger.warning(
                "%s cannot be read (%s); sets are shown by their specs", self._path, error
            )
            return {}
        return state if isinstance(state, dict) else {}
