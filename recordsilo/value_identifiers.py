"""The identifiers that values of records have, such as the ORCID of a creator.

Packages that keep them contribute an `IdentifierSource`; exports write them where the format of
the target has a place for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recordsilo.contributions import ContributionBroken, contribution, points
from recordsilo.errors import RecordSiloError

GROUP = "recordsilo.identifiers"
_BASE_32 = "0123456789abcdefghjkmnpqrstvwxyz"


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
        read: Takes the Silo's directory and what gets a sentence on each identifier that has to
            be left out; returns what is known now. It raises `IdentifiersUnreadable` if that
            cannot be read.
    """

    name: str
    read: Callable[[str, Callable[[str], None]], IdentifiersOfValues]


def has_right_check_digit(number: str) -> bool:
    """Whether the last sign of an ORCID or ISNI fits the digits before it; hyphens do not count.

    Source: ISO 7064, MOD 11-2.
    """
    digits, total = number.replace("-", "").upper(), 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    return digits[-1] == "0123456789X"[(12 - total % 11) % 11]


def has_right_ror_digits(number: str) -> bool:
    """Whether the last two digits of a ROR, such as ``01ej9dk98``, fit the letters before them.

    Source: https://ror.readme.io/docs/identifier; ISO 7064, MOD 97-10; the letters are those of
    Base 32 by D. Crockford.
    """
    value = 0
    for sign in number.lower()[:-2]:
        if (place := _BASE_32.find(sign)) < 0:
            return False
        value = value * 32 + place
    return number[-2:].isdecimal() and (value * 100 + int(number[-2:])) % 97 == 1


def has_right_gnd_digit(number: str) -> bool:
    """Whether the last sign of a GND number fits the digits before it; hyphens do not count.

    A number with a hyphen may be from before 2012, when those of subjects and corporate bodies
    had the complement.

    Source: https://wiki.dnb.de/pages/viewpage.action?pageId=57901744.
    """
    digits = number.replace("-", "").upper()
    if not digits[:-1].isdecimal():
        return False
    rest = sum(int(one) * weight for weight, one in enumerate(digits[-2::-1], 2)) % 11
    signs = "0123456789X"
    right = {signs[-rest % 11], signs[rest]} if "-" in number else {signs[-rest % 11]}
    return digits[-1] in right


def identifiers_of_values(
    silo_path: str, told: Callable[[str], None] = lambda _sentence: None
) -> IdentifiersOfValues:
    """Return the identifiers that packages know; of several for a value, that of the first source.

    Args:
        told: Gets a sentence on each identifier that has to be left out.

    Raises:
        IdentifiersUnreadable: They cannot be read.
    """
    found: dict[str, dict[str, ValueIdentifier]] = {}
    for name in points(GROUP):
        try:
            source = contribution(GROUP, name, IdentifierSource)
        except ContributionBroken as error:
            raise IdentifiersUnreadable(str(error)) from error
        for field, values in source.read(silo_path, told).items():
            found[field] = {**values, **found.get(field, {})}
    return {field: values for field, values in found.items() if values}
