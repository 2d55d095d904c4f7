"""The identifiers that values of records have, such as the ORCID of a creator.

Packages that keep them contribute an `IdentifierSource`; exports write them where the format of
the target has a place for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recordsilo.contributions import ContributionBroken, contribution, points
from recordsilo.errors import RecordSiloError

GROUP = "recordsilo.identifiers"


class IdentifiersUnreadable(RecordSiloError):
    """The identifiers of values cannot be read; the message says what to mend."""


@dataclass(frozen=True, slots=True)
class ValueIdentifier:
    """The identifier of a person, an institution or a subject.

    Attributes:
        id: As its source writes it.
        scheme: What kind it is, such as ``ORCID``; empty if that is not known.
        address: As an address; empty if it has none.
        scheme_address: The beginning of the addresses of its kind; empty if the kind is unknown.
    """

    id: str
    scheme: str = ""
    address: str = ""
    scheme_address: str = ""

    @property
    def number(self) -> str:
        """The identifier without the beginning of its address, such as ``0000-0002-1825-0097``."""
        bare = self.address.removeprefix(self.scheme_address) if self.scheme_address else ""
        return bare or self.id


IdentifiersOfValues = Mapping[str, Mapping[str, ValueIdentifier]]
"""Field (``creator``, ``contributor``, ``publisher``, ``subject``) → value → its identifier."""


@dataclass(frozen=True, slots=True)
class IdentifierSource:
    """Where identifiers of values come from.

    Attributes:
        name: The entry point's name.
        read: Takes the Silo's directory, returns what is known now. It raises
            `IdentifiersUnreadable` if that cannot be read.
    """

    name: str
    read: Callable[[str], IdentifiersOfValues]


def has_right_check_digit(number: str) -> bool:
    """Whether the last sign of an ORCID or ISNI fits the digits before it; hyphens do not count.

    Source: ISO 7064, MOD 11-2.
    """
    digits, total = number.replace("-", "").upper(), 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    return digits[-1] == "0123456789X"[(12 - total % 11) % 11]


def identifiers_of_values(silo_path: str) -> IdentifiersOfValues:
    """Return the identifiers that packages know; of several for a value, that of the first source.

    Raises:
        IdentifiersUnreadable: They cannot be read.
    """
    found: dict[str, dict[str, ValueIdentifier]] = {}
    for name in points(GROUP):
        try:
            source = contribution(GROUP, name, IdentifierSource)
        except ContributionBroken as error:
            raise IdentifiersUnreadable(str(error)) from error
        for field, values in source.read(silo_path).items():
            found[field] = {**values, **found.get(field, {})}
    return {field: values for field, values in found.items() if values}
