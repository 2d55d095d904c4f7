"""A repository that takes deposits by SWORDv2, made from the specification.

It refuses what the profile forbids, and may be told to keep silent about what is only
recommended, to lose answers, or to answer as something else.

Source: SWORD 2.0 Profile, sections 6 to 12; RFC 5023.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import md5
from xml.sax.saxutils import escape, quoteattr

from loopback_peer import LOST, Answer, Request
from lxml import etree

ATOM, DCTERMS = "http://www.w3.org/2005/Atom", "http://purl.org/dc/terms/"
SWORD = "http://purl.org/net/sword/terms/"
PACKAGINGS = ("SimpleZip", "METSDSpaceSIP", "Binary")
_NAMESPACES = f'xmlns="{ATOM}" xmlns:dcterms="{DCTERMS}" xmlns:sword="{SWORD}"'
_PAGE = 3
USER = "ann:secret"
LOGIN = f"Basic {b64encode(USER.encode()).decode()}"
HTML = Answer(
    200, b"<html><title>Please log in</title></html>", {"Content-Type": "text/html; charset=utf-8"}
)


@dataclass
class Kept:
    """A deposit."""

    number: int
    slug: str = ""
    terms: list[tuple[str, str]] = field(default_factory=list)
    content: bytes | None = None
    packaging: str = ""
    in_progress: bool = False
    changes: int = 0
    owner: str = ""


Trap = Callable[[Request], Answer | None]


@dataclass
class Simulator:
    """Answers requests.

    Attributes:
        lists: ``whole`` entries in the feed, only ``slugs``, ``bare`` ones, or ``no`` feed.
        before, after: Called with each request before and after it is carried out; an answer
            takes the place of the true one.
        login_in_addresses: ``user:password@`` in the addresses of deposits.
    """

    lists: str = "whole"
    gives_content: bool = True
    gives_terms: bool = True
    reads_receipts: bool = True
    takes_multipart: bool = True
    deletes: bool = True
    mediation: bool = True
    most_kb: int = 100_000
    collections: tuple[str, ...] = ("Theses",)
    packagings: tuple[str, ...] = PACKAGINGS
    before: Trap = lambda _request: None
    after: Trap = lambda _request: None
    base: str = ""
    login_in_addresses: str = ""
    kept: dict[int, Kept] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    made: int = 0

    def __call__(self, request: Request) -> Answer:
        self.asked.append(request)
        if instead := self.before(request):
            return instead
        answer = self._answer(request)
        return self.after(request) or answer

    def _answer(self, request: Request) -> Answer:
        if request.headers.get("Authorization") != LOGIN:
            return Answer(401, b"who are you", {"WWW-Authenticate": "Basic"})
        if request.headers.get("On-Behalf-Of") and not self.mediation:
            return _error(412, "MediationNotAllowed", "no deposits for others")
        match = re.fullmatch(
            r"/sword/(service|col/(\d+)|(edit|media|add|state)/(\d+))", request.path
        )
        if match is None:
            return Answer(404, b"nothing here", {"Content-Type": "text/plain"})
        if match[1] == "service":
            return _xml(self._service(), "application/atomsvc+xml")
        if match[2]:
            return self._collection(request)
        kept = self.kept.get(int(match[4]))
        if kept is None:
            return Answer(404, b"no such deposit", {"Content-Type": "text/plain"})
        return getattr(self, f"_{match[3]}")(request, kept)  # type: ignore[no-any-return]

    def _service(self) -> str:
        packagings = "".join(
            f"<sword:acceptPackaging>http://purl.org/net/sword/package/{one}</sword:acceptPackaging>"
            for one in self.packagings
        )
        collections = "".join(
            f'<collection href="{self.base}/sword/col/{number}"><atom:title>{title}</atom:title>'
            f"<sword:mediation>{str(self.mediation).lower()}</sword:mediation>{packagings}</collection>"
            for number, title in enumerate(self.collections)
        )
        return (
            '<service xmlns="http://www.w3.org/2007/app" '
            f'xmlns:atom="{ATOM}" xmlns:sword="{SWORD}"><sword:version>2.0</sword:version>'
            f"<sword:maxUploadSize>{self.most_kb}</sword:maxUploadSize><workspace>"
            f"<atom:title>Main</atom:title>{collections}</workspace></service>"
        )

    # -- the collection ------------------------------------------------------------------

    def _collection(self, request: Request) -> Answer:
        if request.method == "GET":
            return self._feed(request)
        if request.method != "POST":
            return _error(405, "MethodNotAllowed", "only GET and POST")
        self.made += 1
        kept = Kept(self.made, request.headers.get("Slug", ""))
        if refused := self._take(request, kept):
            return refused
        self.kept[kept.number] = kept
        return _xml(self._receipt(kept), "application/atom+xml;type=entry", 201,
                    Location=f"{self._own_base}/sword/edit/{kept.number}")  # fmt: skip

    def _feed(self, request: Request) -> Answer:
        if self.lists == "no":
            return _error(405, "MethodNotAllowed", "deposits are not listed")
        begin = int(request.query.get("from", ["0"])[0])
        numbers = sorted(self.kept)
        page, rest = numbers[begin : begin + _PAGE], numbers[begin + _PAGE :]
        following = f"{self.base}{request.path}?from={begin + _PAGE}"
        link = f'<link rel="next" href={quoteattr(following)}/>' if rest else ""
        entries = "".join(self._listed(self.kept[number]) for number in page)
        return _xml(
            f"<feed {_NAMESPACES}><id>x</id><title>t</title>{link}{entries}</feed>",
            "application/atom+xml;type=feed",
        )

    def _listed(self, kept: Kept) -> str:
        if self.lists == "whole":
            return self._receipt(kept)
        if self.lists == "slugs":
            return f"<entry><external_id>{escape(kept.slug)}</external_id></entry>"
        edit = f"{self._own_base}/sword/edit/{kept.number}"
        return f'<entry><id>{kept.number}</id><link rel="edit" href="{edit}"/></entry>'

    @property
    def _own_base(self) -> str:
        return self.base.replace("//", f"//{self.login_in_addresses}", 1)

    # -- one deposit -----------------------------------------------------------------------

    def _receipt(self, kept: Kept) -> str:
        at = f"{self._own_base}/sword"
        terms = "".join(
            f"<dcterms:{name}>{escape(text)}</dcterms:{name}>" for name, text in kept.terms
        )
        return (
            f"<entry {_NAMESPACES}><id>urn:x:{kept.number}</id><title>t</title>"
            f"<updated>2026-01-01T00:{kept.changes // 60:02}:{kept.changes % 60:02}Z</updated>"
            f'<link rel="edit" href="{at}/edit/{kept.number}"/>'
            f'<link rel="edit-media" href="{at}/media/{kept.number}"/>'
            f'<link rel="{SWORD}add" href="{at}/add/{kept.number}"/>'
            f'<link rel="{SWORD}statement" type="application/rdf+xml" '
            f'href="{at}/state/{kept.number}?rdf"/>'
            f'<link rel="{SWORD}statement" type="application/atom+xml;type=feed" '
            f'href="{at}/state/{kept.number}"/>'
            f"<sword:treatment>it is {'open' if kept.in_progress else 'queued'}</sword:treatment>"
            f"{terms if self.gives_terms else ''}</entry>"
        )

    def _edit(self, request: Request, kept: Kept) -> Answer:
        if request.method == "GET" and self.reads_receipts:
            return _xml(self._receipt(kept), "application/atom+xml;type=entry")
        if request.method == "PUT":
            refused = self._take(request, kept)
            return refused or _xml(self._receipt(kept), "application/atom+xml;type=entry")
        if request.method == "DELETE" and self.deletes:
            del self.kept[kept.number]
            return Answer(204)
        return _error(405, "MethodNotAllowed", "not here")

    def _media(self, request: Request, kept: Kept) -> Answer:
        if request.method == "GET":
            if not self.gives_content:
                return _error(405, "MethodNotAllowed", "content is not given back")
            if kept.content is None:
                return Answer(404)
            return Answer(200, kept.content, {"Content-Type": "application/zip"})
        if request.method != "PUT":
            return _error(405, "MethodNotAllowed", "not here")
        if refused := self._take_content(request.headers, request.body, kept):
            return refused
        kept.changes += 1
        return Answer(204)

    def _state(self, _request: Request, kept: Kept) -> Answer:
        word = "in progress" if kept.in_progress else "in the review of ann"
        return _xml(
            f'<feed {_NAMESPACES}><id>s</id><title>t</title><category scheme="{SWORD}state" '
            f'term="x" label="State">{word}</category></feed>',
            "application/atom+xml;type=feed",
        )

    def _add(self, _request: Request, _kept: Kept) -> Answer:
        return _error(405, "MethodNotAllowed", "not here")

    # -- what comes --------------------------------------------------------------------------

    def _take(self, request: Request, kept: Kept) -> Answer | None:
        kind = request.headers.get("Content-Type", "")
        progress = request.headers.get("In-Progress", "false")
        if progress not in {"true", "false"}:
            return _error(400, "ErrorBadRequest", "In-Progress is true or false")
        if kind.startswith("application/atom+xml"):
            refused = self._take_entry(request.body, kept)
        elif kind.startswith("multipart/related") and self.takes_multipart:
            refused = self._take_both(request, kept)
        else:
            return _error(415, "ErrorContent", f"{kind} is not taken")
        if refused is None:
            kept.in_progress = progress == "true"
            kept.owner = request.headers.get("On-Behalf-Of", "")
            kept.changes += 1
        return refused

    def _take_both(self, request: Request, kept: Kept) -> Answer | None:
        boundary = re.search(r'boundary="([^"]+)"', request.headers["Content-Type"])
        if boundary is None or request.headers.get("MIME-Version") != "1.0":
            return _error(400, "ErrorBadRequest", "not multipart")
        parts = {}
        for part in request.body.split(f"--{boundary[1]}".encode())[1:-1]:
            head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            name = re.search(r'name="?(\w+)', fields["Content-Disposition"])
            assert name is not None
            parts[name[1]] = fields, content.removesuffix(b"\r\n")
        if parts.keys() != {"atom", "payload"}:
            return _error(400, "ErrorBadRequest", "atom and payload are needed")
        before = kept.terms
        return self._take_entry(parts["atom"][1], kept) or self._undone(
            self._take_content(*parts["payload"], kept), kept, before
        )

    def _undone(
        self, refused: Answer | None, kept: Kept, terms: list[tuple[str, str]]
    ) -> Answer | None:
        if refused is not None:
            kept.terms = terms
        return refused

    def _take_entry(self, body: bytes, kept: Kept) -> Answer | None:
        root = etree.fromstring(body)
        needed = [f"{{{ATOM}}}{name}" for name in ("title", "id", "updated", "author")]
        if root.tag != f"{{{ATOM}}}entry" or any(root.find(name) is None for name in needed):
            return _error(400, "ErrorBadRequest", "not an Atom entry (RFC 4287, 4.1.2)")
        kept.terms = [
            (etree.QName(one).localname, one.text or "") for one in root.iter(f"{{{DCTERMS}}}*")
        ]
        return None

    def _take_content(self, headers: "object", body: bytes, kept: Kept) -> Answer | None:
        get = headers.get  # type: ignore[attr-defined]
        if "filename=" not in (get("Content-Disposition") or ""):
            return _error(400, "ErrorBadRequest", "Content-Disposition has no filename")
        if get("Content-MD5") != md5(body).hexdigest():
            return _error(412, "ErrorChecksumMismatch", "the MD5 differs")
        if self.most_kb and len(body) > self.most_kb * 1024:
            return _error(413, "MaxUploadSizeExceeded", "too much")
        name = (get("Packaging") or "").rpartition("/")[2]
        if name not in self.packagings:
            return _error(415, "ErrorContent", f"packaging {name} is not taken")
        kept.content, kept.packaging = body, name
        return None


def _xml(text: str, kind: str, status: int = 200, **headers: str) -> Answer:
    return Answer(status, text.encode(), {"Content-Type": kind, **headers})


def _error(status: int, name: str, summary: str) -> Answer:
    text = (
        f'<sword:error xmlns="{ATOM}" xmlns:sword="{SWORD}" '
        f'href="http://purl.org/net/sword/error/{name}"><summary>{summary}</summary></sword:error>'
    )
    return _xml(text, "text/xml", status)


def lost(method: str, path: str) -> Trap:
    """Lose the first answer to such a request."""
    done: list[Request] = []

    def trap(request: Request) -> Answer | None:
        if request.method == method and request.path.startswith(path) and not done:
            done.append(request)
            return Answer(LOST)
        return None

    return trap
