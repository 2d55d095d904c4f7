"""Requests of SWORDv2: each reads its answer, and accepts only what the profile allows.

Source: SWORD 2.0 Profile, sections 6 to 9; RFC 5023, section 9.7 (Slug).
"""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, BinaryIO, cast

from lxml import etree

from politeweb.addresses import without_credentials
from siloexport.errors import TargetUnusable
from siloexport.targets.remote.errors import (
    ChecksumRefused,
    NotOfThisKind,
    NotSupported,
    NotThere,
    RemoteError,
)
from siloexport.targets.remote.server import Body, Server, ServerAnswer, failure, not_expected
from siloexport.targets.remote.uploads import Upload
from siloexport.targets.sword import documents
from siloexport.targets.sword.documents import DepositReceipt, NotSword, SwordCollection
from siloexport.targets.sword.package import SIMPLE_ZIP, PackageContent, ZipPackage, unpacked

_ENTRY = "application/atom+xml;type=entry"
_MOST_PAGES = 10_000
SILENT = "silent"
"""The token of a deposit of which the server says nothing."""


@dataclass(frozen=True, slots=True)
class There:
    """A deposit as the server tells of it.

    Attributes:
        edit: Its Edit-IRI; ``""`` if the server only lists it.
        receipt: What it says.
        token: Changes when others change the deposit.
        statement: Where its state can be read; or ``""``.
    """

    edit: str
    receipt: DepositReceipt
    token: str = ""
    statement: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """A deposit to be sent; without a package, its description alone.

    Attributes:
        in_progress: Whether it is not complete yet.
    """

    entry: bytes
    package: ZipPackage | None
    packaging: str
    in_progress: bool


class SwordClient:
    """Requests to one server.

    Args:
        on_behalf_of: Name of the user for whom deposits are made; ``""`` for oneself.
    """

    def __init__(self, server: Server, on_behalf_of: str = "") -> None:
        self._server = server
        self._usual = {"On-Behalf-Of": on_behalf_of} if on_behalf_of else {}

    # -- where -------------------------------------------------------------------------

    def collection(
        self, url: str, chosen: str
    ) -> tuple[SwordCollection, documents.ServiceDocument]:
        """Return the collection at an address: its own, or one of a service document.

        Args:
            url: Of a service document or a collection.
            chosen: Address or title of a collection; ``""`` if there is only one.

        Raises:
            RemoteError, TargetUnusable: There is no such collection.
        """
        answer = self._read(url, "application/atomsvc+xml, application/atom+xml, */*;q=0.5")
        root = self._document(answer)
        if documents.is_service(root):
            service = documents.service(root, url)
            if service.version and not service.version.startswith("2"):
                raise TargetUnusable(f"{url} speaks SWORD {service.version}, not SWORD 2")
            found = _chosen(service.collections, chosen, url)
            self._server.check_address(found.href)
            return found, service
        try:
            documents.feed(root, url)
        except NotSword as error:
            raise TargetUnusable(f"{url} {error}; name a service document of SWORD 2") from None
        return SwordCollection(url), documents.ServiceDocument(())

    def listed(self, collection: str) -> Iterator[DepositReceipt]:
        """Yield what the server lists of a collection, over all pages.

        Raises:
            NotSupported: It lists nothing.
        """
        url, seen = collection, set[str]()
        while url and url not in seen and len(seen) < _MOST_PAGES:
            seen.add(url)
            answer = self._read(url, "application/atom+xml;type=feed, */*;q=0.5")
            try:
                page = documents.feed(self._document(answer), url)
            except NotSword as error:
                raise NotSupported(answer.status, url, str(error)) from None
            yield from page.entries
            url = page.following or _next_link(answer.headers.get("Link", ""))

    # -- one deposit -------------------------------------------------------------------

    def read(self, edit: str, statement: str = "") -> There | None:
        """Return what the server says of a deposit; None if there is none.

        Args:
            edit: Its Edit-IRI.
            statement: Where else it says something, if it does not answer there.
        """
        for url in filter(None, (edit, statement)):
            try:
                answer = self._read(url, f"{_ENTRY}, application/atom+xml, */*;q=0.5")
            except NotThere:
                return None
            except NotSupported:
                continue
            root = self._document(answer)
            try:
                found = documents.receipt(root, url)
            except NotSword:
                found = DepositReceipt(said="a statement")
            marks = [answer.headers.get(name, "") for name in ("ETag", "Last-Modified")]
            state = next(iter(found.statements), statement)
            return There(edit, found, " ".join([found.said, *filter(None, marks)]), state)
        return There(edit, DepositReceipt(), SILENT, statement)

    def state(self, there: There) -> str:
        """Return what became of a deposit, in words of the server; or ``""``."""
        try:
            answer = self._read(there.statement, "application/atom+xml, application/rdf+xml, */*")
            return documents.statement_state(self._document(answer))
        except RemoteError:
            return there.receipt.state

    def create(self, collection: str, slug: str, sent: Sent) -> tuple[str, DepositReceipt]:
        """Make a deposit; return its Edit-IRI and its receipt.

        Raises:
            RemoteError: It was not made, or it is not known whether it was.
        """
        answer = self._write("POST", collection, sent, {"Slug": slug})
        if answer.status != 201:
            raise self._failure(answer)
        location = without_credentials(answer.headers.get("Location", ""))
        found = DepositReceipt()
        if answer.body.strip():
            root = self._document(answer)
            try:
                found = documents.receipt(root, location or collection)
            except NotSword as error:
                raise NotOfThisKind(answer.status, collection, str(error)) from None
        edit = found.edit or location
        if not edit:
            raise NotOfThisKind(answer.status, collection, "names no address of the new deposit")
        self._server.check_address(edit)
        return edit, found

    def replace(self, edit: str, sent: Sent) -> None:
        """Replace the description of a deposit, and its content if there is a package."""
        answer = self._write("PUT", edit, sent, {})
        if answer.status not in {200, 204}:
            raise self._failure(answer)
        self._check_said(answer)

    def put_content(self, media: str, package: ZipPackage, packaging: str) -> None:
        """Replace the content of a deposit, which stays open."""
        # Without the header, swh-deposit takes the deposit for complete.
        headers = self._usual | _of_package(package, packaging) | {"In-Progress": "true"}
        body = Upload(package.file, package.size)
        answer = self._server.send("PUT", media, headers, body)
        if answer.status not in {200, 201, 204}:
            raise self._failure(answer)
        self._check_said(answer)

    def content(self, url: str, into: IO[bytes], most: int) -> bool:
        """Fetch the content of a deposit as a zip.

        Args:
            url: Its EM-IRI or Cont-IRI.
            into: Gets the zip.
            most: Its largest size in bytes.

        Returns:
            False if the server gives back no such content.
        """
        headers = self._usual | {"Accept": "application/zip, */*;q=0.1",
                                 "Accept-Packaging": SIMPLE_ZIP}  # fmt: skip
        answer = self._server.send("GET", url, headers, into=into, most=most)
        if answer.status == 200 and answer.media_type in {
            "application/zip", "application/octet-stream", "application/x-zip-compressed",
        }:  # fmt: skip
            return True
        if answer.status == 200 or answer.status in {403, 404, 405, 406, 410, 415, 501}:
            return False
        raise self._failure(answer)

    def held(self, there: There, most: int) -> PackageContent | None:
        """Return what is in the content of a deposit; None if the server does not give it back.

        Args:
            there: The deposit.
            most: Bytes that are read.

        Raises:
            NotOfThisKind: There are more.
        """
        for url in dict.fromkeys(filter(None, (there.receipt.media, there.receipt.content))):
            with TemporaryFile(prefix="silo-sword-") as file:
                if self.content(url, file, most):
                    file.seek(0)
                    try:
                        return unpacked(cast(BinaryIO, file), most)
                    except ValueError:
                        return PackageContent({}, {})
        return None

    def delete(self, edit: str) -> None:
        """Delete a deposit.

        Raises:
            NotSupported, Denied: The server does not let it be deleted.
        """
        answer = self._server.send("DELETE", edit, self._usual)
        if answer.status in {404, 410}:
            return
        if answer.status not in {200, 204}:
            raise self._failure(answer)
        self._check_said(answer)

    # -- requests ----------------------------------------------------------------------

    def _read(self, url: str, accept: str) -> ServerAnswer:
        answer = self._server.send("GET", url, self._usual | {"Accept": accept})
        if answer.status != 200:
            raise self._failure(answer)
        return answer

    def _write(self, method: str, url: str, sent: Sent, more: Mapping[str, str]) -> ServerAnswer:
        headers = {
            **self._usual, **more, "In-Progress": "true" if sent.in_progress else "false",
            "Accept": "*/*",  # swh-deposit 3.0.1 answers 406 to the types that it sends
        }  # fmt: skip
        body: Body
        if sent.package is None:
            headers["Content-Type"] = _ENTRY
            body = sent.entry
        else:
            headers["Packaging"] = sent.packaging
            headers["Content-MD5"] = sent.package.md5
            headers["MIME-Version"] = "1.0"
            kind, body = _multipart(sent.entry, sent.package, sent.packaging)
            headers["Content-Type"] = kind
        return self._server.send(method, url, headers, body)

    def _document(self, answer: ServerAnswer) -> etree._Element:
        """Return the root element of a document; a page for people is none."""
        if answer.is_html:
            raise NotOfThisKind(answer.status, answer.url, not_expected(answer))
        try:
            return documents.read(answer.body)
        except NotSword as error:
            raise NotOfThisKind(answer.status, answer.url, f"the answer {error}") from None

    def _check_said(self, answer: ServerAnswer) -> None:
        """Refuse a page for people in place of the answer to a write."""
        if answer.status == 204:  # without a body; swh-deposit calls it text/html
            return
        if answer.is_html or (answer.body.strip() and not answer.body.lstrip().startswith(b"<")):
            raise NotOfThisKind(answer.status, answer.url, not_expected(answer))

    def _failure(self, answer: ServerAnswer) -> RemoteError:
        said = documents.error_said(answer.body)
        if answer.status in {400, 412} and documents.is_checksum_error(answer.body):
            reason = answer.mask(said) or "the checksum is refused"
            return ChecksumRefused(answer.status, answer.url, reason)
        return failure(answer, said)


def _chosen(collections: tuple[SwordCollection, ...], chosen: str, url: str) -> SwordCollection:
    if chosen:
        found = [one for one in collections if chosen in (one.href, one.title)]
        if len(found) == 1:
            return found[0]
        why = "no collection" if not found else f"{len(found)} collections"
        why = f"{url} lists {why} {chosen!r}"
    elif len(collections) == 1:
        return collections[0]
    elif not collections:
        raise TargetUnusable(f"{url} lists no collection that the user may deposit to")
    else:
        why = f"{url} lists {len(collections)} collections; choose one (--collection)"
    some = ", ".join(f"{one.title!r} ({one.href})" for one in collections[:20])
    raise TargetUnusable(f"{why}: {some}")


def _of_package(package: ZipPackage, packaging: str) -> dict[str, str]:
    return {
        "Content-Type": "application/zip",
        "Content-Disposition": "attachment; filename=package.zip",
        "Content-MD5": package.md5,
        "Packaging": packaging,
    }


def _multipart(entry: bytes, package: ZipPackage, packaging: str) -> tuple[str, Upload]:
    """Return the media type and the body of an entry with a package."""
    boundary = f"silo-{secrets.token_hex(16)}"
    head = "".join(f"{name}: {value}\r\n" for name, value in {
        **_of_package(package, packaging), "MIME-Version": "1.0",
        "Content-Disposition": 'attachment; name="payload"; filename="package.zip"',
    }.items())  # fmt: skip
    before = (
        f"--{boundary}\r\n"
        f"Content-Type: {_ENTRY}; charset=utf-8\r\n"
        'Content-Disposition: attachment; name="atom"; filename="entry.xml"\r\n'
        "MIME-Version: 1.0\r\n\r\n"
    ).encode() + entry + f"\r\n--{boundary}\r\n{head}\r\n".encode()  # fmt: skip
    kind = f'multipart/related; boundary="{boundary}"; type="application/atom+xml"'
    return kind, Upload(package.file, package.size, before, f"\r\n--{boundary}--\r\n".encode())


def _next_link(header: str) -> str:
    """Return the target of ``rel="next"`` in a Link header; or ``""``."""
    for part in header.split(","):
        target, _, rest = part.partition(">")
        if 'rel="next"' in rest.replace(" ", "") or "rel=next" in rest.replace(" ", ""):
            return target.strip().lstrip("<")
    return ""
