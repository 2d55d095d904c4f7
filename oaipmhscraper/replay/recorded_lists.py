"""Find the list of each recorded response, and the responses that later ones replace (pure).

A page that was received twice (the process was killed before it was stored, or it was truncated and
requested again) was stored as it was received last. This is recognized by the same request before
one for the next page. The last page of a list is also requested again after it was stored, in the
same run, to see whether it lost its token.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.light_pages import read_lightly
from oaipmhprotocol import Verb
from oaipmhprotocol.queries import query_string
from oaipmhprotocol.words import Argument
from oaipmhscraper.warc.reading import StoredResponse


@dataclass(frozen=True, slots=True)
class ListName:
    """A list: of one harvest, one format and one set.

    Attributes:
        harvest_id: Empty in files of other tools.
        metadata_prefix: Empty if unknown.
        set_spec: None for all records.
    """

    harvest_id: str
    metadata_prefix: str
    set_spec: str | None = None


@dataclass(frozen=True, slots=True)
class ListAndWindow:
    """The list and window of a recorded response.

    Attributes:
        from_: The window's beginning, as sent in its first request.
        until: Its end.
        opens: Whether the request began a list or a window.
    """

    name: ListName
    from_: str | None = None
    until: str | None = None
    opens: bool = True


@dataclass(slots=True)
class RecordedList:
    """The data of a list in its responses.

    Attributes:
        from_: The beginning of its first window.
        until: The end of its first window.
        response_date: The server's time in the first response.
        promised: The latest completeListSize of a window with those bounds.
        unfollowed: Tokens that were issued and never used.
    """

    from_: str | None
    until: str | None
    response_date: datetime | None = None
    promised: int | None = None
    unfollowed: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _LastResponse:
    """The last response to a request: its number, and its token.

    Attributes:
        run: The number of its run; each begins with Identify.
        is_end: Whether it was the end of its list.
    """

    number: int
    token: str | None
    run: int
    is_end: bool


class RecordedLists:
    """An overview of recorded responses, made by reading all of them once, in order.

    Attributes:
        lists: By name, in the order in which they were begun.
        superseded: Numbers of responses that later ones replace.
    """

    def __init__(self) -> None:
        self.lists: dict[ListName, RecordedList] = {}
        self.superseded: set[int] = set()
        self._asked: dict[int, ListAndWindow] = {}
        self._by_token: dict[tuple[str, str], ListAndWindow] = {}
        self._last: dict[tuple[str, str], _LastResponse] = {}
        self._used: dict[tuple[str, str], int] = {}
        self._count = 0
        self._run = 0

    def asked(self, number: int) -> ListAndWindow:
        """Return the list and window of a response, by its number."""
        return self._asked[number]

    def add(self, recorded: StoredResponse) -> None:
        """Add the next response."""
        number, self._count = self._count, self._count + 1
        asked = self._what(recorded)
        self._asked[number] = asked
        self._run += recorded.params.get("verb") == Verb.IDENTIFY
        if recorded.params.get("verb") == Verb.LIST_RECORDS:
            self._add_page(number, recorded, asked)

    def _what(self, recorded: StoredResponse) -> ListAndWindow:
        params = recorded.params
        token = params.get(Argument.RESUMPTION_TOKEN)
        before = None if token is None else self._by_token.get((recorded.harvest_id, token))
        prefix = recorded.metadata_prefix or params.get(Argument.METADATA_PREFIX, "")
        if before is not None:
            prefix = prefix or before.name.metadata_prefix
            name = ListName(recorded.harvest_id, prefix, before.name.set_spec)
            return ListAndWindow(name, before.from_, before.until, opens=False)
        name = ListName(recorded.harvest_id, prefix, params.get(Argument.SET))
        bounds = (params.get(Argument.FROM), params.get(Argument.UNTIL))
        return ListAndWindow(name, *bounds, opens=token is None)

    def _add_page(self, number: int, recorded: StoredResponse, asked: ListAndWindow) -> None:
        harvest, sent = recorded.harvest_id, recorded.params.get(Argument.RESUMPTION_TOKEN)
        known = self.lists.setdefault(asked.name, RecordedList(asked.from_, asked.until))
        if sent is not None:
            self._used[harvest, sent] = number
            known.unfollowed.discard(sent)
        try:
            page = read_lightly(recorded.answer.body)
        except PageUnreadable:
            return
        is_end = page.next_token is None and not page.end_lost
        self._supersede(recorded, _LastResponse(number, page.next_token, self._run, is_end))
        if known.response_date is None:
            known.response_date = page.response_date
        size = page.token.complete_list_size if page.token is not None else None
        if size is not None and (asked.from_, asked.until) == (known.from_, known.until):
            known.promised = size
        if page.next_token is not None:
            self._by_token[harvest, page.next_token] = asked
            if (harvest, page.next_token) not in self._used:
                known.unfollowed.add(page.next_token)

    def _supersede(self, recorded: StoredResponse, page: _LastResponse) -> None:
        key = (recorded.harvest_id, _canonical(recorded.params))
        before = self._last.get(key)
        if before is not None and not self._was_stored(recorded.harvest_id, before):
            self.superseded.add(before.number)
        self._last[key] = page

    def _was_stored(self, harvest_id: str, page: _LastResponse) -> bool:
        ended = page.is_end and page.run == self._run
        return ended or self._was_followed(harvest_id, page)

    def _was_followed(self, harvest_id: str, page: _LastResponse) -> bool:
        used = self._used.get((harvest_id, page.token)) if page.token is not None else None
        return used is not None and used > page.number


def _canonical(params: Mapping[str, str]) -> str:
    return query_string(dict(sorted(params.items())))
