"""The messages of the queues, in the form that shepherd's have (pure).

A message of ``uris-to-crawl`` is what Heritrix's `AMQPUrlReceiver` takes; what ours need beside
it stands in its heritable data. Source: ukwa/python-shepherd,
``inject.py`` and ``launcher.py``; docs/crawling.md.
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from crawlmatch.errors import BadAddress
from silocrawl.addresses import fetched_form, without_login
from silocrawl.errors import MessageInvalid
from silocrawl.scope import LONGEST, without_session
from silowork.queues.values import Message

RENDER, CRAWL, CHECK = "uris-to-render", "uris-to-crawl", "uris-to-check"
CATALOGUE, INDEX = "documents-to-catalogue", "uris-to-index"
QUEUES = (RENDER, CRAWL, CHECK, INDEX, CATALOGUE)
"""Those of crawls; of `INDEX` are the outcomes of other crawlers."""
TO_PACKAGE, TO_SIP, TO_SUBMIT, TO_CDX, TO_VERIFY, TO_CHECK = PACKAGE_QUEUES = (
    "checkpoints-to-package",
    "package-to-sip",
    "sips-to-submit",
    "generate-cdx-for-sip",
    "submission-to-verify",
    "check-updated-access-cdx-for-sip",
)
"""Those of packages, in the order in which a package passes them."""
ALL_QUEUES = (*QUEUES, *PACKAGE_QUEUES)
LAUNCH_FORM = "%Y%m%dT%H%M%SZ"
"""Of the time in the name of a launch; UTC."""
_OURS = ("source", "launch", "record", "page")
_LAUNCH = re.compile(r"(?:[a-z0-9][a-z0-9-]{0,63}/[0-9]{8}T[0-9]{6}Z)?")
_DIGEST, _TIME = re.compile(r"[A-Z2-7]{32}"), re.compile(r"[0-9]{14}")
_PATH = re.compile(r"(?:[0-9]{1,9}\+)?[A-Za-z]{0,1000}")


def moment_of_launch(text: str) -> datetime:
    """Read the time in the name of a launch, such as ``20261201T020000Z``.

    Raises:
        ValueError: It is none.
    """
    return datetime.strptime(f"{text}+0000", f"{LAUNCH_FORM}%z")


@dataclass(frozen=True, slots=True)
class CrawlAddress:
    """An address to be fetched.

    Attributes:
        url: The address.
        source: The seed from which it was reached.
        launch: Name of the target and time of its launch, such as ``links/20261201T020000Z``;
            empty for what somebody injected.
        record: Identifier of the record that has the seed; empty if none does.
        path: How it was reached, in the letters of Heritrix: L link, E embed, R redirect,
            M sitemap; empty for a seed.
        via: The page on which it was found; the address itself for a seed.
        is_forced: Whether it is fetched although it was fetched in this launch.
        page: The page on which it was found, or what was redirected to it; empty for a seed.
    """

    url: str
    source: str = ""
    launch: str = ""
    record: str = ""
    path: str = ""
    via: str = ""
    is_forced: bool = False
    page: str = ""

    @property
    def target(self) -> str:
        """The name of the target; empty for what was injected."""
        return self.launch.rpartition("/")[0]

    @property
    def launched(self) -> datetime | None:
        """When its launch was due; None for what was injected."""
        return _launched(self.launch)

    @property
    def key(self) -> str:
        """Of the message: the same address is fetched once in a launch."""
        return f"{self.launch} {without_session(self.url)}"

    def hop(self, url: str, letter: str) -> "CrawlAddress":
        """The address of something that was found on this page."""
        path = self.path + letter
        page = self.page if letter == "R" else self.url
        return CrawlAddress(url, self.source, self.launch, self.record, path, self.url, page=page)


@lru_cache(1_000)
def _launched(launch: str) -> datetime | None:
    with suppress(ValueError):
        return moment_of_launch(launch.rpartition("/")[2])
    return None


def message_of(
    one: CrawlAddress, queue: str = CRAWL, *, key: str = "", wait: float = 0.0
) -> Message:
    """The message of an address.

    Args:
        queue: Its name.
        key: In place of its own key.
        wait: Seconds before which it is not taken.
    """
    heritable = {name: getattr(one, name) for name in _OURS if getattr(one, name)}
    table = {
        "headers": {},
        "method": "GET",
        "parentUrl": one.via or one.url,
        "parentUrlMetadata": {
            "pathFromSeed": one.path[:-1],
            "heritableData": {"heritable": [*heritable, "heritable"], **heritable},
        },
        "isSeed": not one.path,
        "forceFetch": one.is_forced,
        "url": one.url,
        "hop": one.path[-1:],
    }
    return Message(queue, json.dumps(table).encode(), "" if one.is_forced else key or one.key, wait)


def address_of(body: bytes) -> CrawlAddress:
    """Read a message, also one of shepherd's, which lacks what is ours.

    What it says becomes fields of logs, and names of files: a message is the work of anybody.

    Raises:
        MessageInvalid: It is not JSON, has no address of http or https that can be fetched, or
            something that no message of ours has, as a launch that is no name of one.
    """
    table = table_of(body)
    url = _url_of(table)
    path, ours = _path_and_ours(table)
    via = _text(table.get("parentUrl"))
    texts = {name: _text(ours.get(name)) for name in _OURS}
    via, source = without_login(via), without_login(texts["source"] or via or url)
    if not _LAUNCH.fullmatch(texts["launch"]):
        raise MessageInvalid("the launch of a message is not the name of a target and a time")
    if not _PATH.fullmatch(path):
        raise MessageInvalid("the path of a message has other characters than letters")
    if not (_is_word(via or url) and _is_word(source) and _is_word(texts["page"])):
        raise MessageInvalid("the source, the parent or the page of a message is not an address")
    return CrawlAddress(
        url,
        source,
        texts["launch"],
        texts["record"],
        path,
        via or url,
        table.get("forceFetch") is True,
        without_login(texts["page"]),
    )


def _path_and_ours(table: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """How an address was reached, and what of its message is ours."""
    about = table.get("parentUrlMetadata") or table.get("metadata") or {}
    about = about if isinstance(about, dict) else {}
    ours = about.get("heritableData")
    path = _text(about.get("pathFromSeed")) + _text(table.get("hop"))
    return path, ours if isinstance(ours, dict) else {}


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that was fetched, to be catalogued.

    Attributes:
        url, digest, timestamp, mimetype: Of its capture, as in the index.
        size: Bytes of its body.
        record: Identifier of the record that has the seed; empty for a watched target.
        seed: The address from which it was reached.
        target: The watched target; empty for a record.
        page: The page that links to it; empty for a seed, or if it is not known.
    """

    url: str
    digest: str
    timestamp: str
    mimetype: str
    size: int = 0
    record: str = ""
    seed: str = ""
    target: str = ""
    page: str = ""


_TEXTS_OF_DOCUMENT = {
    "url": "document_url", "digest": "digest", "timestamp": "wayback_timestamp",
    "mimetype": "mimetype", "record": "record", "seed": "source", "target": "id_watched_target",
    "page": "landing_page_url",
}  # fmt: skip
"""The field of `FoundDocument` → the name in a message; those of shepherd where it has one."""


def document_message(one: FoundDocument) -> Message:
    """Return the message of a document: the same content of an address is catalogued once."""
    table: dict[str, Any] = {
        name: getattr(one, own) for own, name in _TEXTS_OF_DOCUMENT.items() if getattr(one, own)
    }
    table |= {"filename": urlsplit(one.url).path.rpartition("/")[2], "size": one.size}
    key = f"{one.record or one.target} {one.url} {one.digest}"
    return Message(CATALOGUE, json.dumps(table).encode(), key)


def document_of(body: bytes) -> FoundDocument:
    """Read a message of `document_message`.

    Raises:
        MessageInvalid: It is no such message.
    """
    table = table_of(body)
    texts = {own: _text(table.get(name)) for own, name in _TEXTS_OF_DOCUMENT.items()}
    if not all(_is_word(texts[own]) for own in texts if own not in {"record", "target"}):
        raise MessageInvalid("a text of a message has blanks or control characters")
    if not (_DIGEST.fullmatch(texts["digest"]) and _TIME.fullmatch(texts["timestamp"])):
        raise MessageInvalid("a message has no digest, or no time of 14 digits")
    if bool(texts["record"]) == bool(texts["target"]):
        raise MessageInvalid("a message names a record or a watched target, and not both")
    size = table.get("size")
    url = _url_of({"url": texts.pop("url")})
    return FoundDocument(url, size=size if isinstance(size, int) else 0, **texts)


class Gist(NamedTuple):
    """What a message is about, for people.

    Attributes:
        url: The address, or the name of a package, or the begin of a body that has neither.
        owner: The launch of an address, or the record or watched target of a document; may be
            empty.
        hops: How an address was reached, in the letters of `CrawlAddress.path`; empty for a seed.
    """

    url: str
    owner: str = ""
    hops: str = ""


def gist_of(body: bytes) -> Gist:
    """Read what a message of any of the queues is about; its body may be anything."""
    try:
        table = table_of(body)
    except MessageInvalid:
        table = {}
    url = _text(table.get("url")) or _text(table.get(_TEXTS_OF_DOCUMENT["url"]))
    url = url or _text(table.get("packageId"))
    if not url:
        return Gist(body[:200].decode("utf-8", "replace"))
    path, ours = _path_and_ours(table)
    owners = (table.get(_TEXTS_OF_DOCUMENT[name]) for name in ("record", "target"))
    return Gist(url, next(filter(None, map(_text, (ours.get("launch"), *owners))), ""), path)


def _url_of(table: dict[str, Any]) -> str:
    url = table.get("url")
    if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
        raise MessageInvalid("a message has no url of http or https")
    if not _is_word(url):
        raise MessageInvalid(
            "the url of a message is too long, or has blanks or control characters"
        )
    try:
        return fetched_form(url)
    except BadAddress as error:
        raise MessageInvalid(str(error)) from None


def _is_word(text: str) -> bool:
    """Whether a text can be a field of a crawl log as it is."""
    return len(text) <= LONGEST and text.isprintable() and " " not in text


def table_of(body: bytes) -> dict[str, Any]:
    """Read the body of a message, which may be anything.

    Raises:
        MessageInvalid: It is no object in JSON.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise MessageInvalid("a message is not JSON") from None
    if not isinstance(found, dict):
        raise MessageInvalid("a message is not a JSON object")
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
