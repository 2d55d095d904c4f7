"""Which addresses belong to a target (pure).

The scopes are those of W3ACT: a page (*resource*), everything of a host (*root*), what is below a
path, a domain with its subdomains; *plus one* adds what the pages of any of these link to.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import translate
from functools import cached_property, lru_cache
from urllib.parse import urlsplit

from silocrawl.errors import TargetRefused

LONGEST = 2083
"""Characters of an address that is followed, as in Heritrix."""
MOST_SEGMENTS, MOST_REPEATS = 20, 2
"""Of a path; a link that repeats the last segments of its page is the way into a trap."""
MOST_IGNORED = 100
DOCUMENT_ENDINGS = (
    ".pdf", ".ps", ".eps", ".ps.gz", ".doc", ".docx", ".odt", ".rtf", ".epub", ".djvu", ".ppt",
    ".pptx", ".xls", ".xlsx", ".ods", ".csv", ".zip",
)  # fmt: skip
_SESSION = re.compile(
    r"(?:;jsessionid=[^?&#/]*)|(?<=[?&])(?:jsessionid|phpsessid|sessionid|session_id|sid|cfid|"
    r"cftoken)=[^&#]*&?",
    re.IGNORECASE,
)


class ScopeKind(StrEnum):
    """What belongs to a seed."""

    PAGE = "page"
    DOCUMENTS = "documents"
    """The page, and the documents that it links to."""
    PATH = "path"
    """What is below the directory of the seed."""
    ROOT = "root"
    """Everything of the host."""
    SUBDOMAINS = "subdomains"


@dataclass(frozen=True)
class Scope:
    """What is fetched from a seed on.

    Attributes:
        kind: What belongs to it.
        plus_one: Whether what the pages link to is fetched, too, wherever it is.
        ignore: Patterns (``*``, ``?``) of whole addresses that are never fetched.
    """

    kind: ScopeKind = ScopeKind.DOCUMENTS
    plus_one: bool = False
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse patterns without end.

        Raises:
            TargetRefused: Says what is wrong.
        """
        if len(self.ignore) > MOST_IGNORED:
            raise TargetRefused(f"a target ignores at most {MOST_IGNORED} patterns")
        if any(not one or len(one) > LONGEST for one in self.ignore):
            raise TargetRefused(f"a pattern has 1 to {LONGEST:,} characters")

    def __hash__(self) -> int:
        """Return what `judged` needs for each link: it is worked out once."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.kind, self.plus_one, self.ignore))

    def has(self, seed: str, url: str) -> bool:
        """Whether a page belongs to a seed, so that its links are followed."""
        begin, found = urlsplit(seed), urlsplit(url)
        if self.kind is ScopeKind.SUBDOMAINS:
            host, mine = (found.hostname or ""), (begin.hostname or "")
            bare = mine.removeprefix("www.")
            return host in (mine, bare) or host.endswith(f".{bare}")
        if self.kind is ScopeKind.ROOT:
            return _server(url) == _server(seed)
        if self.kind is ScopeKind.PATH:
            below = begin.path[: begin.path.rfind("/") + 1] or "/"
            return _server(url) == _server(seed) and (found.path or "/").startswith(below)
        return without_session(url) == without_session(seed)

    @lru_cache(20_000)  # noqa: B019  # the pages of a site have most of their links in common
    def judged(self, seed: str, url: str, is_document: bool = False) -> tuple[bool, bool]:
        """Whether a link of a page is followed, and whether it is named with its page.

        So are what looks like a document, and what does not belong to the seed.

        Args:
            seed: The address of the seed that the page belongs to.
            url: Where the link leads.
            is_document: Whether the page says that it is a document.
        """
        if is_trap(url) or self.is_ignored(url):
            return False, False
        is_own, is_named = self.has(seed, url), looks_like_document(url)
        wants_documents = self.kind is ScopeKind.DOCUMENTS and (is_document or is_named)
        return self.plus_one or is_own or wants_documents, is_named or not is_own

    def is_ignored(self, url: str) -> bool:
        """Whether an address is never fetched."""
        return any(match(url) for match in self._ignored)

    @cached_property
    def _ignored(self) -> Iterable[Callable[[str], object]]:
        return [re.compile(translate(one)).match for one in self.ignore]


def looks_like_document(url: str) -> bool:
    """Whether the path of an address ends as those of documents do."""
    return urlsplit(without_session(url)).path.lower().endswith(DOCUMENT_ENDINGS)


@lru_cache(20_000)
def is_trap(url: str) -> bool:
    """Whether an address is too long, or its path repeats itself, as those without end do."""
    if len(url) > LONGEST:
        return True
    segments = [one for one in urlsplit(url).path.split("/") if one]
    return len(segments) > MOST_SEGMENTS or _repeats(segments) > MOST_REPEATS


def without_session(url: str) -> str:
    """The address without the id of a session and without its fragment, to tell pages apart."""
    return _SESSION.sub("", url.partition("#")[0]).rstrip("?&")


def _repeats(segments: list[str]) -> int:
    """How often the last segments of a path follow each other."""
    most = 0
    for length in range(1, len(segments) // 2 + 1):
        last, times = segments[-length:], 1
        while segments[-length * (times + 1) : -length * times] == last:
            times += 1
        most = max(most, times)
    return most


@lru_cache(20_000)
def _server(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    return (parts.hostname or "").removeprefix("www."), port
