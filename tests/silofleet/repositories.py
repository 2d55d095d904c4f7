"""Repositories on several hosts of loopback: the sample, and misbehaving ones.

Each host keeps a log of when it was asked, and of the pages that each repository sent.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from misbehaving import MisbehavingServer, Repository, repository_with
from misbehaving.repository import PATH, Reply

from oaipmhprovider.provider import Settings, respond
from oaipmhprovider.sample import sample_repository

FAULTS = (
    "token_of_the_third_page_refused", "lists_break_off_the_first_time", "tokens_expire",
    "list_ends_after_two_pages", "tokens_work_once", "size_of_the_page", "absurd_list_sizes",
    "gzip_not_announced", "notices_around_the_answer", "one_list_at_a_time",
    "bare_ampersands", "windows_1252_in_places", "a_record_cut_short", "a_record_without_metadata",
    "duplicates_across_pages", "datestamps_of_nought", "in_no_order",
)  # fmt: skip
"""Of all kinds, and without long pauses; of two, a record is lost."""

_PAGE = 20
_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_UPDATES = ("from=2012-06", "from=2026-1")
"""How requests for what changed since the first harvest are recognised."""


class _Sample:
    """The sample repository."""

    def __init__(self, number: int) -> None:
        self._source = sample_repository(41 + number)
        self._settings = Settings(page_size=_PAGE)

    def answer(self, query: str) -> Reply:
        return Reply(respond(parse_qsl(query), self._source, _NOW, self._settings).body)


def _misbehaving(number: int) -> Repository:
    repository = repository_with(FAULTS[number // 2 % len(FAULTS)])
    repository.page_size = _PAGE
    return repository


class Host:
    """Repositories of one host, each at a path of its own.

    Attributes:
        asked: Moments of its requests.
        pages: Path → how often each page of a list was sent, those of updates left out.
    """

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers
        self.forget()

    def forget(self) -> None:
        """Begin anew, as if nobody had asked anything."""
        self.asked: list[float] = []
        self.pages: dict[str, Counter[str]] = {f"/{one}": Counter() for one in self._numbers}
        self._repositories: dict[str, _Sample | Repository] = {
            f"/{one}": _misbehaving(one) if one % 2 else _Sample(one) for one in self._numbers
        }

    def answer(
        self, query: str, method: str, path: str, headers: Mapping[str, str], on_connection: int
    ) -> Reply:
        """Answer a request; called by the threads of the server."""
        self.asked.append(time.monotonic())
        place = path.removesuffix(PATH)
        repository = self._repositories[place]
        if isinstance(repository, _Sample):
            reply = repository.answer(query)
        else:
            reply = repository.answer(query, method, PATH, headers, on_connection)
            repository.answered()
        if "ListRecords" in query and not any(one in query for one in _UPDATES):
            self.pages[place][query] += not reply.reset and b"</error>" not in reply.body
        return reply

    def answered(self, *, after_others: bool = False) -> None:
        """As the server wants; no repository here waits for that."""


class Repositories:
    """What `repositories` serves.

    Attributes:
        hosts: Address and port → host.
        urls: Base URLs of all, those with an odd number misbehave.
    """

    def __init__(self, hosts: dict[str, Host], urls: list[str]) -> None:
        self.hosts, self.urls = hosts, urls

    def forget(self) -> None:
        """Begin anew, as if nobody had asked anything."""
        for host in self.hosts.values():
            host.forget()

    @property
    def requests(self) -> int:
        """How many requests came so far."""
        return sum(len(host.asked) for host in self.hosts.values())

    def pages(self) -> list[Counter[str]]:
        """How often each page of each repository was sent, in the order of `urls`."""
        return [one for host in self.hosts.values() for one in host.pages.values()]


@contextmanager
def repositories(hosts: int, each: int) -> Iterator[Repositories]:
    """Serve repositories on 127.0.0.2 and the addresses after it."""
    found = Repositories({}, [])
    with ExitStack() as stack:
        for number in range(hosts):
            numbers = range(number * each, (number + 1) * each)
            host, address = Host(numbers), f"127.0.0.{number + 2}"
            server = stack.enter_context(MisbehavingServer(host, address))  # type: ignore[arg-type]
            place = f"{address}:{server.port}"
            found.hosts[place] = host
            found.urls += [f"http://{place}/{one}{PATH}" for one in numbers]
        yield found
