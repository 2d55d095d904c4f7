"""Where in the repository an export goes: its root found, the containers above it made."""

from urllib.parse import urlsplit

from siloexport.targets.fedora.answers import (
    TRANSACTIONS,
    ChangedMeanwhile,
    Departed,
    FedoraError,
    NotFedora,
    NotThere,
    Refused,
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


def find_root(client: FedoraClient, url: str) -> str:
    """The repository's root, without a slash at its end: it links to where transactions begin.

    Raises:
        FedoraError: No such place at or above the address, or no answer.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise FedoraError(0, url, "it is no http or https address")
    answered = ""
    for candidate in candidates(url):
        try:
            answer = client.send("HEAD", f"{candidate}/")
        except NotFedora as error:
            answered = answered or f"; {error}"
            continue
        except (NotThere, Departed, Refused):
            continue
        if linked(answer.headers.get("Link", ""), TRANSACTIONS):
            return candidate
    raise FedoraError(0, url, f"there is no Fedora 6 or later at this address{answered}")


def check_container(client: FedoraClient, root: str, url: str) -> None:
    """Whether records can be put at an address: a container, or nothing yet.

    Raises:
        FedoraError: A file, an Archival Group or a tombstone is there, or above.
    """
    for above in _from_the_top(root, url):
        try:
            answer = client.send("HEAD", above)
        except NotThere:
            return
        types = linked(answer.headers.get("Link", ""), "type")
        if ARCHIVAL_GROUP in types or BINARY in types:
            kind = "an Archival Group" if ARCHIVAL_GROUP in types else "a file"
            raise FedoraError(0, above, f"it is {kind}; records go into a plain container")


def make_containers(client: FedoraClient, root: str, url: str) -> None:
    """Make the containers on the way to an address, from the top down.

    Fedora would make do without, and could then never make them: the way to a resource
    is immutable.
    """
    for above in _from_the_top(root, url):
        try:
            client.send("HEAD", above)
        except NotThere:
            headers = {"Content-Type": "text/turtle", "If-None-Match": "*"}
            try:
                client.send("PUT", above, headers)
            except ChangedMeanwhile:
                continue  # made by another run, this moment
            client.send("HEAD", above)  # it is there, or it was not Fedora that answered


def _from_the_top(root: str, url: str) -> list[str]:
    segments = segments_below(root, url)
    return [joined(root, *segments[: count + 1]) for count in range(len(segments))]
