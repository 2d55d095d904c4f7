"""The collections of the PCDM layout: one for each set, made once, before its first member."""

import threading
from collections.abc import Callable, Iterator

from siloexport.errors import CannotTakeBack, Conflict, StillUsed
from siloexport.targets.fedora.answers import (
    Departed,
)
from siloexport.targets.fedora.client import NT, FedoraClient
from siloexport.targets.fedora.description import is_sealed, parsed, unlike
from siloexport.targets.fedora.layout import PCDM, LayingOut, sets_with_those_above
from siloexport.targets.fedora.objects import FedoraObject, read_object
from siloexport.targets.fedora.transaction import Transaction
from siloexport.targets.remote.errors import (
    ChangedMeanwhile,
    NotOfThisKind,
    NotThere,
)
from siloexport.values import Deposit, Difference

_OVER = {"Content-Type": NT, "Overwrite-Tombstone": "true"}
_INBOUND = "http://fedora.info/definitions/fcrepo#PreferInboundReferences"


class Collections:
    """The collections below one container. Several threads may use it.

    Args:
        client: To the server.
        laying_out: Describes them.
    """

    def __init__(self, client: FedoraClient, laying_out: LayingOut) -> None:
        self._client, self._laying_out = client, laying_out
        self._sound: set[str] = set()
        self._lock = threading.Lock()

    def make(self, deposit: Deposit, note: Callable[[str], None]) -> None:
        """Make the collections of a record, or bring their descriptions up to date.

        What others changed is kept, unless the deposit overwrites conflicts.

        Args:
            note: Called with the address of a collection before it is created.

        Raises:
            Conflict: One was deleted, and the server cannot create it again.
            RemoteError: One cannot be made.
        """
        for spec in sets_with_those_above(deposit.sets):
            with self._lock:
                if spec not in self._sound and self._made(spec, deposit, note):
                    self._sound.add(spec)

    def foresee(self, deposit: Deposit, root: str) -> None:
        """Find out whether `make` can create collections that were deleted; writes nothing.

        Args:
            root: Of the repository.

        Raises:
            Conflict: See `make`.
        """
        for spec in sets_with_those_above(deposit.sets):
            there = None if spec in self._sound or deposit.overwrite else self._read(spec)
            if there is None or not there.tombstone:
                continue
            transaction = Transaction.begin(self._client, root)
            try:
                transaction.send("PUT", there.uri, _OVER, self._laying_out.collection(spec))
            except Departed as error:
                raise _conflict(deposit, there) from error
            finally:
                transaction.abandon()

    def _read(self, spec: str) -> FedoraObject | None:
        return read_object(self._client, self._laying_out.collection_uri(spec))

    def _made(self, spec: str, deposit: Deposit, note: Callable[[str], None]) -> bool:
        """Make a collection if necessary; whether it is as it should be."""
        uri, body = self._laying_out.collection_uri(spec), self._laying_out.collection(spec)
        there = self._read(spec)
        if there is None:
            note(uri)
            self._create(uri, body)
        elif there.tombstone:
            self._create_again(there, body, deposit)
        elif not unlike(body, there.own, withdrawal=False):
            return True
        elif is_sealed(there.graph) or deposit.overwrite:
            headers = {"Content-Type": NT, "X-If-State-Token": there.state}
            self._client.send("PUT", uri, headers, body)
        else:
            return False
        if read_object(self._client, uri) is None:
            raise NotOfThisKind(204, uri, "was reported as written, but does not exist")
        return True

    def _create(self, uri: str, body: bytes) -> None:
        try:
            self._client.send("PUT", uri, {"Content-Type": NT, "If-None-Match": "*"}, body)
        except ChangedMeanwhile:
            return  # another run has just made it

    def _create_again(self, there: FedoraObject, body: bytes, deposit: Deposit) -> None:
        """Create a collection in place of its tombstone; 6.0.0 has to purge it first."""
        try:
            self._client.send("PUT", there.uri, _OVER, body)
        except Departed as error:
            if not deposit.overwrite:
                raise _conflict(deposit, there) from error
            self.purge(there.tombstone)
            self._create(there.uri, body)

    def differences(self, deposit: Deposit) -> Iterator[Difference]:
        """Yield the differences of the collections of a record.

        One that an export wrote is right, also under an earlier name of the set.
        """
        for spec in sets_with_those_above(deposit.sets):
            if spec in self._sound:
                continue
            uri, there = self._laying_out.collection_uri(spec), self._read(spec)
            if there is None or there.tombstone:
                detail = f"the collection of the set {spec} " + (
                    "was deleted" if there else "does not exist"
                )
                yield deposit.differs("missing", uri, detail)
                continue
            if not is_sealed(there.graph):
                detail = unlike(self._laying_out.collection(spec), there.own, withdrawal=False)
                yield deposit.differs("description", uri, detail)

    def take_back(self, uri: str, *, purge: bool) -> bool:
        """Delete a collection that a run created.

        Returns:
            Whether a tombstone is left.

        Raises:
            StillUsed: It has members.
            CannotTakeBack: It was changed since.
        """
        there = read_object(self._client, uri)
        if there is None:
            return False
        if not there.tombstone:
            if self._has_members(uri):
                raise StillUsed(f"{uri} has members, and is kept")
            if not is_sealed(there.graph):
                raise CannotTakeBack(f"{uri} was changed since the run, and is kept")
            self._client.send("DELETE", uri)
        if purge:
            self.purge(there.tombstone or f"{uri}/fcr:tombstone")
        return not purge

    def purge(self, tombstone: str) -> None:
        """Delete a tombstone, if it exists."""
        try:
            self._client.send("DELETE", tombstone)
        except NotThere:
            return

    def _has_members(self, uri: str) -> bool:
        prefer = f'return=representation; include="{_INBOUND}"'
        answer = self._client.send("GET", uri, {"Accept": NT, "Prefer": prefer})
        return any(str(term) == uri for term in parsed(answer.body).objects(None, PCDM.memberOf))


def _conflict(deposit: Deposit, there: FedoraObject) -> Conflict:
    return Conflict(
        deposit.identifier,
        f"the collection {there.uri} was deleted, and this server can create it again only if "
        "its history is purged; --on-conflict overwrite does that",
    )
