"""Compare a version in Fedora with the Silo: digests, description, number of versions."""

from collections.abc import Iterator
from dataclasses import dataclass

from siloexport.targets.fedora.answers import (
    Departed,
    digests,
    stamp_in,
)
from siloexport.targets.fedora.client import NT, FedoraClient
from siloexport.targets.fedora.description import checksums, contained, parsed, unlike
from siloexport.targets.fedora.layout import LayingOut
from siloexport.targets.fedora.objects import OWN, FedoraObject, read_object
from siloexport.targets.fedora.sending import description_uri, file_uri
from siloexport.targets.remote.errors import (
    NotThere,
)
from siloexport.values import Deposit, Difference, Held


@dataclass(frozen=True, slots=True)
class _Check:
    """A comparison; ``memento`` is the stamp of the version, ``""`` for the current state."""

    client: FedoraClient
    deposit: Deposit
    there: FedoraObject
    memento: str

    def differs(self, what: str, where: str, detail: str) -> Difference:
        return Difference(self.deposit.identifier, self.deposit.version.name, what, where, detail)


def differences(
    client: FedoraClient, laying_out: LayingOut, deposit: Deposit, held: Held, *, is_head: bool
) -> Iterator[Difference]:
    """Yield the differences of a version; see `Target.verify`.

    The last version is compared with the current state of the object, an earlier one with its
    memento.

    Args:
        client: To the server.
        laying_out: Describes the version.
        deposit: The deposit of the version, as it would be made now.
        held: What the ledger has of it.
        is_head: Whether it is the last version.
    """
    there = read_object(client, held.uri)
    name, version = deposit.identifier, deposit.version.name
    if there is None:
        yield Difference(name, version, "missing", held.uri, "there is nothing at this address")
        return
    check = _Check(client, deposit, there, "" if is_head else stamp_in(held.version_uri))
    if there.tombstone:
        if not held.withdrawn:
            yield check.differs("missing", held.uri, "it was deleted")
        return
    sums = {file.path: deposit.version.content.sha512(file.path) for file in deposit.version.files}
    if is_head:
        yield from _count(check, held)
    expected = laying_out.of(deposit, held.uri, sums)
    yield from _description(check, held, expected.own)
    yield from _files(check, held, sums)
    for path, content in expected.files.items():
        if detail := _file_description(check, held.uri, path, content):
            yield check.differs("description", f"{path} (fcr:metadata)", detail)


def _count(check: _Check, held: Held) -> Iterator[Difference]:
    there = check.there
    if len(there.versions) != held.deposits:
        detail = f"it has {len(there.versions)} versions, {held.deposits} were exported"
        yield check.differs("versions", f"{there.uri}/fcr:versions", detail)
    if there.is_withdrawn != held.withdrawn:
        verb = "says" if there.is_withdrawn else "does not say"
        detail = f"its description {verb} that the source deleted the record"
        yield check.differs("status", there.uri, detail)


def _description(check: _Check, held: Held, expected: bytes) -> Iterator[Difference]:
    found: bytes | None = check.there.own
    if check.memento:
        answer = check.client.get_if_there(held.version_uri, {"Accept": NT, "Prefer": OWN})
        found = None if answer is None else answer.body
    where = held.version_uri if check.memento else held.uri
    if found is None:
        yield check.differs("missing", where, "the version does not exist")
        return
    try:
        detail = unlike(expected, found, withdrawal=not check.memento and held.withdrawn)
    except ValueError as error:
        yield check.differs("unreadable", where, str(error))
        return
    if detail:
        yield check.differs("description", where, detail)


def _files(check: _Check, held: Held, sums: dict[str, str]) -> Iterator[Difference]:
    listed = check.client.get_if_there(
        held.version_uri if check.memento else held.uri, {"Accept": NT}
    )
    there = contained(parsed(listed.body)) if listed is not None else set()
    wanted = {file_uri(held.uri, path): path for path in sums}
    for address, path in wanted.items():
        detail = _file(check, address, path, sums[path])
        if detail:
            yield check.differs("file", path, detail)
    for address in sorted(there - wanted.keys()):
        yield check.differs("extra", address, "the version has no such file")


def _file(check: _Check, address: str, path: str, sha512: str) -> str:
    """Return what is wrong with a file, as a sentence; ``""`` for nothing."""
    try:
        found = _digest(check, address)
    except Departed:
        # The earlier versions of a file that was removed from the object cannot be requested;
        # the description has its digest, and the storage its bytes
        # (docs/fedora-servers.md, "Tombstones").
        if check.memento and path not in checksums(check.there.graph):
            return ""
        return "it was deleted"
    if not found:
        return "it is missing"
    return "" if found == sha512 else f"its SHA-512 is {found}, not {sha512}"


def _file_description(check: _Check, uri: str, path: str, expected: bytes) -> str:
    """Return what is wrong with the description of a file, as a sentence; ``""`` for nothing."""
    address = description_uri(uri, path)
    try:
        found = next(filter(None, (_own(check, one) for one in _addresses(check, address))), None)
        detail = "it is missing" if found is None else unlike(expected, found, withdrawal=False)
    except Departed:
        return "" if check.memento and path not in checksums(check.there.graph) else "it is missing"
    except ValueError as error:
        return str(error)
    return detail


def _own(check: _Check, address: str) -> bytes | None:
    try:
        return check.client.send("GET", address, {"Accept": NT, "Prefer": OWN}).body or None
    except NotThere:
        return None


def _digest(check: _Check, address: str) -> str:
    """Return a file's SHA-512 as Fedora computes it from its content; ``""`` for no file."""
    for where in _addresses(check, address):
        try:
            answer = check.client.send("HEAD", where, {"Want-Digest": "sha-512"})
        except NotThere:
            continue
        return digests(answer.headers.get("Digest", "")).get("sha-512", "unknown")
    return ""


def _addresses(check: _Check, address: str) -> Iterator[str]:
    """Yield the addresses where a file of the version may be: the mementos up to its time.

    Its own time map and ``Accept-Datetime`` are not used: 6.0.0 answers 500 to the first after
    the file was removed and put again, and to the second for any file.
    """
    if not check.memento:
        yield address
        return
    for memento in reversed(check.there.versions):
        if memento.stamp <= check.memento:
            yield f"{address}/fcr:versions/{memento.stamp}"
