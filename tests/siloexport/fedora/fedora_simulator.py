"""A small Fedora on loopback, with the traps of the real one that an exporter can fall into.

`Simulator.answer` is one function from a request to an answer; the rest is its memory.
What differs between versions is marked with the version it was seen on; docs/fedora-servers.md
says what was seen, and the same contract tests run against a real server.
"""

import base64
import hashlib
import itertools
import re
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import formatdate
from urllib.parse import quote, unquote

from fedora_values import (
    Answer,
    Interference,
    Request,
    Resource,
    Spoiling,
    Transaction,
    Trouble,
)
from rdflib import Graph, Literal, URIRef

V4 = "http://fedora.info/definitions/v4/repository#"
LDP = "http://www.w3.org/ns/ldp#"
GROUP, BINARY = f"{V4}ArchivalGroup", f"{LDP}NonRDFSource"
TX_ENDPOINT = "http://fedora.info/definitions/v4/transaction#endpoint"
COMMIT_ENDPOINT = "http://fedora.info/definitions/v4/transaction#commitEndpoint"
_LINK_TYPE = re.compile(r'<([^>]+)>\s*;\s*rel="?type"?')
_UNLISTED = {"tombstone", "description"}
_REFUSED_NAMES = ("fcr-root", ".fcrepo", "fcr-container.nt")


class Simulator:
    """The repository.

    Attributes:
        version: ``6.0.0`` or ``6.5.1``: as which of the two it behaves.
        interfere: Asked before each request; may give an answer of its own.
        requests: What came in: (method, path).
    """

    def __init__(
        self,
        version: str = "6.5.1",
        user: str = "fedoraAdmin:fedoraAdmin",
        timeout: float = 180.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.version, self._user, self.timeout, self._clock = version, user, timeout, clock
        self.interfere: Interference = lambda _request: None
        self.requests: list[tuple[str, str]] = []
        self.starting = False
        self.room: int | None = None
        self.needs_if_match = False
        self.ends_transactions = True  # 6.0.0 lets only administrators end one (500)
        self.sends_date = True  # a Jetty 12 does not, unless told to (7.0.0)
        self.lost: set[str] = set()  # names of files that the next commits lose
        self.base = ""
        self._lock = threading.RLock()
        self._counter = itertools.count(1)
        self._resources: dict[str, Resource] = {"": Resource("container", state="ROOT")}
        self._history: dict[str, list[tuple[str, Resource]]] = {}
        self._purged: set[str] = set()
        self._transactions: dict[str, Transaction] = {}
        self._locks: dict[str, str] = {}

    def now(self) -> float:
        """The server's clock."""
        return self._clock()

    @property
    def locked(self) -> set[str]:
        """The objects that an open transaction holds."""
        return set(self._locks)

    # -- one request -------------------------------------------------------------------

    def answer(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append((request.method, request.path))
            if (instead := self.interfere(request)) is not None and not instead.after:
                return instead
            try:
                given = self._served(request)
            except Trouble as trouble:
                given = trouble.answer
            return instead or given

    def _served(self, request: Request) -> Answer:
        if self.starting:
            raise Trouble(503, "The Fedora Repository is not yet ready for requests")
        self._check_user(request)
        if request.path == "fcr:tx" or request.path.startswith("fcr:tx/"):
            return self._transaction_request(request)
        transaction = self._transaction_of(request)
        own = transaction or Transaction("", 0)
        try:
            given = self._resource_request(request, own)
        except Spoiling:
            if transaction is not None:
                transaction.state = "failed"
            raise
        if transaction is None:
            self._apply(own)
        if transaction is not None and request.method != "DELETE":
            named = {"Atomic-ID": f"{self.base}/fcr:tx/{transaction.number}"}
            given = replace(given, headers={**given.headers, **named})
        return self._wanted(request, given)

    def _wanted(self, request: Request, given: Answer) -> Answer:
        """The 406 trap: what was created stays created."""
        accept = request.header("Accept") or "*/*"
        is_plain = "*/*" in accept or "text/" in accept
        return Answer(406) if given.status == 201 and not is_plain else given

    def _check_user(self, request: Request) -> None:
        kind, _, coded = request.header("Authorization").partition(" ")
        if kind != "Basic" or base64.b64decode(coded).decode() != self._user:
            raise Trouble(401, WWW_Authenticate='basic realm="fcrepo"')

    # -- transactions ------------------------------------------------------------------

    def _transaction_request(self, request: Request) -> Answer:
        number = request.path.removeprefix("fcr:tx").strip("/")
        if not number:
            return self._begin(request)
        found = self._transactions.get(number)
        if found is None:
            raise Trouble(404)
        self._expire(found)
        if found.state in {"committed", "rolled back"}:
            raise Trouble(410, _over(found))
        if request.method == "DELETE":
            if not self.ends_transactions:
                raise Trouble(500)
            self._end(found, "rolled back")
            return Answer(204)
        if request.method == "PUT":
            if found.state == "failed":
                raise Trouble(409, _failed(found))
            self._apply(found)
            self._end(found, "committed")
            return Answer(204)
        if request.method == "POST":
            found.expires = self._clock() + self.timeout
        return Answer(204, {"Atomic-Expires": formatdate(found.expires, usegmt=True)})

    def _begin(self, request: Request) -> Answer:
        if request.method != "POST":
            raise Trouble(405)
        made = Transaction(str(uuid.uuid4()), self._clock() + self.timeout)
        self._transactions[made.number] = made
        uri = f"{self.base}/fcr:tx/{made.number}"
        headers = {
            "Location": uri,
            "Expires": formatdate(made.expires, usegmt=True),
            "Link": f'<{uri}>; rel="{COMMIT_ENDPOINT}"',
        }
        return Answer(201, headers)

    def _transaction_of(self, request: Request) -> Transaction | None:
        number = request.header("Atomic-ID").rpartition("/")[2]
        if not number:
            return None
        found = self._transactions.get(number)
        if found is None:
            raise Trouble(409, f"No Transaction found with transactionId: {number}")
        self._expire(found)
        if found.state == "failed":
            raise Trouble(409, _failed(found))
        if found.state != "open":
            raise Trouble(409, _over(found))
        found.expires = self._clock() + self.timeout
        return found

    def _expire(self, found: Transaction) -> None:
        if found.state in {"open", "failed"} and self._clock() > found.expires:
            self._end(found, "rolled back")

    def _end(self, found: Transaction, state: str) -> None:
        found.state = state
        found.changes = {}
        self._locks = {path: by for path, by in self._locks.items() if by != found.number}

    def _apply(self, transaction: Transaction) -> None:
        """Commit: one version of each object touched, named by the second."""
        if not transaction.changes:
            return
        stamp = f"{datetime.fromtimestamp(self._clock(), UTC):%Y%m%d%H%M%S}"
        for path, changed in transaction.changes.items():
            if changed is not None and path.rpartition("/")[2] in self.lost:
                continue
            if changed is None:
                self._resources.pop(path, None)
                self._purge_history(path)
            else:
                self._resources[path] = changed
                self._note(path, stamp, changed)
        for group in {self._group_of(path) for path in transaction.changes} - {""}:
            if group not in transaction.changes and group in self._resources:
                self._note(group, stamp, self._resources[group])
        for group in self._history:
            newest, resource = self._history[group][-1]
            if newest == stamp and resource.kind == "group":
                shown = replace(resource, contains=tuple(self._below(group)))
                self._history[group][-1] = (stamp, shown)

    def _note(self, path: str, stamp: str, resource: Resource) -> None:
        if resource.kind != "tombstone":
            self._history.setdefault(path, []).append((stamp, resource))

    def _purge_history(self, path: str) -> None:
        """In a group the storage keeps what was purged, and shows it once there is a new one."""
        group = self._group_of(path)
        if group not in {path, ""}:
            self._purged.add(path)
            self._history[group] = [  # earlier versions list it no more (6.0.0)
                (stamp, replace(one, contains=tuple(c for c in one.contains if c != path)))
                for stamp, one in self._history[group]
            ]
            return
        for one in [one for one in self._history if _is_at_or_below(one, path)]:
            del self._history[one]
        for one in [one for one in self._resources if _is_at_or_below(one, path)]:
            del self._resources[one]

    # -- resources ---------------------------------------------------------------------

    def _find(self, path: str, transaction: Transaction) -> Resource | None:
        if path in transaction.changes:
            return transaction.changes[path]
        return self._resources.get(path)

    def _all(self, transaction: Transaction) -> dict[str, Resource]:
        merged = {**self._resources, **transaction.changes}
        return {path: found for path, found in merged.items() if found is not None}

    def _below(self, group: str) -> list[str]:
        return [
            path
            for path, found in self._resources.items()
            if path.startswith(f"{group}/") and found.kind not in _UNLISTED
        ]

    def _group_of(self, path: str, transaction: Transaction | None = None) -> str:
        """The Archival Group at or above a path; the path itself where there is none."""
        known = self._all(transaction) if transaction else self._resources
        above = path
        while above:
            if (found := known.get(above)) and found.kind == "group":
                return above
            if found is None and any(
                one == above and resource.kind == "group"
                for one, history in self._history.items()
                for _, resource in history[-1:]
            ):
                return above
            above = above.rpartition("/")[0]
        return path

    def _resource_request(self, request: Request, transaction: Transaction) -> Answer:
        path = request.path
        if "/fcr:metadata" in path:
            return self._description_request(request, transaction)
        if path.endswith("/fcr:tombstone"):
            return self._purge(request, path.removesuffix("/fcr:tombstone"), transaction)
        if "/fcr:versions" in path:
            return self._memento(request, *path.split("/fcr:versions", 1))
        self._check_name(path)
        serve = {"GET": self._read, "HEAD": self._read, "PUT": self._put, "POST": self._post,
                 "DELETE": self._delete}.get(request.method)  # fmt: skip
        if serve is None:
            raise Trouble(405)
        return serve(request, path, transaction)

    def _description_request(self, request: Request, transaction: Transaction) -> Answer:
        """The description of a file: there with the file, gone with it, versioned beside it."""
        file, _, rest = request.path.partition("/fcr:metadata")
        path = f"{file}/fcr:metadata"
        if rest.startswith("/fcr:versions"):
            return self._memento(request, path, rest.removeprefix("/fcr:versions"))
        if (above := self._tombstone_above(file, transaction)) is not None:
            raise _gone(self.base, path, above)
        found = self._there(file, transaction)
        if found.kind != "binary":
            raise Trouble(404, f"Error: Resource /{path} not found")
        there = self._find(path, transaction)
        if there is None or there.kind == "tombstone":
            there = Resource("description", state=f"D{found.state}", modified=found.modified)
        if request.method in {"GET", "HEAD"}:
            return self._shown(request, path, there, ())
        if request.method != "PUT":
            raise Trouble(405)
        self._check_preconditions(request, there)
        self._check_rdf(request, file)
        self._take_lock(path, transaction)
        made = replace(self._made(request, file, "container", None), kind="description")
        transaction.changes[path] = made
        return Answer(204, {"X-State-Token": made.state, "ETag": self._etag(request, made)})

    def _check_name(self, path: str) -> None:
        if "//" in path:
            raise Trouble(400, f"Path contains empty element! /{path}")
        if "#" in path:
            raise Trouble(500)  # 6.0.0
        for name in _REFUSED_NAMES:
            if name in path:
                raise Trouble(400, f"Invalid resource ID. IDs may not contain the string '{name}'.")
        if any(segment.startswith("fcr:") for segment in path.split("/")):
            raise Trouble(409, "Path cannot contain a fcr: prefixed segment.")
        if len(path) > 490:
            raise Trouble(400, "Database error - Fedora ID path too long")
        if any(len(segment.encode()) > 255 for segment in path.split("/")[2:]):
            raise Spoiling(500)

    def _there(self, path: str, transaction: Transaction) -> Resource:
        found = self._find(path, transaction)
        if found is None:
            raise Trouble(404, f"Error: Resource /{path} not found")
        if found.kind == "tombstone":
            raise _gone(self.base, path, found)
        return found

    def _read(self, request: Request, path: str, transaction: Transaction) -> Answer:
        if (above := self._tombstone_above(path, transaction)) is not None:
            raise _gone(self.base, path, above)
        found = self._there(path, transaction)
        if request.header("Accept-Datetime") and found.kind == "binary" and request.method == "GET":
            raise Trouble(500, "insufficient content written")  # 6.0.0
        return self._shown(request, path, found, self._contained(path, transaction))

    def _contained(self, path: str, transaction: Transaction) -> list[str]:
        prefix = f"{path}/" if path else ""
        return [
            one
            for one, found in self._all(transaction).items()
            if one.startswith(prefix) and one != path and found.kind not in _UNLISTED
        ]

    def _tombstone_above(self, path: str, transaction: Transaction) -> Resource | None:
        above = path.rpartition("/")[0]
        while above:
            found = self._find(above, transaction)
            if found is not None and found.kind == "tombstone":
                return found
            above = above.rpartition("/")[0]
        return None

    def _shown(
        self, request: Request, path: str, found: Resource, contains: list[str] | tuple[str, ...]
    ) -> Answer:
        headers = self._headers(request, path, found)
        if not found.is_rdf:
            if "sha-512" in request.header("Want-Digest"):
                headers["Digest"] = f"sha-512={found.content.sha512}"
            return Answer(200, headers, found.content.bytes())
        graph = _graph(found.content.bytes(), self._uri(path))
        if "fcrepo#ServerManaged" not in request.header("Prefer"):
            subject = URIRef(self._uri(path))
            graph.add((subject, URIRef(f"{V4}createdBy"), Literal("fedoraAdmin")))
            if "InboundReferences" in request.header("Prefer"):
                graph += self._inbound(URIRef(self._uri(path)))
            for one in contains:
                graph.add((subject, URIRef(f"{LDP}contains"), URIRef(self._uri(one))))
        headers["Content-Type"] = "application/n-triples"
        return Answer(200, headers, graph.serialize(format="nt", encoding="utf-8"))

    def _inbound(self, subject: URIRef) -> Graph:
        found = Graph()
        for path, one in self._resources.items():
            if one.is_rdf:
                for statement in _graph(one.content.bytes(), self._uri(path)):
                    if statement[2] == subject:
                        found.add(statement)
        return found

    def _headers(self, request: Request, path: str, found: Resource) -> dict[str, str]:
        types = {"group": [GROUP], "binary": [BINARY]}.get(found.kind, [])
        types.append(f"{LDP}Resource")
        links = [f'<{one}>; rel="type"' for one in types]
        if not path:
            links.append(f'<{self.base}/fcr:tx/>; rel="{TX_ENDPOINT}"')
        headers = {
            "Link": ", ".join(links),
            "ETag": self._etag(request, found),
            "X-State-Token": found.state,
        }
        if found.modified:
            changed = datetime.fromisoformat(found.modified)
            headers["Last-Modified"] = formatdate(changed.timestamp(), usegmt=True)
        if found.media_type:
            headers["Content-Type"] = found.media_type
        if found.disposition:
            headers["Content-Disposition"] = found.disposition
        return headers

    def _etag(self, request: Request, found: Resource) -> str:
        if not found.is_rdf:
            return f'"{found.state}"'
        varying = f"{found.state} {request.header('Accept')} {request.header('Prefer')}"
        return f'W/"{hashlib.md5(varying.encode()).hexdigest().upper()}"'

    def _uri(self, path: str) -> str:
        return f"{self.base}/{quote(path, safe='/:+=,@~!$&()*;')}".replace("'", "%27")

    # -- writing -----------------------------------------------------------------------

    def _post(self, request: Request, path: str, transaction: Transaction) -> Answer:
        """A Slug that is taken is passed over silently."""
        slug = unquote(request.header("Slug")) or str(uuid.uuid4())
        if self._find(f"{path}/{slug}", transaction) is not None:
            slug = str(uuid.uuid4())
        return self._put(request, f"{path}/{slug}".strip("/"), transaction)

    def _put(self, request: Request, path: str, transaction: Transaction) -> Answer:
        found = self._find(path, transaction)
        types = set(_LINK_TYPE.findall(request.header("Link")))
        kind = "binary" if BINARY in types else "group" if GROUP in types else "container"
        if found is not None and found.kind == "tombstone":
            self._check_tombstone(request, path, found)
            found = None
        else:
            self._check_preconditions(request, found)
            self._check_place(path, kind, found, transaction)
        made = self._made(request, path, kind, found)
        self._take_lock(path, transaction)
        self._check_body(request, made)
        transaction.changes[path] = made
        if found is not None:
            return Answer(204, {"X-State-Token": made.state, "ETag": self._etag(request, made)})
        uri = self._uri(path)
        headers = {"Location": uri, "X-State-Token": made.state, "Content-Type": "text/plain"}
        return Answer(201, headers, uri.encode())

    def _check_tombstone(self, request: Request, path: str, found: Resource) -> None:
        if self.version == "6.0.0" or request.header("Overwrite-Tombstone") != "true":
            raise _gone(self.base, path, found)

    def _check_preconditions(self, request: Request, found: Resource | None) -> None:
        if found is None:
            return
        if request.header("If-None-Match") == "*":
            raise Trouble(412, "Request failed due to unspecified failed precondition.")
        expected = request.header("X-If-State-Token")
        if expected and expected != found.state:
            raise Trouble(412, f"The client-supplied value ({expected}) does not match")
        match = request.header("If-Match")
        if match and match != self._etag(request, found).removeprefix("W/"):
            raise Trouble(412, "Request failed due to unspecified failed precondition.")
        if self.needs_if_match and not match:
            raise Trouble(428, "An If-Match header is required")

    def _check_place(
        self, path: str, kind: str, found: Resource | None, transaction: Transaction
    ) -> None:
        if found is not None:
            if "binary" in {found.kind, kind} and found.kind != kind:
                raise Spoiling(409, "Changing the interaction model is not allowed!")
            return
        if (above := self._tombstone_above(path, transaction)) is not None:
            raise Trouble(400, f"Cannot create resource as child of a tombstone. {above.modified}")
        if self._looks_like_a_way(path, transaction):
            raise Trouble(409, f"Resource path {path} is an immutable resource.")
        parent = path.rpartition("/")[0]
        if kind == "group" and parent and self._all(transaction).get(
            self._group_of(parent, transaction), Resource("container")
        ).kind == "group":  # fmt: skip
            raise Spoiling(409, "Nesting an ArchivalGroup within an ArchivalGroup is not permitted")

    def _looks_like_a_way(self, path: str, transaction: Transaction) -> bool:
        """Whether a path leads to something below it; `_` and `%` are SQL's wildcards (6.0.0)."""
        pattern = re.escape(path).replace("%", ".*").replace("_", ".") + "/.*"
        known = {
            one
            for one in (*self._resources, *transaction.changes)
            if not one.endswith("/fcr:metadata")
        }
        if re.fullmatch(r"[^%_]*", path):
            return any(one.startswith(f"{path}/") for one in known)
        return any(re.fullmatch(pattern, one) for one in known)

    def _made(self, request: Request, path: str, kind: str, found: Resource | None) -> Resource:
        if found is not None and found.is_rdf:
            kind = found.kind  # a group is one from the start, or never (6.0.0 passes it over)
        state = hashlib.md5(f"{next(self._counter)}".encode()).hexdigest().upper()
        if kind != "binary":
            self._check_rdf(request, path)
        media_type = request.header("Content-Type") if kind == "binary" else ""
        stamp = datetime.fromtimestamp(self._clock(), UTC).isoformat()
        return Resource(
            kind, request.body, media_type, state, stamp, request.header("Content-Disposition")
        )

    def _check_rdf(self, request: Request, path: str) -> None:
        try:
            graph = _graph(request.body.bytes(), self._uri(path), request.header("Content-Type"))
        except Exception as error:
            raise Trouble(400, f"RDF was not parsable: {error}") from error
        for _, predicate, _ in graph:
            if str(predicate).startswith(V4):
                raise Trouble(
                    409,
                    f"The server managed predicate ({predicate}) cannot be modified by the client.",
                    Link='<x>; rel="http://www.w3.org/ns/ldp#constrainedBy"',
                )

    def _take_lock(self, path: str, transaction: Transaction) -> None:
        """Never waited for: a lock taken is an answer at once, and spoils the transaction."""
        group = self._group_of(path, transaction)
        self._free_expired_locks()
        if self._locks.get(group, transaction.number) != transaction.number:
            text = f"Cannot update info:fedora/{group} because it is being updated by another "
            if self.version == "6.0.0":
                raise Spoiling(409, f"{text}transaction.")
            raise Spoiling(409, f'{{"message": "{text}"}}', Content_Type="application/json")
        if transaction.number:
            self._locks[group] = transaction.number

    def _free_expired_locks(self) -> None:
        for number in set(self._locks.values()):
            self._expire(self._transactions[number])

    def _check_body(self, request: Request, made: Resource) -> None:
        if self.room is not None and made.content.size > self.room:
            raise Spoiling(507, "No space left on device")
        announced = re.findall(r"([\w-]+)=(\w+)", request.header("Digest"))
        for algorithm, value in announced:
            if algorithm != "sha-512":
                raise Trouble(400, f"Unsupported Digest Algorithm: {algorithm}")
            if value != made.content.sha512:
                raise Spoiling(
                    409,
                    f"Checksum mismatch, computed SHA-512 digest {made.content.sha512} did not "
                    f"match expected value {value}",
                )

    def _delete(self, _request: Request, path: str, transaction: Transaction) -> Answer:
        self._there(path, transaction)
        self._take_lock(path, transaction)
        stamp = datetime.fromtimestamp(self._clock(), UTC).isoformat()
        known = self._all(transaction)
        described = [one for one in known if one.endswith("/fcr:metadata")]
        below = [one for one in described if one.startswith(f"{path}/")]
        for one in [path, *self._contained(path, transaction), *below]:
            transaction.changes[one] = Resource("tombstone", modified=stamp)
        return Answer(204)

    def _purge(self, request: Request, path: str, transaction: Transaction) -> Answer:
        if request.method != "DELETE":
            raise Trouble(405)
        found = self._find(path, transaction)
        if found is None or found.kind != "tombstone":
            raise Trouble(404)
        group = self._group_of(path, transaction)
        if group != path and self.version != "6.0.0":
            raise Trouble(405, "Tombstones inside an Archival Group cannot be deleted")
        self._take_lock(path, transaction)
        transaction.changes[path] = None
        return Answer(204)

    # -- versions ----------------------------------------------------------------------

    def _memento(self, request: Request, path: str, rest: str) -> Answer:
        if request.method == "POST":
            raise Trouble(400, "versions are made by commits here")
        found = self._find(path, Transaction("", 0))
        if found is None:
            raise Trouble(404, f"Error: Resource /{path}/fcr:versions not found")
        if found.kind == "tombstone":
            raise _gone(self.base, path, found)
        history = self._history.get(path, [])
        if self.version != "6.0.0":  # two versions within a second are listed once (6.5.1, 7.0.0)
            history = list(dict(history).items())
        if not rest.strip("/"):
            if path in self._purged:
                raise Trouble(500)  # 6.0.0
            return self._time_map(path, history)
        stamp = rest.strip("/")
        for one, resource in reversed(history):
            if one == stamp:
                return self._shown(request, path, resource, resource.contains)
        raise Trouble(404, f"Error: Resource /{path}/fcr:versions/{stamp} not found")

    def _time_map(self, path: str, history: list[tuple[str, Resource]]) -> Answer:
        uri = self._uri(path)
        lines = [f'<{uri}>; rel="original"', f'<{uri}>; rel="timegate"']
        lines += [
            f'<{uri}/fcr:versions/{stamp}>; rel="memento"; datetime="{_http_date(stamp)}"'
            for stamp, _ in history
        ]
        lines.append(f'<{uri}/fcr:versions>; rel="self"; type="application/link-format"')
        body = ",\n".join(lines).encode()
        headers = {
            "Content-Type": "application/link-format",
            "Link": f'<{LDP}Resource>; rel="type"',
        }
        return Answer(200, headers, body)


def _http_date(stamp: str) -> str:
    moment = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return formatdate(moment.timestamp(), usegmt=True)


def _over(found: Transaction) -> str:
    return f"Transaction with transactionId: {found.number} has already been {found.state}."


def _failed(found: Transaction) -> str:
    return f"Transaction {found.number} cannot be committed because it is in a failed state!"


def _gone(base: str, path: str, found: Resource) -> Trouble:
    text = f"Discovered tombstone resource at /{path}, departed at: {found.modified}"
    tombstone = f"{base}/{quote(path, safe='/:+=,@')}/fcr:tombstone"
    return Trouble(410, text, Link=f'<{tombstone}>; rel="hasTombstone"')


def _is_at_or_below(one: str, path: str) -> bool:
    return one == path or one.startswith(f"{path}/")


def _graph(content: bytes, base: str, media_type: str = "") -> Graph:
    graph = Graph()
    if content:
        form = "nt" if "n-triples" in media_type or not media_type else "turtle"
        graph.parse(data=content, format=form, publicID=base)
    return graph
