"""Whether an object's files are those that its description names: none lost, none others'."""

from politeweb.answers import http_date
from siloexport.targets.fedora.answers import Departed, NotThere, digests
from siloexport.targets.fedora.client import NT, FedoraClient
from siloexport.targets.fedora.description import checksums, contained, parsed
from siloexport.targets.fedora.objects import OWN, FedoraObject
from siloexport.targets.fedora.sending import file_uri


def files_at(client: FedoraClient, uri: str) -> set[str]:
    """The addresses of the files that an object shows."""
    return contained(parsed(client.send("GET", uri, {"Accept": NT}).content))


def is_untouched(client: FedoraClient, there: FedoraObject) -> bool:
    """Whether an object has just the files that its description names, as they were sent.

    One may be lost: a server killed in a commit was seen to come back with the
    description and without a file, and with files that it did not list (6.0.0), so each is
    asked for. One may be others', which no token need tell: the description's state stays
    when a file changes, and the list of versions does too where it has two versions of one
    second once (6.5.1).

    A description goes last, so what is newer is somebody else's; dates of HTTP have
    whole seconds, so of a file from the description's own second the digest is asked.
    """
    described = _described(there)
    if not files_at(client, there.uri) <= described.keys():
        return False
    return all(
        _is_older(client, address, there.modified) or sha512_at(client, address) == sha512
        for address, sha512 in described.items()
    )


def is_part_of(client: FedoraClient, there: FedoraObject, before: str) -> bool:
    """Whether an object has no file but such as its description, or an earlier one, names.

    Args:
        before: The address of the version that was there before; ``""`` for none.
    """
    known = set(_described(there).items())
    if before and (answer := client.get_if_there(before, {"Accept": NT, "Prefer": OWN})):
        earlier = checksums(parsed(answer.content))
        known |= {(file_uri(there.uri, path), sha512) for path, sha512 in earlier.items()}
    addresses = files_at(client, there.uri) | _described(there).keys()
    found = {(address, sha512_at(client, address)) for address in addresses}
    return {(address, sha512) for address, sha512 in found if sha512} <= known


def sha512_at(client: FedoraClient, address: str) -> str:
    """A file's SHA-512 as Fedora computes it from the bytes stored; ``""`` for no file."""
    try:
        answer = client.send("HEAD", address, {"Want-Digest": "sha-512"})
    except (NotThere, Departed):
        return ""
    return digests(answer.headers.get("Digest", "")).get("sha-512", "unknown")


def _described(there: FedoraObject) -> dict[str, str]:
    """Address → SHA-512 of the files that an object's description names."""
    return {file_uri(there.uri, path): sha for path, sha in checksums(there.graph).items()}


def _is_older(client: FedoraClient, address: str, date: str) -> bool:
    answer = client.get_if_there(address, method="HEAD")
    if answer is None:
        return False
    file, description = http_date(answer.headers.get("Last-Modified", "")), http_date(date)
    return file is not None and description is not None and file < description
