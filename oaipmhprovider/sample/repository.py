"""The sample repository as a record source: every record is computed from its number."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from oaipmhprotocol import (
    CannotDisseminateFormat,
    Granularity,
    Header,
    IdDoesNotExist,
    Identify,
    MetadataFormat,
    Record,
    Set,
)
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprotocol.words import PROTOCOL_VERSION, XSI_NAMESPACE, DeletedRecord
from oaipmhprovider.sample.compose import SampleWork, compose
from oaipmhprovider.sample.documents import FORMATS, document, provenance
from oaipmhprovider.sample.mishaps import is_entered_twice, with_mishap
from oaipmhprovider.sample.pages import linked
from oaipmhprovider.sample.sets import sample_sets, set_specs_of
from oaipmhprovider.sample.traits import (
    BATCH_DAY,
    Traits,
    changed_at,
    deposited_on,
    traits_of,
    traits_of_code,
)
from oaipmhprovider.source import Position, Selection, lies_in

HOST = "eprints.example.org"
DEFAULT_BASE_URL = f"http://{HOST}/cgi/oai2"
DEFAULT_SIZE = 3200
LARGEST_SIZE = 1_000_000

_NUMBER_BITS = 24
_NUMBER_MASK = (1 << _NUMBER_BITS) - 1
_KEPT_LISTS = 32
_PASSED_ON_OF = 8


class SampleRepository:
    """A `RecordSource`: a made-up university's EPrints repository.

    It needs eight bytes of memory for each record, and the same for each record of a recently
    requested format or set. All record numbers have the same number of digits, so that
    identifiers sort like numbers. A list is stored as one integer for each record: the seconds of
    its datestamp, then its number.

    Attributes:
        site: Where the pages of its works are served; empty if they are not.
    """

    site = ""

    def __init__(self, size: int, base_url: str, granularity: Granularity, host: str) -> None:
        self.size = size
        self._granularity = granularity
        self._stem = f"oai:{host}:"
        self._first = _first_number(size)
        self._all = array("q", sorted(self._key(index) for index in range(size)))
        self._identity = _identity(base_url, granularity, host, self._first, self._earliest())
        self._sets = sample_sets()
        self._list_of = lru_cache(maxsize=_KEPT_LISTS)(self._make_list)
        self._codes: array[int] | None = None

    # --- the source

    def identify(self) -> Identify:
        """With pages, it is another repository."""
        if not self.site:
            return self._identity
        name = f"{self._identity.repository_name} with Documents"
        described = [one.replace(b"There are no files behind", b"There are files behind")
                     for one in self._identity.descriptions]  # fmt: skip
        return replace(self._identity, repository_name=name, descriptions=tuple(described))

    def formats(self) -> Sequence[MetadataFormat]:
        return FORMATS

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        """See `RecordSource.formats_of`; a deleted item keeps its formats."""
        prefixes = traits_of(self._number(identifier)).prefixes
        return [one for one in FORMATS if one.prefix in prefixes]

    def sets(self) -> Sequence[Set]:
        return self._sets

    def record(self, identifier: str, prefix: str) -> Record:
        number = self._number(identifier)
        if prefix not in traits_of(number).prefixes:
            raise CannotDisseminateFormat("the item is not available in this metadata format")
        return self._record(self._key(number - self._first), prefix)

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        return [self._header(key) for key in self._slice(selection, after, limit)]

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        keys = self._slice(selection, after, limit)
        return [self._record(key, selection.prefix) for key in keys]

    def count(self, selection: Selection) -> int:
        begin, end = self._bounds(self._list_of(selection.prefix, selection.set_spec), selection)
        return max(0, end - begin)

    # --- one record

    def _number(self, identifier: str) -> int:
        digits = identifier.removeprefix(self._stem)
        if self._stem + digits == identifier and digits.isascii() and digits.isdecimal():
            number = int(digits[:_NUMBER_BITS])
            known = self._first <= number < self._first + self.size
            if known and str(number) == digits:
                return number
        raise IdDoesNotExist("there is no item with this identifier")

    def _key(self, index: int) -> int:
        number = self._first + index
        moment = changed_at(number, index, self.size)
        if self._granularity is Granularity.DAY:
            moment -= moment % 86_400
        return moment << _NUMBER_BITS | number

    def _position(self, key: int) -> Position:
        return Position(self._datestamp(key), f"{self._stem}{key & _NUMBER_MASK}")

    def _datestamp(self, key: int) -> str:
        moment = datetime.fromtimestamp(key >> _NUMBER_BITS, UTC)
        return format_datestamp(moment, self._granularity)

    def _header(self, key: int, traits: Traits | None = None) -> Header:
        traits = traits or traits_of(key & _NUMBER_MASK)
        place = self._position(key)
        return Header(place.identifier, place.datestamp, set_specs_of(traits), traits.deleted)

    def _record(self, key: int, prefix: str) -> Record:
        number = key & _NUMBER_MASK
        traits = traits_of(number)
        header = self._header(key, traits)
        if traits.deleted:
            return Record(header)
        work = self._work(number, traits)
        work = linked(work, self.site) if self.site else work
        return Record(header, document(work, prefix), self._about(key))

    def work(self, number: int) -> SampleWork | None:
        """The work with a number; None if there is none, or it was deleted."""
        if not self._first <= number < self._first + self.size or traits_of(number).deleted:
            return None
        return self._work(number, traits_of(number))

    def _work(self, number: int, traits: Traits) -> SampleWork:
        """The work as it was entered; some are entered twice, by two of their authors."""
        deposited = deposited_on(number - self._first, self.size)
        before = traits_of(number - 1) if is_entered_twice(number) else traits
        if before.kind != traits.kind or before.deleted or number == self._first:
            before = traits
        if before is traits:
            return with_mishap(compose(number, traits, deposited))
        return replace(compose(number - 1, before, deposited), number=number, doi=None)

    def _about(self, key: int) -> tuple[bytes, ...]:
        """Return the about containers: some of the batch-loaded records have a provenance."""
        moment = datetime.fromtimestamp(key >> _NUMBER_BITS, UTC)
        number = key & _NUMBER_MASK
        if moment.date() != BATCH_DAY.date() or number % _PASSED_ON_OF:
            return ()
        harvested = format_datestamp(moment, Granularity.SECOND)
        changed = format_datestamp(moment - timedelta(days=number % 900), Granularity.SECOND)
        return (provenance(f"oai:college.example.org:{number % 10_000}", harvested, changed),)

    # --- lists

    def _earliest(self) -> str:
        return self._datestamp(self._all[0])

    def _slice(self, selection: Selection, after: Position | None, limit: int) -> Sequence[int]:
        keys = self._list_of(selection.prefix, selection.set_spec)
        begin, end = self._bounds(keys, selection)
        if after is not None:
            begin = max(begin, bisect_right(keys, after, key=self._position))
        return keys[begin : min(end, begin + limit)]

    def _bounds(self, keys: Sequence[int], selection: Selection) -> tuple[int, int]:
        begin, end = 0, len(keys)
        if selection.from_ is not None:
            begin = bisect_left(keys, selection.from_, key=self._datestamp)
        if selection.until is not None:
            end = bisect_right(keys, selection.until, key=self._datestamp)
        return begin, end

    def _make_list(self, prefix: str, set_spec: str | None) -> Sequence[int]:
        if prefix == "oai_dc" and set_spec is None:
            return self._all
        codes = self._trait_codes()
        wanted = {code for code in set(codes) if _matches(traits_of_code(code), prefix, set_spec)}
        first = self._first
        return array("q", [k for k in self._all if codes[(k & _NUMBER_MASK) - first] in wanted])

    def _trait_codes(self) -> Sequence[int]:
        if self._codes is None:
            numbers = range(self._first, self._first + self.size)
            self._codes = array("H", (traits_of(number).code for number in numbers))
        return self._codes


def sample_repository(
    size: int = DEFAULT_SIZE,
    *,
    base_url: str = DEFAULT_BASE_URL,
    granularity: Granularity = Granularity.SECOND,
    host: str = HOST,
) -> SampleRepository:
    """Return the sample repository: deterministic, read-only, composed on request.

    Args:
        size: Number of records, including deleted ones; 1 to 1,000,000.
        base_url: The baseURL of Identify, unless the provider's settings have one.
        granularity: Of datestamps.
        host: The namespace of identifiers, ``oai:<host>:<number>``.
    """
    if not 1 <= size <= LARGEST_SIZE:
        raise ValueError(f"the sample repository has 1 to {LARGEST_SIZE} records, not {size}")
    return SampleRepository(size, base_url, granularity, host)


def _first_number(size: int) -> int:
    first = 3000
    while len(str(first + size - 1)) > len(str(first)):
        first *= 10
    return first


def _matches(traits: Traits, prefix: str, set_spec: str | None) -> bool:
    if prefix not in traits.prefixes:
        return False
    return set_spec is None or any(lies_in(spec, set_spec) for spec in set_specs_of(traits))


def _identity(
    base_url: str, granularity: Granularity, host: str, first: int, earliest: str
) -> Identify:
    return Identify(
        repository_name="Wexcombe Research Repository",
        base_url=base_url,
        protocol_version=PROTOCOL_VERSION,
        admin_emails=(f"eprints-admin@{host}",),
        earliest_datestamp=earliest,
        deleted_record=DeletedRecord.PERSISTENT,
        granularity=granularity,
        descriptions=tuple(_descriptions(host, first)),
    )


def _descriptions(host: str, first: int) -> Iterable[bytes]:
    """Return the description containers of a repository of EPrints."""
    yield (
        '<eprints xmlns="http://www.openarchives.org/OAI/1.1/eprints"'
        f' xmlns:xsi="{XSI_NAMESPACE}"'
        ' xsi:schemaLocation="http://www.openarchives.org/OAI/1.1/eprints'
        ' http://www.openarchives.org/OAI/1.1/eprints.xsd">'
        "<content><text>Research of the University of Wexcombe, a university that does not"
        " exist: articles, theses &amp; more, made up so that harvesters have something to"
        " harvest.</text></content>"
        "<metadataPolicy><text>The metadata may be re-used freely.</text></metadataPolicy>"
        "<dataPolicy><text>There are no files behind the records.</text></dataPolicy>"
        "<submissionPolicy><text>Members of the University deposit their own work."
        "</text></submissionPolicy>"
        "<comment>Generated by numbers.</comment></eprints>"
    ).encode()
    namespace = "http://www.openarchives.org/OAI/2.0/oai-identifier"
    yield (
        f'<oai-identifier xmlns="{namespace}" xmlns:xsi="{XSI_NAMESPACE}"'
        f' xsi:schemaLocation="{namespace} {namespace}.xsd"><scheme>oai</scheme>'
        f"<repositoryIdentifier>{host}</repositoryIdentifier><delimiter>:</delimiter>"
        f"<sampleIdentifier>oai:{host}:{first}</sampleIdentifier></oai-identifier>"
    ).encode()
