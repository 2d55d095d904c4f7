"""The identifiers listed, each once, with their outcomes (pure).

Windows overlap, lists are restarted, pages repeat; so identifiers are counted. An identifier counts
where it is first listed. Later it is a duplicate, unless the harvester itself requested the same
part of the list again.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import compress
from operator import not_

from oaipmhclient.pages.requests_and_pages import ListPage, SetAside
from oaipmhclient.walk.identifier_set import IdentifierSet, digest
from oaipmhprotocol import Record
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.storing.silo_writer import PageOutcome

LOSSES = (Outcome.QUARANTINED, Outcome.UNREACHABLE)


@dataclass(frozen=True, slots=True)
class Loss:
    """A record that is listed but not stored.

    Attributes:
        kind: Quarantined or unreachable.
        what: Which record, why, and where it was; `quarantine` stores its bytes.
    """

    kind: Outcome
    what: SetAside


@dataclass(frozen=True, slots=True)
class PageTally:
    """The contribution of a page to the numbers of its list.

    Attributes:
        outcomes: Differences; a record that is no longer lost subtracts one from its earlier
            outcome.
        digests: The concatenated digests of new identifiers.
        lost: New losses.
        found: Identifiers of earlier losses that are stored now.
    """

    outcomes: Counter[Outcome]
    digests: bytes
    lost: tuple[Loss, ...]
    found: tuple[str, ...]


class ListedIdentifiers:
    """The identifiers of one list.

    Args:
        digests: The digests so far, from an earlier process.
        lost: The losses so far.
    """

    def __init__(self, digests: Iterable[bytes] = (), lost: Iterable[Loss] = ()) -> None:
        self.known = IdentifierSet()
        for each in digests:
            self.known.add_digests(each)
        self._lost = {_key(loss.what): loss for loss in lost}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Return the records listed but not stored, in order of occurrence."""
        return tuple(self._lost.values())

    @property
    def lost(self) -> Container[str]:
        """Return the identifiers listed and lost; records without one have another key."""
        return self._lost.keys()

    @property
    def stored(self) -> Container[str]:
        """Return the identifiers listed and not lost, which need not be requested otherwise.

        Other threads may read it while pages are counted.
        """
        return _KnownIdentifiers(self.known, self._lost)

    def count(
        self,
        page: ListPage[Record],
        stored: PageOutcome,
        unreachable: Iterable[SetAside] = (),
        *,
        relists: bool = False,
        gone: Iterable[str] = (),
    ) -> PageTally:
        """Add a stored page.

        Args:
            page: As read; its ``set_aside`` counts as quarantined.
            stored: The outcomes of its items.
            unreachable: Identifiers from another list that are not available.
            relists: Whether the harvester requested this part again; then a known identifier is
                not a duplicate.
            gone: Identifiers lost before that no longer exist; they are no longer counted.
        """
        lost = {_key(loss.what): loss for loss in _losses(page, stored, unreachable)}
        entries = [*stored.became]
        if lost:  # those that could not be stored may be among what became
            entries = [entry for entry in entries if entry[1] not in LOSSES]
            entries += [(key, loss.kind) for key, loss in lost.items()]
        digests = [digest(key) for key, _ in entries]
        found: list[str] = []
        news = self.known.add_digests(b"".join(digests))
        outcomes = _numbers([outcome for _, outcome in compress(entries, news)])
        for key, outcome in compress(entries, map(not_, news)):
            if key in self._lost and outcome not in LOSSES:
                outcomes[self._lost.pop(key).kind] -= 1
                outcomes[outcome] += 1
                found.append(key)
            elif not relists:
                outcomes[Outcome.DUPLICATE] += 1
            lost.pop(key, None)
        for key in gone:
            if key in self._lost:
                outcomes[self._lost.pop(key).kind] -= 1
                found.append(key)
        kept = {key: replace(loss, what=replace(loss.what, raw=b"")) for key, loss in lost.items()}
        self._lost |= kept
        return PageTally(
            outcomes, b"".join(compress(digests, news)), tuple(kept.values()), tuple(found)
        )


class _KnownIdentifiers:
    """The known identifiers without the lost ones."""

    def __init__(self, known: IdentifierSet, lost: Container[str]) -> None:
        self._known = known
        self._lost = lost

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._known and identifier not in self._lost


def _numbers(outcomes: list[Outcome]) -> Counter[Outcome]:
    """Count outcomes; those of most pages are the same, and need no look at each."""
    first = outcomes[:1]
    if outcomes == first * len(outcomes):
        return Counter(dict.fromkeys(first, len(outcomes)))
    return Counter(outcomes)


def _losses(
    page: ListPage[Record], stored: PageOutcome, unreachable: Iterable[SetAside]
) -> Iterator[Loss]:
    for one in (*page.set_aside, *stored.quarantined):
        yield Loss(Outcome.QUARANTINED, one)
    for one in unreachable:
        yield Loss(Outcome.UNREACHABLE, one)


def _key(one: SetAside) -> str:
    """Return the key of a loss: its identifier, or else its bytes."""
    if one.identifier:
        return one.identifier
    told = one.raw or f"{one.reason} {one.where}".encode("utf-8", "surrogatepass")
    return f"\0{blake2b(told, digest_size=16).hexdigest()}"
