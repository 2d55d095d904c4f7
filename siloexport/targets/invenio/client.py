"""Requests of the REST API of InvenioRDM: each accepts only the answer that it should get.

Addresses are made from that of the repository; none in an answer is followed.

Source: InvenioRDM, "REST API reference": records, drafts, files, versions, communities.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from siloexport.plan import digest_of
from siloexport.targets.remote.about import ABOUT
from siloexport.targets.remote.errors import ChecksumRefused, NotOfThisKind, NotThere, RemoteError
from siloexport.targets.remote.server import Body, Server, ServerAnswer, failure, not_expected

Json = dict[str, Any]
_PAGE = 100
_MOST_PAGES = 100
_ABOUT_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class DraftLook:
    """A record or a draft there.

    Attributes:
        id: Of this version.
        parent: Of the record with all its versions.
        files: Name → (size, MD5), without ``silo.json``.
        about: The content of ``silo.json``; empty if there is none.
        is_draft: Whether it is a draft that was not published.
        in_review: Whether a community looks at it.
    """

    id: str
    parent: str
    metadata: Mapping[str, Any]
    files: Mapping[str, tuple[int, str]]
    about: Mapping[str, Any]
    is_draft: bool
    in_review: bool = False

    @property
    def token(self) -> str:
        """Changes when somebody changes it."""
        files = {name: list(one) for name, one in self.files.items()}
        return digest_of([self.id, self.is_draft, dict(self.metadata), files, dict(self.about)])


class InvenioClient:
    """Requests to one repository.

    Args:
        url: Address of the repository; that of its API will do.
    """

    def __init__(self, server: Server, url: str) -> None:
        self._server = server
        self.api = f"{url.rstrip('/').removesuffix('/api')}/api"

    def record_url(self, record_id: str) -> str:
        """Return the address of a record."""
        return f"{self.api}/records/{quote(record_id, safe='')}"

    def id_in(self, url: str) -> str:
        """Return the id in the address of a record."""
        return url.rpartition("/")[2]

    # -- reading -------------------------------------------------------------------------

    def check(self) -> None:
        """Check that it is such a repository, and that the token may use it.

        Raises:
            RemoteError: It is not.
        """
        found = self._json("GET", f"{self.api}/user/records?size=1", (200,))
        if not isinstance(found.get("hits"), dict):
            url = f"{self.api}/user/records"
            raise NotOfThisKind(200, url, "the answer is not that of InvenioRDM")

    def community(self, name: str) -> str:
        """Return the id of a community."""
        found = self._json("GET", f"{self.api}/communities/{quote(name, safe='')}", (200,))
        return str(found.get("id", ""))

    def mine(self, identifier: str) -> Iterator[Json]:
        """Yield the user's records and drafts that have an identifier, the newest first."""
        said = identifier.replace("\\", "\\\\").replace('"', '\\"')
        query = f'metadata.identifiers.identifier:"{said}"'
        for hit in self._hits(
            f"{self.api}/user/records", q=query, sort="newest", allversions="true"
        ):
            metadata = hit.get("metadata")
            listed = metadata.get("identifiers") if isinstance(metadata, dict) else None
            some = [one.get("identifier") for one in listed or () if isinstance(one, dict)]
            if identifier in some:
                self._id_of(hit, f"{self.api}/user/records")
                yield hit

    def versions(self, record_id: str) -> list[str]:
        """Return the ids of the published versions of a record, the oldest first."""
        found = [
            (int(hit.get("versions", {}).get("index") or 0), str(hit["id"]))
            for hit in self._hits(f"{self.record_url(record_id)}/versions")
            if hit.get("is_published", True) and "id" in hit
        ]
        return [one for _index, one in sorted(found)]

    def look(self, record_id: str) -> DraftLook | None:
        """Return a draft that was not published, or else a record; None if there is neither."""
        for below, is_draft in (("/draft", True), ("", False)):
            url = self.record_url(record_id) + below
            try:
                found = self._json("GET", url, (200,))
            except NotThere:
                continue
            if is_draft and found.get("is_published"):
                continue  # a draft of changes to what is published; that counts
            return self._looked(url, found, is_draft=is_draft)
        return None

    def _looked(self, url: str, found: Json, *, is_draft: bool) -> DraftLook:
        metadata, parent = found.get("metadata"), found.get("parent")
        files = {}
        for one in self._entries(url):
            kind, _, digest = str(one.get("checksum") or "").partition(":")
            whole = one.get("status", "completed") == "completed" and kind == "md5"
            size = one.get("size")
            size = size if isinstance(size, int) else -1
            files[str(one.get("key"))] = (size, digest if whole else "")
        about = self._about(url) if files.pop(ABOUT, ("", ""))[1] else {}
        review = (parent.get("review") if isinstance(parent, dict) else None) or {}
        return DraftLook(
            self._id_of(found, url),
            str(parent.get("id", "")) if isinstance(parent, dict) else "",
            metadata if isinstance(metadata, dict) else {},
            files,
            about,
            is_draft,
            is_draft and str(found.get("status", "")) == "in_review" and bool(review),
        )

    def _entries(self, url: str) -> list[Json]:
        found = self._json("GET", f"{url}/files", (200,)).get("entries")
        return [one for one in found or () if isinstance(one, dict)]

    def _about(self, url: str) -> Json:
        answer = self._server.send("GET", f"{url}/files/{ABOUT}/content", most=_ABOUT_BYTES)
        if answer.status != 200:
            return {}
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _hits(self, url: str, **query: str) -> Iterator[Json]:
        for page in range(1, _MOST_PAGES + 1):
            asked = urlencode({**query, "size": str(_PAGE), "page": str(page)})
            hits = self._json("GET", f"{url}?{asked}", (200,)).get("hits")
            some = hits.get("hits") if isinstance(hits, dict) else None
            if not isinstance(some, list):
                raise NotOfThisKind(200, url, "the answer is not that of InvenioRDM")
            yield from (one for one in some if isinstance(one, dict))
            if len(some) < _PAGE:
                return

    # -- writing -------------------------------------------------------------------------

    def create(self, record: Json) -> str:
        """Make a draft, and return its id."""
        found = self._json("POST", f"{self.api}/records", (201,), record)
        return self._id_of(found, f"{self.api}/records")

    def new_version(self, record_id: str) -> str:
        """Return the id of the draft of a record's next version; it is made if there is none."""
        url = f"{self.record_url(record_id)}/versions"
        return self._id_of(self._json("POST", url, (201,)), url)

    def describe(self, record_id: str, record: Json) -> Json:
        """Replace the metadata of a draft; return the draft with its errors."""
        return self._json("PUT", f"{self.record_url(record_id)}/draft", (200,), record)

    def put_file(self, record_id: str, name: str, body: Body, md5: str) -> None:
        """Add a file to a draft: announce it, send its content, commit it."""
        files = f"{self.record_url(record_id)}/draft/files"
        self._json("POST", files, (201,), [{"key": name}])
        url = f"{files}/{quote(name, safe='/')}"
        headers = {"Content-Type": "application/octet-stream"}
        self._checked(self._server.send("PUT", f"{url}/content", headers, body), (200, 201))
        found = self._json("POST", f"{url}/commit", (200,))
        if found.get("checksum") != f"md5:{md5}":
            digest = self._server.mask(str(found.get("checksum")))
            why = f"the MD5 of {name} is {digest} there, not {md5}"
            raise ChecksumRefused(200, url, why)

    def remove_file(self, record_id: str, name: str) -> None:
        """Remove a file of a draft."""
        url = f"{self.record_url(record_id)}/draft/files/{quote(name, safe='/')}"
        answer = self._server.send("DELETE", url)
        if answer.status not in {204, 404}:
            raise self._failure(answer)

    def publish(self, record_id: str) -> None:
        """Publish a draft."""
        url = f"{self.record_url(record_id)}/draft/actions/publish"
        found = self._json("POST", url, (202, 200))
        if str(found.get("id")) != record_id:
            raise NotOfThisKind(202, url, "the answer names another record")

    def submit(self, record_id: str, community: str) -> None:
        """Submit a draft to the review of a community."""
        url = f"{self.record_url(record_id)}/draft"
        self.review(record_id, community)
        self._json("POST", f"{url}/actions/submit-review", (202, 200), {})

    def review(self, record_id: str, community: str) -> None:
        """Name the community that a draft is for."""
        asked = {"receiver": {"community": community}, "type": "community-submission"}
        self._json("PUT", f"{self.record_url(record_id)}/draft/review", (200,), asked)

    def delete_draft(self, record_id: str) -> None:
        """Delete a draft."""
        answer = self._server.send("DELETE", f"{self.record_url(record_id)}/draft")
        if answer.status not in {204, 404}:
            raise self._failure(answer)

    def errors_in(self, found: Json) -> str:
        """Return the errors of fields in an answer as one line, without the token."""
        return self._server.mask(errors_in(found))[:500]

    # -- requests ------------------------------------------------------------------------

    def _json(self, method: str, url: str, statuses: tuple[int, ...], value: Any = None) -> Json:
        headers = {"Accept": "application/json"}
        body = None
        if value is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(value).encode()
        answer = self._server.send(method, url, headers, body)
        self._checked(answer, statuses)
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError):
            raise NotOfThisKind(answer.status, url, not_expected(answer)) from None
        if not isinstance(found, dict):
            raise NotOfThisKind(answer.status, url, "the answer is not a JSON object")
        return found

    def _checked(self, answer: ServerAnswer, statuses: tuple[int, ...]) -> None:
        if answer.is_html and answer.status < 400:
            raise NotOfThisKind(answer.status, answer.url, not_expected(answer))
        if answer.status not in statuses:
            raise self._failure(answer)

    def _failure(self, answer: ServerAnswer) -> RemoteError:
        return failure(answer, said_in(answer.body))

    def _id_of(self, found: Json, url: str) -> str:
        record_id = found.get("id")
        if not isinstance(record_id, str) or not record_id or "/" in record_id:
            raise NotOfThisKind(200, url, "the answer names no id")
        return record_id


def said_in(body: bytes) -> str:
    """Return the message and the errors of fields in an answer; ``""`` if it is no such answer."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return errors_in(found, str(found.get("message", ""))) if isinstance(found, dict) else ""


def errors_in(found: Mapping[str, Any], message: str = "") -> str:
    """Return the errors of fields in an answer as one line, after a message."""
    listed = found.get("errors")
    some = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    fields = [
        f"{one.get('field', '')}: {' '.join(map(str, one.get('messages') or ()))}" for one in some
    ]
    return "; ".join(filter(None, [message.rstrip("."), *fields]))
