"""A repository on InvenioRDM, made from the reference of its REST API.

It refuses what the reference forbids: files of published records, publishing what lacks a
required field, content that was not announced.

Source: InvenioRDM, "REST API reference" and "Metadata reference".
"""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import md5
from typing import Any

from loopback_peer import Answer, Request

TOKEN = "Bearer abc"
_NEEDED = ("resource_type", "title", "publication_date", "creators")
Trap = Callable[[Request], Answer | None]


@dataclass
class Stored:
    """One file; ``content`` is None before it was sent."""

    content: bytes | None = None
    is_committed: bool = False


@dataclass
class Version:
    """A draft, or a published record."""

    id: str
    parent: str
    index: int
    metadata: dict[str, Any] = field(default_factory=dict)
    pids: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Stored] = field(default_factory=dict)
    is_published: bool = False
    review: str = ""
    in_review: bool = False


@dataclass
class Simulator:
    """Answers requests; ``before`` and ``after`` may answer in their place."""

    before: Trap = lambda _request: None
    after: Trap = lambda _request: None
    base: str = ""
    needed: tuple[str, ...] = _NEEDED
    lags: int = 0
    """So many searches do not find the newest draft yet."""
    kept: dict[str, Version] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    made: int = 0

    def __call__(self, request: Request) -> Answer:
        self.asked.append(request)
        if instead := self.before(request):
            return instead
        answer = self._answer(request)
        return self.after(request) or answer

    def _answer(self, request: Request) -> Answer:
        if request.headers.get("Authorization") != TOKEN:
            return _told(401, "The server could not verify that you are authorized.")
        path = request.path
        if path == "/api/user/records" and request.method == "GET":
            return self._search(request)
        if path == "/api/records" and request.method == "POST":
            return self._create(request)
        if match := re.fullmatch(r"/api/communities/(\w+)", path):
            return _json(200, {"id": f"uuid-{match[1]}"}) if match[1] == "theses" else _told(404)
        match = re.fullmatch(r"/api/records/([\w-]+)(/.*)?", path)
        one = self.kept.get(match[1]) if match else None
        if match is None or one is None:
            return _told(404, "The persistent identifier does not exist.")
        rest = match[2] or ""
        if rest == "":
            return _json(200, self._shown(one)) if one.is_published else _told(404)
        if rest == "/versions":
            return self._versions(request, one)
        if rest.startswith("/files") and one.is_published:
            return self._files(request, one, rest.removeprefix("/files").strip("/"))
        if rest.startswith("/draft") and not one.is_published:
            return self._draft(request, one, rest.removeprefix("/draft"))
        return _told(404)

    # -- lists ---------------------------------------------------------------------------

    def _search(self, request: Request) -> Answer:
        query = request.query.get("q", [""])[0]
        match = re.fullmatch(r'metadata\.identifiers\.identifier:"(.*)"', query)
        wanted = re.sub(r"\\(.)", r"\1", match[1]) if match else None
        found = list(reversed(self.kept.values()))
        if self.lags:
            self.lags, found = self.lags - 1, found[1:]
        listed = [
            self._shown(one)
            for one in found
            if wanted is None
            or wanted in [each["identifier"] for each in one.metadata.get("identifiers", ())]
        ]
        return self._page(request, listed)

    def _page(self, request: Request, listed: list[dict[str, Any]]) -> Answer:
        size, page = (int(request.query.get(name, ["1"])[0]) for name in ("size", "page"))
        some = listed[(page - 1) * size : page * size]
        return _json(200, {"hits": {"hits": some, "total": len(listed)}})

    def _versions(self, request: Request, one: Version) -> Answer:
        of_parent = [other for other in self.kept.values() if other.parent == one.parent]
        published = [other for other in of_parent if other.is_published]
        if request.method == "GET":
            return self._page(request, [self._shown(other) for other in reversed(published)])
        if not one.is_published:
            return _told(404, "The record is not published.")
        drafts = [other for other in of_parent if not other.is_published]
        draft = drafts[0] if drafts else self._new(one.parent, len(published) + 1)
        if not drafts:
            draft.metadata = copy.deepcopy(one.metadata)
            draft.metadata.pop("publication_date", None)
        return _json(201, self._shown(draft))

    # -- drafts ----------------------------------------------------------------------------

    def _new(self, parent: str, index: int) -> Version:
        self.made += 1
        one = Version(f"r{self.made:04}-x", parent or f"p{self.made}", index)
        self.kept[one.id] = one
        return one

    def _create(self, request: Request) -> Answer:
        given = json.loads(request.body)
        one = self._new("", 1)
        one.metadata, one.pids = given["metadata"], given.get("pids", {})
        return _json(201, self._shown(one) | {"errors": self._errors(one)})

    def _draft(self, request: Request, one: Version, rest: str) -> Answer:
        if rest == "" and request.method == "GET":
            return _json(200, self._shown(one))
        if rest == "" and request.method == "DELETE":
            del self.kept[one.id]
            return Answer(204)
        if rest == "" and request.method == "PUT":
            given = json.loads(request.body)
            one.metadata, one.pids = given["metadata"], given.get("pids", {})
            return _json(200, self._shown(one) | {"errors": self._errors(one)})
        if rest == "/review" and request.method == "PUT":
            one.review = json.loads(request.body)["receiver"]["community"]
            return _json(200, {"id": "review"})
        if rest == "/actions/submit-review" and request.method == "POST":
            one.in_review = True
            return _json(202, {"id": "request"})
        if rest == "/actions/publish" and request.method == "POST":
            return self._publish(one)
        if rest.startswith("/files"):
            return self._files(request, one, rest.removeprefix("/files").strip("/"))
        return _told(405)

    def _publish(self, one: Version) -> Answer:
        errors = self._errors(one)
        if not all(file.is_committed for file in one.files.values()):
            errors.append({"field": "files", "messages": ["One or more files are incomplete."]})
        if errors:
            return _json(400, {"message": "A validation error occurred.", "errors": errors})
        one.is_published = True
        one.pids = one.pids or {"doi": {"identifier": f"10.1/{one.id}", "provider": "datacite"}}
        return _json(202, self._shown(one))

    def _files(self, request: Request, one: Version, rest: str) -> Answer:
        if one.is_published and request.method != "GET":
            return _told(403, "Permission denied.")
        if rest == "":
            if request.method == "POST":
                for given in json.loads(request.body):
                    if given["key"] in one.files:
                        return _told(400, f"File with key {given['key']} already exists.")
                    one.files[given["key"]] = Stored()
                return _json(201, {"entries": []})
            return _json(200, {"entries": [_entry(*pair) for pair in one.files.items()]})
        key, _, action = rest.rpartition("/")
        if action == "content" and key in one.files:
            file = one.files[key]
            if request.method == "PUT":
                file.content, file.is_committed = request.body, False
                return _json(200, _entry(key, file))
            return Answer(200, file.content or b"", {"Content-Type": "application/octet-stream"})
        if action == "commit" and key in one.files and request.method == "POST":
            if one.files[key].content is None:
                return _told(400, "File content was not sent.")
            one.files[key].is_committed = True
            return _json(200, _entry(key, one.files[key]))
        if request.method == "DELETE" and rest in one.files:
            del one.files[rest]
            return Answer(204)
        return _told(404)

    def _errors(self, one: Version) -> list[dict[str, Any]]:
        return [
            {"field": f"metadata.{name}", "messages": ["Missing data for required field."]}
            for name in self.needed
            if not one.metadata.get(name)
        ]

    def _shown(self, one: Version) -> dict[str, Any]:
        metadata = copy.deepcopy(one.metadata)
        if "resource_type" in metadata:  # vocabularies are given back with their titles
            metadata["resource_type"]["title"] = {"en": "Something"}
        return {
            "id": one.id, "parent": {"id": one.parent, "review": one.review or None},
            "metadata": metadata, "pids": one.pids, "is_published": one.is_published,
            "is_draft": not one.is_published, "versions": {"index": one.index},
            "status": "published" if one.is_published else
                      "in_review" if one.in_review else "draft",
            "links": {"self": "http://elsewhere.example.org/"},
        }  # fmt: skip


def _entry(key: str, file: Stored) -> dict[str, Any]:
    if file.content is None:
        return {"key": key, "status": "pending"}
    return {
        "key": key, "size": len(file.content), "checksum": f"md5:{md5(file.content).hexdigest()}",
        "status": "completed" if file.is_committed else "pending",
    }  # fmt: skip


def _json(status: int, value: Any) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


def _told(status: int, message: str = "Not found.") -> Answer:
    return _json(status, {"status": status, "message": message})
