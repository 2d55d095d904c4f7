"""Faults of malicious servers: from 71. A harvest handles each, or refuses it and continues."""

import zlib
from dataclasses import dataclass

from misbehaving.faults import fault, now_and_then
from misbehaving.repository import Reply, Repository, changed, html, identifier

ABSURD_DATES = (
    "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    "Mon, 01 Jan 2030 00:00:00 +99999999999999",
)


@fault(71)
def absurd_retry_after(repository: Repository) -> None:
    """71: each request is answered by 503 at first, with a Retry-After that fits no clock."""
    now_and_then(
        repository, lambda asked, _: html(503, ("Retry-After", ABSURD_DATES[asked.number % 2]))
    )


@fault(72)
def declaration_without_an_end(repository: Repository) -> None:
    """72: the XML declaration names another encoding and lacks its ``?>``."""

    @changed(repository, "encoded")
    def encoded(step, text):
        return step(text.replace('encoding="UTF-8"?>', 'encoding="iso-8859-1">'))


@fault(73)
def absurd_list_sizes(repository: Repository) -> None:
    """73: completeListSize and cursor are numbers to `str.isdigit`, and none to `int`."""

    @changed(repository, "token_attributes")
    def token_attributes(step, page):
        return step(page) | {"completeListSize": "9" * 5000, "cursor": "\u00b2"}


# --------------------------------------------------------------------------- memory


@dataclass(frozen=True)
class Bomb:
    """A page of records: some text, another one many times, some text."""

    before: str
    again: str
    times: int
    after: str
    root: str = ""

    def packed(self) -> bytes:
        """The page with gzip; made piece by piece, since some have gigabytes."""
        packer = zlib.compressobj(1, wbits=31)
        head = (
            f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"{self.root}><responseDate>'
            f"2012-06-01T12:00:00Z</responseDate><ListRecords>{self.before}"
        )
        pieces = [packer.compress(head.encode())]
        many, rest = divmod(self.times, 100_000)
        block = (self.again * 100_000).encode()
        pieces += [packer.compress(block) for _ in range(many)]
        tail = f"{self.again * rest}{self.after}</ListRecords></OAI-PMH>"
        return b"".join([*pieces, packer.compress(tail.encode()), packer.flush()])


_BEGIN = (
    f"<record><header><identifier>{identifier(1)}</identifier>"
    '<datestamp>2010-01-01</datestamp></header><metadata><m xmlns="urn:m">'
)
_END = "</m></metadata></record>"


def _in_record(again: str, times: int, before: str = "", after: str = "") -> Bomb:
    return Bomb(_BEGIN + before, again, times, after + _END)


_RECORD = (
    "<record><header><identifier>x</identifier><datestamp>2010-01-01</datestamp></header>"
    "<metadata><m/></metadata></record>"
)
_ATTRIBUTES = "".join(f' a{n}="1"' for n in range(1000))
_NAMESPACES = "".join(f' xmlns:q{n}="urn:{"q" * 100}"' for n in range(2000))
_MILLION = 1_000_000
BOMBS = {
    "elements, 250 MB": _in_record("<a/>", 62 * _MILLION),
    "spaces, 2 GB": _in_record(" ", 2000 * _MILLION),
    "as many elements as may be": _in_record("<a/>x", 950_000),
    "as many attributes as may be": _in_record(f"<a{_ATTRIBUTES}/>", 950),
    "elements nested": _in_record("<a>", 980_000),
    "stray less-than signs": _in_record("<", 980_000),
    "ampersands": _in_record("&", 15 * _MILLION),
    "a long text": _in_record("x", 66 * _MILLION),
    "a long text to mend": _in_record("x", 39 * _MILLION, "", "&"),
    "a long text with an emoji to mend": _in_record("x", 10 * _MILLION, "\U0001f600", "&"),
    "namespaces around every record": Bomb("", _RECORD, 20_000, "", _NAMESPACES),
    "records that are empty": Bomb("", "<record/>", 940_000, ""),
    "records in thousands": Bomb("", _RECORD, 75_000, ""),
    "titles in one record": _in_record(
        "<title>x</title>",
        450_000,
        '<dc xmlns="http://purl.org/dc/elements/1.1/">',
        "</dc>",
    ),
}
"""Answers that are small when packed, or just small enough, and large to whoever reads them."""


def answering_with(repository: Repository, bomb: Bomb) -> None:
    """Answer each list and each record with a bomb."""
    packed = bomb.packed()

    @changed(repository, "reply")
    def reply(step, asked):
        if asked.verb not in {"ListRecords", "ListIdentifiers", "GetRecord"}:
            return step(asked)
        return Reply(packed).with_header("Content-Encoding", "gzip")
