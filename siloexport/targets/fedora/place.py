"""Find the repository's root, and make the containers for an export."""

from politeweb.addresses import parts_of
from siloexport.targets.fedora.answers import (
    TRANSACTIONS,
    Departed,
    linked,
)
from siloexport.targets.fedora.client import (
    ARCHIVAL_GROUP,
    BINARY,
    FedoraClient,
    candidates,
    joined,
    segments_below,
)
from siloexport.targets.remote.errors import (
    ChangedMeanwhile,
    NotOfThisKind,
    NotThere,
    Refused,
    RemoteError,
)


def find_root(client: FedoraClient, url: str) -> str:
    """Find the repository's root, which links to the address for transactions.

    Returns:
        Its address, without a slash at the end.

    Raises:
        RemoteError: There is no root at or above the address, or no answer.
    """
    parts = parts_of(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise RemoteError(0, url, "it is not an http or https address")
    answered = ""
    for candidate in candidates(url):
        try:
            answer = client.send("HEAD", f"{candidate}/")
        except NotOfThisKind as error:
            answered = answered or f"; {error}"
            continue
        except (NotThere, Departed, Refused):
            continue
        if linked(answer.headers.get("Link", ""), TRANSACTIONS):
            return candidate
    raise RemoteError(0, url, f"there is no Fedora 6 or later at this address{answered}")


def check_container(client: FedoraClient, root: str, url: str) -> bool:
    """Check that records can be written at an address: a container, or nothing yet.

    Args:
        client: To the server.
        root: The repository's root.

    Returns:
        Whether the container exists.

    Raises:
        RemoteError: There is a file, an Archival Group or a tombstone at or above the address.
    """
    for above in _from_the_top(root, url):
        try:
            answer = client.send("HEAD", above)
        except NotThere:
            return False
        types = linked(answer.headers.get("Link", ""), "type")
        if ARCHIVAL_GROUP in types or BINARY in types:
            kind = "an Archival Group" if ARCHIVAL_GROUP in types else "a file"
            raise RemoteError(0, above, f"it is {kind}; records go into a plain container")
    return True


def make_containers(client: FedoraClient, root: str, url: str) -> None:
    """Make the containers above an address, from the top down.

    Fedora accepts resources without them, but then they can never be made: the path to a
    resource is immutable.

    Args:
        client: To the server.
        root: The repository's root.

    Raises:
        RemoteError: A container cannot be made.
    """
    for above in _from_the_top(root, url):
        try:
            client.send("HEAD", above)
        except NotThere:
            headers = {"Content-Type": "text/turtle", "If-None-Match": "*"}
            try:
                client.send("PUT", above, headers)
            except ChangedMeanwhile:
                continue  # another run has just made it
            client.send("HEAD", above)  # raises if the answer did not come from Fedora


def _from_the_top(root: str, url: str) -> list[str]:
    segments = segments_below(root, url)
    return [joined(root, *segments[: count + 1]) for count in range(len(segments))]
