"""Check that an object has exactly the files that its description lists."""

from politeweb.answers import http_date
from siloexport.targets.fedora.answers import (
    Departed,
    digests,
)
from siloexport.targets.fedora.client import NT, FedoraClient
from siloexport.targets.fedora.description import (
    checksums,
    contained,
    described,
    digest_of,
    parsed,
)
from siloexport.targets.fedora.objects import OWN, FedoraObject
from siloexport.targets.fedora.sending import description_uri, file_uri
from siloexport.targets.remote.errors import (
    NotThere,
)


def files_at(client: FedoraClient, uri: str) -> set[str]:
    """Return the addresses of the files that Fedora lists for an object."""
    return contained(parsed(client.send("GET", uri, {"Accept": NT}).body))


def is_untouched(client: FedoraClient, there: FedoraObject) -> bool:
    """Whether an object has exactly the files that its description lists, unchanged.

    The same is true of the descriptions of files, where the layout has them.

    A file may be lost: a 6.0.0 killed in a commit came back with the description and without
    a file, or with files that it did not list. So each file is requested. A file may have been
    changed by others without a new token: the description's state does not change with a file,
    and neither does the list of versions if two versions of the same second are listed once
    (6.5.1).

    The description is sent last, so a newer file was written by someone else. HTTP dates have
    whole seconds, so the digest is requested for a file of the same second.
    """
    listed = _described(there)
    if not files_at(client, there.uri) <= listed.keys():
        return False
    return all(
        _is_older(client, address, there.modified) or sha512_at(client, address) == sha512
        for address, sha512 in listed.items()
    ) and all(
        description_at(client, description_uri(there.uri, path)) == digest
        for path, digest in described(there.graph).items()
    )


def description_at(client: FedoraClient, address: str) -> str:
    """Return the digest of a description, without the server's statements; ``""`` for none."""
    answer = client.get_if_there(address, {"Accept": NT, "Prefer": OWN})
    try:
        return "" if answer is None else digest_of(answer.body)
    except ValueError:
        return ""


def is_part_of(client: FedoraClient, there: FedoraObject, before: str) -> bool:
    """Whether an object has only files that its description or an earlier one lists.

    Args:
        client: To the server.
        before: Address of the version before; ``""`` for none.
    """
    known = set(_described(there).items())
    if before and (answer := client.get_if_there(before, {"Accept": NT, "Prefer": OWN})):
        earlier = checksums(parsed(answer.body))
        known |= {(file_uri(there.uri, path), sha512) for path, sha512 in earlier.items()}
    addresses = files_at(client, there.uri) | _described(there).keys()
    found = {(address, sha512_at(client, address)) for address in addresses}
    return {(address, sha512) for address, sha512 in found if sha512} <= known


def sha512_at(client: FedoraClient, address: str) -> str:
    """Return a file's SHA-512 as Fedora computes it from its content; ``""`` for no file."""
    try:
        answer = client.send("HEAD", address, {"Want-Digest": "sha-512"})
    except (NotThere, Departed):
        return ""
    return digests(answer.headers.get("Digest", "")).get("sha-512", "unknown")


def _described(there: FedoraObject) -> dict[str, str]:
    """Return address → SHA-512 of the files that an object's description lists."""
    return {file_uri(there.uri, path): sha for path, sha in checksums(there.graph).items()}


def _is_older(client: FedoraClient, address: str, date: str) -> bool:
    answer = client.get_if_there(address, method="HEAD")
    if answer is None:
        return False
    file, description = http_date(answer.headers.get("Last-Modified", "")), http_date(date)
    return file is not None and description is not None and file < description
