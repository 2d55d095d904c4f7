"""What a handler has at hand: the Silo, the settings, the templates, the names of sets."""

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo import HarvestedRecord, Silo
from recordsilo.disk.identifier import unclean
from recordsilo.errors import IdentifierError, RecordNotFound
from recordsilo.formats import persistent_identifier
from recordsilo.index import PageRequest
from silowork.service import Jobs
from webui.http.messages import Request
from webui.http.multipart import Form
from webui.http.security import LOOPBACK_ONLY, Policy
from webui.people.authentication import Gate
from webui.people.roles import NOBODY, User

GIB = 1024**3
_SAME_DOI = 20
"""Records, found by the words of a DOI, among which the one that has it is looked for."""
HARVESTER_STATE = "oaipmh_harvester.json"
logger = logging.getLogger("webui")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person who starts the page decides.

    Attributes:
        agent: Noted as the author of every change made here, where nobody signs in.
        max_upload: Bytes of one upload.
        broker: Where workers are told of jobs, such as ``redis://127.0.0.1/0``; empty: by
            files in the Silo.
        by_worker: Whether workers do the jobs, as beside `silo serve`; else threads here.
        on_shelf: Whether this is one of several Silos, whose list every page leads back to.
        sign_in: Whether people sign in; always so where the page is reached from
            other machines.
    """

    agent: str = "page"
    max_upload: int = 2 * GIB
    policy: Policy = LOOPBACK_ONLY
    sign_in: bool = False
    broker: str = ""
    by_worker: bool = False
    on_shelf: bool = False

    @property
    def needs_sign_in(self) -> bool:
        """Whether only those who signed in are answered."""
        return self.sign_in or self.policy.remote or bool(self.policy.proxies)


class HarvesterState:
    """What the harvester noted beside the Silo; read again when the file changes.

    A harvest may run meanwhile in another process, which replaces the file whole.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._state: dict[str, Any] = {}

    def __getitem__(self, key: str) -> dict[str, Any]:
        """The object under a key; empty where nothing was harvested yet."""
        found = self._current().get(key)
        return found if isinstance(found, dict) else {}

    def _current(self) -> dict[str, Any]:
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            return {}
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if stamp != self._seen:
            self._state, self._seen = self._read(), stamp
        return self._state

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, "rb") as file:
                state = json.load(file)
        except (OSError, ValueError, RecursionError) as error:
            logger.warning(
                "%s cannot be read (%s); sets are shown by their specs", self._path, error
            )
            return {}
        return state if isinstance(state, dict) else {}


def repository_name(silo_path: str) -> str:
    """The name of the repository that a Silo was harvested from; empty where it is unknown."""
    state = HarvesterState(os.path.join(silo_path, HARVESTER_STATE))
    return str(state["identify"].get("repositoryName") or "")


class SetCounts:
    """The number of records in each set, counted anew when the index was written to.

    Counting goes through every membership there is: a fraction of a millisecond for a
    few thousand records; for a million it takes about a second. So numbers are kept for a
    hundred times as long as counting took, whatever is written meanwhile, and for some
    minutes while nothing is.
    """

    LONGEST = 600.0
    """Seconds after which the index's files are no longer believed to be unchanged."""

    def __init__(self, silo: Silo, clock: Callable[[], float] = time.monotonic) -> None:
        self._silo, self._clock = silo, clock
        self._counts: dict[str, int] = {}
        self._good_until = self._best_before = float("-inf")
        self._stamp: object | None = None

    def __call__(self) -> dict[str, int]:
        """setSpec → number of records."""
        began = self._clock()
        if began < self._good_until:
            return self._counts
        stamp = self._silo.index_stamp()
        if stamp is None or stamp != self._stamp or began >= self._best_before:
            self._counts = self._silo.set_counts()
            ended = self._clock()
            self._good_until = ended + 100 * (ended - began)
            self._best_before, self._stamp = ended + self.LONGEST, stamp
        return self._counts


def name_of_set(names: Mapping[str, Any], set_spec: str) -> str:
    """A set's name among `Site.set_names`; its spec where no name is known."""
    return str(names.get(set_spec) or set_spec)


@dataclass(frozen=True, slots=True)
class Site:
    """One Silo and how it is shown."""

    silo: Silo
    settings: Settings
    harvester: HarvesterState
    set_counts: SetCounts
    gate: Gate
    jobs: Jobs
    openapi: Callable[[], Mapping[str, Any]]

    @classmethod
    def of(
        cls,
        silo: Silo,
        settings: Settings | None = None,
        openapi: Callable[[], Mapping[str, Any]] = dict,
    ) -> "Site":
        """The site of a Silo that is open.

        Args:
            openapi: Describes the routes: the page that shows it is one of them.
        """
        state = HarvesterState(os.path.join(silo.path, HARVESTER_STATE))
        known = settings or Settings()
        gate = Gate.of(
            silo.path,
            known.agent,
            sign_in=known.needs_sign_in,
            user_header=known.policy.user_header,
        )
        jobs = Jobs.of(silo.path, known.broker, by_worker=known.by_worker)
        return cls(silo, known, state, SetCounts(silo), gate, jobs, openapi)

    @property
    def name(self) -> str:
        """What the Silo is called: the harvested repository's name, else the directory's.

        In a directory of Silos both, so that no two Silos have the same name.
        """
        directory = os.path.basename(self.silo.path.rstrip("/")) or "Silo"
        name = str(self.harvester["identify"].get("repositoryName") or directory)
        return f"{directory}: {name}" if self.settings.on_shelf and name != directory else name

    @property
    def spool_dir(self) -> str:
        """Where uploads lie while they come in: on the Silo's own disk."""
        return os.path.join(self.silo.path, ".silo", "uploads")

    @property
    def set_names(self) -> Mapping[str, Any]:
        """setSpec → its name for people, of those that have one; to be looked up many times."""
        return self.harvester["sets"]

    def set_name(self, set_spec: str) -> str:
        """The set's name for people; its spec where no name is known."""
        return name_of_set(self.set_names, set_spec)

    def identifier(self, segment: str) -> str:
        """The identifier that a segment of a URL names.

        The cleaned form wins; then whatever form the Silo knows a record by.

        Raises:
            RecordNotFound: None of them.
        """
        with contextlib.suppress(IdentifierError, RecordNotFound):
            return self.silo.resolve(unclean(segment))
        return self.silo.resolve(segment)

    def named(self, text: str) -> str | None:
        """The one record that a text names: by its identifier in any form, or by its DOI."""
        text = text.strip()
        with contextlib.suppress(IdentifierError, RecordNotFound):
            return self.identifier(text)
        scheme, name = persistent_identifier(text) or ("", "")
        if scheme != "doi":
            return None
        found = self.silo.search(f'identifier:"doi:{name}"', page=PageRequest(limit=_SAME_DOI))
        dois = self.silo.described([row.identifier for row in found.rows])
        named = [one for one, said in dois.items() if said.doi.casefold() == name.casefold()]
        return named[0] if len(named) == 1 and found.total <= _SAME_DOI else None


def set_choices(site: Site) -> list[tuple[str, str, int]]:
    """(spec, name, number of records) of every set, by name."""
    names = site.set_names
    counts = site.set_counts().items()
    counted = ((spec, name_of_set(names, spec), count) for spec, count in counts)
    return sorted(counted, key=lambda choice: (choice[1].casefold(), choice[0]))


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way to a handler.

    Attributes:
        params: What the route's braces matched, decoded.
        form: The fields and files of the body, where the route takes a form.
        wants_json: The answer is to be the JSON twin.
        is_twin: It was asked for by ``.json``, not only by Accept.
        user: Who asks; their name is noted with every change.
    """

    site: Site
    request: Request
    params: Mapping[str, str] = field(default_factory=dict)
    form: Form = field(default_factory=Form)
    wants_json: bool = False
    is_twin: bool = False
    user: User = NOBODY

    @property
    def identifier(self) -> str:
        """The identifier of the record that the address names."""
        return self.site.identifier(self.params["record"])

    @property
    def record(self) -> HarvestedRecord:
        """That record, read now."""
        return self.site.silo[self.identifier]

    @property
    def version(self) -> str:
        """The version that the address names."""
        return self.params["version"]

    def field(self, name: str, default: str = "") -> str:
        """A field of the form, without blanks around it."""
        return self.form.fields.get(name, default).strip()
