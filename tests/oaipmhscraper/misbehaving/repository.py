"""An OAI-PMH repository in steps, each of which a fault can replace.

As it stands it keeps to OAI-PMH 2.0. It renders its pages itself, from text, so
that a fault can put what no XML writer would let pass wherever it likes.
"""

import json
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from html import escape
from typing import Any
from urllib.parse import parse_qsl

NOW = datetime(2012, 6, 1, 12, tzinfo=UTC)
OAI = "http://www.openarchives.org/OAI/2.0/"
DC_NAMESPACES = (
    ' xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
SECONDS, DAYS = "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"
PATH = "/oai"


@dataclass(frozen=True)
class Item:
    """A record; its only format is oai_dc."""

    identifier: str
    datestamp: datetime
    title: str
    sets: tuple[str, ...]
    deleted: bool = False

    @property
    def number(self) -> int:
        """Its place among the items, from 1, as its identifier has it."""
        return int(self.identifier.rpartition(":")[2])


def identifier(number: int) -> str:
    return f"oai:misbehaving.example:{number:04}"


DELETED = frozenset({8, 20, 29, 37, 50})
SIZE = 55
_BUSY_DAY = datetime(2010, 8, 15, 10, tzinfo=UTC)


def _datestamp(number: int) -> datetime:
    """Eleven days apart; 21 to 34 within a quarter of an hour, 27 to 29 in one second."""
    if 21 <= number <= 34:
        return _BUSY_DAY + timedelta(minutes=27 if number in {28, 29} else number)
    return datetime(2010, 1, 1, 8, tzinfo=UTC) + timedelta(days=11 * (number - 1))


def _item(number: int) -> Item:
    title = f"Record {number:04}: Smith & Sons <5 items> – naïve café, €{number}"
    sets = ("physics",) if number % 2 else ("history", "history:modern")
    return Item(identifier(number), _datestamp(number), title, sets, number in DELETED)


def sample_items() -> list[Item]:
    """Fifty-five records in the order of their datestamps, five of them deleted."""
    return [_item(number) for number in range(1, SIZE + 1)]


def many_items(count: int, *, apart: timedelta) -> list[Item]:
    """Records from 2010 on, one after the other at equal distances, none of them deleted."""
    first = datetime(2010, 1, 1, 8, tzinfo=UTC)
    moments = (first + place * apart for place in range(count))
    return [
        replace(_item(number), datestamp=moment, deleted=False)
        for number, moment in enumerate(moments, 1)
    ]


@dataclass(frozen=True)
class Asked:
    """A request as it came.

    Attributes:
        query: The arguments as sent, not decoded.
        headers: Names in lower case.
        times: How often the same arguments came before.
        number: How many requests came before.
        on_connection: How many of them on the same connection.
        beside: How many requests are being answered at this moment.
    """

    query: str
    method: str = "GET"
    path: str = PATH
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 0
    number: int = 0
    on_connection: int = 0
    beside: int = 0

    @property
    def params(self) -> dict[str, str]:
        """The arguments, decoded as servlet containers do: + is a blank."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    @property
    def raw(self) -> dict[str, str]:
        """The arguments as sent."""
        return dict(pair.partition("=")[::2] for pair in self.query.split("&"))

    @property
    def verb(self) -> str:
        return self.params.get("verb", "")

    @property
    def lists(self) -> bool:
        return self.verb in {"ListRecords", "ListIdentifiers"}


@dataclass(frozen=True)
class Reply:
    """What goes on the wire.

    Attributes:
        body: All of it.
        told_length: What Content-Length says; None: its length; -1: there is no such
            header, the end of the connection is the end of the body.
        sent: How many bytes of the body are sent before the connection is closed.
        chunked: Send it in chunks.
        reset: Send nothing and reset the connection.
        pause: Seconds before the first byte.
        after_others: Wait before the first byte until no other request is being answered.
        drip: Seconds between pieces of a tenth of the body.
    """

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/xml; charset=utf-8"),)
    told_length: int | None = None
    sent: int | None = None
    chunked: bool = False
    reset: bool = False
    pause: float = 0.0
    after_others: bool = False
    drip: float = 0.0

    def with_header(self, name: str, value: str) -> "Reply":
        return replace(self, headers=(*self.headers, (name, value)))


HTML = (
    b"<!DOCTYPE html>\n<html><head><title>Maintenance</title></head><body>Back soon.</body></html>"
)


def html(status: int = 200, *headers: tuple[str, str]) -> Reply:
    """A page for people."""
    return Reply(HTML, status, (("Content-Type", "text/html"), *headers))


class Condition(Exception):
    """An error condition of the protocol (section 3.6)."""

    def __init__(self, code: str, text: str = "") -> None:
        self.code = code
        self.text = text
        super().__init__(code)


class Instead(Exception):
    """Answer with this, whatever was asked."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        super().__init__(reply.status)


@dataclass(frozen=True)
class Place:
    """What is listed, and from where on; what a token stands for.

    ``mark`` is free for faults that tell tokens apart which say the same.
    """

    verb: str
    prefix: str
    from_: str = ""
    until: str = ""
    set_spec: str = ""
    begin: int = 0
    mark: int = 0


@dataclass(frozen=True)
class Page:
    """Some items of a list."""

    place: Place
    items: tuple[Item, ...]
    total: int

    @property
    def end(self) -> int:
        return self.place.begin + len(self.items)

    @property
    def following(self) -> Place:
        return replace(self.place, begin=self.end)

    def holds(self, *numbers: int) -> bool:
        return any(item.identifier in map(identifier, numbers) for item in self.items)


class Repository:
    """Answers requests; every method is a step that `changed` can replace.

    Attributes:
        items: What it holds.
        granularity: The form of datestamps.
        asked: What came, in order.
        base_query: A query that the base URL has of its own.
    """

    def __init__(self) -> None:
        self.items = sample_items()
        self.page_size = 10
        self.granularity = SECONDS
        self.now = NOW
        self.path = PATH
        self.base_query = ""
        self.root = "OAI-PMH"
        self.root_attributes = (
            f' xmlns="{OAI}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        )
        self.dc_attributes = DC_NAMESPACES
        self.serial = 0
        self.asked: list[Asked] = []
        self._times: Counter[str] = Counter()
        self._beside = 0
        self._lock = threading.Condition()

    # ------------------------------------------------------------------ from request to reply

    def answer(
        self, query: str, method: str = "GET", path: str = PATH,
        headers: Mapping[str, str] | None = None, on_connection: int = 0,
    ) -> Reply:  # fmt: skip
        """Answer one request; safe in threads. Call `answered` before the last byte goes."""
        with self._lock:
            asked = Asked(
                query, method, path, headers or {}, self._times[query], len(self.asked),
                on_connection, self._beside,
            )  # fmt: skip
            self._times[query] += 1
            self._beside += 1
            self.asked.append(asked)
            try:
                return self.reply(asked)
            except Instead as instead:
                return instead.reply

    def answered(self, *, after_others: bool = False) -> None:
        """Count a request as answered; then, if asked, wait until all others are."""
        with self._lock:
            self._beside -= 1
            self._lock.notify_all()
            if after_others:
                self._lock.wait_for(lambda: self._beside == 0)

    def next_serial(self) -> int:
        self.serial += 1
        return self.serial

    def reply(self, asked: Asked) -> Reply:
        if asked.path != self.path:
            return html(404)
        try:
            content = self.content(asked)
        except Condition as condition:
            return self.refusal(condition)
        return Reply(self.document(content))

    def refusal(self, condition: Condition) -> Reply:
        return Reply(self.document(self.error(condition)))

    def error(self, condition: Condition) -> str:
        return f'<error code="{condition.code}">{escape(condition.text)}</error>'

    def document(self, content: str) -> bytes:
        return self.encoded(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<{self.root}{self.root_attributes}>\n'
            f"<responseDate>{self.now.strftime(SECONDS)}</responseDate>\n"
            f"<request>http://misbehaving.example/oai</request>\n{content}</{self.root}>\n"
        )

    def encoded(self, text: str) -> bytes:
        return text.encode()

    def content(self, asked: Asked) -> str:
        match asked.verb:
            case "Identify":
                fields = self.identify().items()
                return self.element("Identify", "".join(f"<{k}>{v}</{k}>\n" for k, v in fields))
            case "ListMetadataFormats":
                return self.formats()
            case "ListSets":
                return self.sets()
            case "GetRecord":
                return self.get_record(asked)
            case "ListRecords" | "ListIdentifiers":
                return self.listing(self.place(asked))
        raise Condition("badVerb", "there is no such verb")

    # ------------------------------------------------------------------ small verbs

    def identify(self) -> dict[str, str]:
        granularity = "YYYY-MM-DDThh:mm:ssZ" if self.granularity == SECONDS else "YYYY-MM-DD"
        return {
            "repositoryName": "A misbehaving repository",
            "baseURL": "http://misbehaving.example/oai",
            "protocolVersion": "2.0",
            "adminEmail": "admin@misbehaving.example",
            "earliestDatestamp": min(i.datestamp for i in self.items).strftime(self.granularity),
            "deletedRecord": "persistent",
            "granularity": granularity,
        }

    def formats(self) -> str:
        return self.element(
            "ListMetadataFormats",
            "<metadataFormat><metadataPrefix>oai_dc</metadataPrefix>"
            "<schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema>"
            "<metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace>"
            "</metadataFormat>",
        )

    def sets(self) -> str:
        specs = ["physics", "history", "history:modern", "empty"]
        found = "".join(f"<set><setSpec>{s}</setSpec><setName>{s}</setName></set>" for s in specs)
        return self.element("ListSets", found)

    def get_record(self, asked: Asked) -> str:
        self.check(asked, {"verb", "identifier", "metadataPrefix"})
        wanted = asked.params.get("identifier")
        self.check_prefix(asked.params.get("metadataPrefix"))
        for item in self.items:
            if item.identifier == wanted:
                return self.element("GetRecord", self.record(item))
        raise Condition("idDoesNotExist")

    # ------------------------------------------------------------------ lists

    def place(self, asked: Asked) -> Place:
        """What a request asks for: by its token, or by its other arguments."""
        params = asked.params
        if "resumptionToken" in params:
            self.check(asked, {"verb", "resumptionToken"})
            return self.read_token(params["resumptionToken"], asked)
        self.check(asked, {"verb", "metadataPrefix", "from", "until", "set"})
        self.check_prefix(params.get("metadataPrefix"))
        place = Place(
            asked.verb, params["metadataPrefix"], params.get("from", ""),
            params.get("until", ""), params.get("set", ""),
        )  # fmt: skip
        self.check_window(place)
        return place

    def check(self, asked: Asked, known: set[str]) -> None:
        unknown = asked.params.keys() - known - set(dict(parse_qsl(self.base_query)))
        if unknown:
            raise Condition("badArgument", f"not known here: {', '.join(sorted(unknown))}")

    def check_prefix(self, prefix: str | None) -> None:
        if prefix is None:
            raise Condition("badArgument", "metadataPrefix is missing")
        if prefix != "oai_dc":
            raise Condition("cannotDisseminateFormat")

    def check_window(self, place: Place) -> None:
        for bound in (place.from_, place.until):
            if len(bound) not in {0, 10, len(self.now.strftime(self.granularity))}:
                raise Condition("badArgument", f"{bound} is not in our granularity")
        if place.from_ and place.until and len(place.from_) != len(place.until):
            raise Condition("badArgument", "from and until differ in granularity")

    def read_token(self, text: str, asked: Asked) -> Place:
        try:
            place = Place(*json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4))))
        except (ValueError, TypeError):
            raise Condition("badResumptionToken", "no token of ours") from None
        if place.verb != asked.verb:
            raise Condition("badResumptionToken", "of another verb")
        return place

    def write_token(self, place: Place) -> str:
        fields = [
            place.verb, place.prefix, place.from_, place.until, place.set_spec, place.begin,
            place.mark,
        ]  # fmt: skip
        return urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    def chosen(self, place: Place) -> list[Item]:
        """The items of a list, in the order sent."""
        found = [
            item
            for item in self.items
            if self.in_window(item, place.from_, place.until)
            and (not place.set_spec or place.set_spec in item.sets)
        ]
        return sorted(found, key=lambda item: (item.datestamp, item.identifier))

    def in_window(self, item: Item, from_: str, until: str) -> bool:
        text = item.datestamp.strftime(SECONDS)
        return text[: len(from_)] >= from_ and (not until or text[: len(until)] <= until)

    def page(self, place: Place) -> Page:
        chosen = self.chosen(place)
        return Page(place, tuple(chosen[place.begin :][: self.page_size]), len(chosen))

    def listing(self, place: Place) -> str:
        page = self.page(place)
        content = self.entries(page) if page.items else self.nothing(page)
        return self.element(place.verb, content + self.token_element(page))

    def nothing(self, page: Page) -> str:
        raise Condition("badResumptionToken" if page.place.begin else "noRecordsMatch")

    def entries(self, page: Page) -> str:
        step = self.record if page.place.verb == "ListRecords" else self.header
        return "".join(step(item) for item in page.items)

    def token_element(self, page: Page) -> str:
        text = self.next_token(page)
        if text is None:
            return ""
        attributes = "".join(f' {k}="{v}"' for k, v in self.token_attributes(page).items())
        return f"<resumptionToken{attributes}>{escape(text)}</resumptionToken>"

    def next_token(self, page: Page) -> str | None:
        """The text of the token; None: no such element."""
        if page.end < page.total:
            return self.write_token(page.following)
        return "" if page.place.begin else None

    def token_attributes(self, page: Page) -> dict[str, Any]:
        return {"completeListSize": page.total, "cursor": page.place.begin}

    # ------------------------------------------------------------------ records

    def element(self, name: str, content: str) -> str:
        return f"<{name}>\n{content}</{name}>\n"

    def record(self, item: Item) -> str:
        metadata = "" if item.deleted else f"<metadata>{self.metadata(item)}</metadata>"
        return f"<record>{self.header(item)}{metadata}</record>\n"

    def header(self, item: Item) -> str:
        status = ' status="deleted"' if item.deleted else ""
        sets = "".join(f"<setSpec>{spec}</setSpec>" for spec in item.sets)
        return (
            f"<header{status}><identifier>{escape(item.identifier)}</identifier>"
            f"{self.datestamp(item)}{sets}</header>"
        )

    def datestamp(self, item: Item) -> str:
        return f"<datestamp>{item.datestamp.strftime(self.granularity)}</datestamp>"

    def metadata(self, item: Item) -> str:
        return (
            f"<oai_dc:dc{self.dc_attributes}><dc:title>{self.title(item)}</dc:title>"
            f"<dc:creator>Müller, Jörg</dc:creator>"
            f"<dc:identifier>http://misbehaving.example/{item.identifier[-4:]}?a=1&amp;b=2"
            "</dc:identifier></oai_dc:dc>"
        )

    def title(self, item: Item) -> str:
        """The title as it stands in the XML."""
        return escape(item.title, quote=False)


def changed(repository: Repository, step: str) -> Callable[[Callable[..., Any]], None]:
    """Replace a step by a function that is given the step as it was, and its arguments."""

    def put(function: Callable[..., Any]) -> None:
        setattr(repository, step, partial(function, getattr(repository, step)))

    return put
