"""What handlers use: the site, which is a Silo here, and the call."""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo import HarvestedRecord, Silo
from recordsilo.disk.identifier import clean, unclean
from recordsilo.errors import (
    VERSION_FILE,
    IdentifierError,
    RecordNotFound,
    SeveralRecords,
    SiloGone,
)
from recordsilo.repository import Repository
from silowork.service import Jobs
from webui.contributed import navigation
from webui.http.messages import Request
from webui.http.multipart import Form
from webui.http.security import LOOPBACK_ONLY, AddressPolicy
from webui.navigation import Menu
from webui.people.authentication import Gate
from webui.people.roles import NOBODY, User
from webui.route import Scope

Described = Callable[[frozenset[Scope]], Mapping[str, Any]]
GIB = 1024**3


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """The settings of the person who starts the page.

    Attributes:
        agent: The recorded author of changes if no sign-in is required.
        max_upload: Maximum bytes of one upload.
        broker: The broker for jobs, such as ``redis://127.0.0.1/0``; empty: workers read the
            ledger in the Silo.
        by_worker: Whether workers do the jobs, as beside `silo serve`; else threads here.
        on_shelf: Whether this is one of several Silos; every page then links to their list.
        sign_in: Whether users sign in; always required if the page is reachable from
            other machines.
        oai: Whether the records are given to harvesters, whatever the Silo's own settings say.
    """

    agent: str = "page"
    max_upload: int = 2 * GIB
    policy: AddressPolicy = LOOPBACK_ONLY
    sign_in: bool = False
    broker: str = ""
    by_worker: bool = False
    on_shelf: bool = False
    oai: bool = False

    @property
    def needs_sign_in(self) -> bool:
        """Whether only signed-in users get answers."""
        return self.sign_in or self.policy.remote or bool(self.policy.proxies)


class SetCounts:
    """The number of records in each set, counted again after changes of the index.

    Counting reads every membership: it takes a fraction of a millisecond for a few thousand
    records, and about a second for a million. So counts are cached for a hundred times the
    duration of the counting even if the index changes, and for some minutes if it does not.
    """

    LONGEST = 600.0
    """Seconds after which counts are not used even if the index's files look unchanged."""

    def __init__(self, silo: Silo, clock: Callable[[], float] = time.monotonic) -> None:
        self._silo, self._clock = silo, clock
        self._counts: dict[str, int] = {}
        self._good_until = self._best_before = float("-inf")
        self._stamp: object | None = None

    def __call__(self) -> dict[str, int]:
        """Return setSpec → number of records."""
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
    """Return a set's name from `Site.set_names`; its spec if it has no name."""
    return str(names.get(set_spec) or set_spec)


@dataclass(frozen=True, slots=True)
class AnySite:
    """A Silo or a directory of Silos, as the way of a request to its page sees it.

    Attributes:
        path: Its directory, which error messages do not name.
        scopes: The lines of the route table that it answers.
        gate: Who signs in.
        described: Returns the OpenAPI document of scopes; passed in because its page is one of
            the routes.
    """

    path: str
    scopes: frozenset[Scope]
    settings: SiteSettings
    gate: Gate
    described: Described

    @property
    def name(self) -> str:
        """Shown at the head of every page: the directory's own name."""
        return os.path.basename(self.path.rstrip("/")) or "Silos"

    @property
    def navigation(self) -> tuple[Menu, ...]:
        """The main navigation of its pages."""
        return ()

    @property
    def call(self) -> "type[AnyCall]":
        """What its handlers get."""
        return AnyCall

    @property
    def spool_dir(self) -> str:
        """The directory for uploads in progress, on the same disk."""
        return os.path.join(self.path, ".silo", "uploads")

    def check_there(self) -> None:
        """Refuse a request once the directory was moved away; see `SiloGone`."""
        if not os.path.isdir(self.path):
            raise SiloGone(self.path)

    def openapi(self) -> Mapping[str, Any]:
        """The OpenAPI document of its addresses."""
        return self.described(self.scopes)


@dataclass(frozen=True, slots=True)
class Site(AnySite):
    """One Silo and the settings of its page."""

    silo: Silo
    repository: Repository
    set_counts: SetCounts
    jobs: Jobs

    @classmethod
    def of(
        cls,
        silo: Silo,
        settings: SiteSettings | None = None,
        described: Described = lambda _scopes: {},
        gate: Gate | None = None,
    ) -> "Site":
        """Make the site of an open Silo.

        Args:
            gate: Who signs in; by default those with an account in the Silo.
        """
        known = settings or SiteSettings()
        gate = gate or Gate.of(
            silo.path,
            known.agent,
            sign_in=known.needs_sign_in,
            user_header=known.policy.user_header,
        )
        jobs = Jobs.of(silo.path, known.broker, by_worker=known.by_worker)
        own = (silo, Repository(silo.path), SetCounts(silo), jobs)
        return cls(silo.path, frozenset({Scope.SILO}), known, gate, described, *own)

    @property
    def navigation(self) -> tuple[Menu, ...]:
        """The main navigation of its pages."""
        return navigation()

    @property
    def call(self) -> "type[Call]":
        """What its handlers get."""
        return Call

    @property
    def name(self) -> str:
        """The Silo's name: the harvested repository's name, else the directory's.

        In a directory of Silos it has both, so that names are unique.
        """
        directory = os.path.basename(self.path.rstrip("/")) or "Silo"
        name = self.repository.name or directory
        return f"{directory}: {name}" if self.settings.on_shelf and name != directory else name

    def check_there(self) -> None:
        """Refuse a request once the Silo was moved away; see `SiloGone`."""
        if not os.path.exists(os.path.join(self.path, VERSION_FILE)):
            raise SiloGone(self.path)

    @property
    def set_names(self) -> Mapping[str, Any]:
        """setSpec → the set's name, for sets that have one; read it once for many look-ups."""
        return self.repository.set_names

    def set_name(self, set_spec: str) -> str:
        """The set's name; its spec if it has no name."""
        return name_of_set(self.set_names, set_spec)

    def identifier(self, segment: str) -> str:
        """Return the identifier that a segment of a URL names.

        The cleaned form takes precedence over any other form of an identifier.

        Raises:
            RecordNotFound: No record has such an identifier.
        """
        with contextlib.suppress(IdentifierError, RecordNotFound):
            return self.silo.resolve(unclean(segment))
        try:
            return self.silo.resolve(segment)
        except SeveralRecords:
            raise
        except RecordNotFound as error:
            raise type(error)(decoded(segment), self.silo.path) from None

    def named(self, text: str) -> str | None:
        """Return the one record that a text names; see `Silo.resolve`."""
        with contextlib.suppress(IdentifierError, RecordNotFound):
            return self.identifier(text.strip())
        return None


def decoded(segment: str) -> str:
    """The identifier that a segment stands for if it is a cleaned form; else the segment."""
    with contextlib.suppress(IdentifierError):
        found = unclean(segment)
        return found if clean(found) == segment else segment
    return segment


def set_choices(site: Site) -> list[tuple[str, str, int]]:
    """(spec, name, number of records) of every set, by name."""
    names = site.set_names
    counts = site.set_counts().items()
    counted = ((spec, name_of_set(names, spec), count) for spec, count in counts)
    return sorted(counted, key=lambda choice: (choice[1].casefold(), choice[0]))


@dataclass(frozen=True, slots=True)
class AnyCall:
    """One request and its context, for a handler of every site.

    Attributes:
        params: The values of the route's braces, decoded.
        form: The fields and files of the body, if the route accepts a form.
        wants_json: Whether the answer is the JSON twin.
        is_twin: Whether it was requested by ``.json``, not only by Accept.
        user: The user; their name is recorded with every change.
    """

    site: AnySite
    request: Request
    params: Mapping[str, str] = field(default_factory=dict)
    form: Form = field(default_factory=Form)
    wants_json: bool = False
    is_twin: bool = False
    user: User = NOBODY

    def field(self, name: str, default: str = "") -> str:
        """Return a field of the form, without surrounding white space."""
        return self.form.fields.get(name, default).strip()


@dataclass(frozen=True, slots=True)
class Call(AnyCall):
    """One request about a Silo, for a handler."""

    site: Site

    @property
    def identifier(self) -> str:
        """The identifier of the record that the address names."""
        return self.site.identifier(self.params["record"])

    @property
    def record(self) -> HarvestedRecord:
        """That record, read from the store."""
        return self.site.silo[self.identifier]

    @property
    def version(self) -> str:
        """The version that the address names."""
        return self.params["version"]
