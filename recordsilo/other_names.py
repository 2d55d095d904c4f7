"""Records named by a DOI, a handle, or the address of their page at the source.

The index finds what the descriptions call identifiers. A page that a record only links to, as
EPrints does, is found if its address ends with the record's short identifier
(``https://eprints.example.org/6102/``), and if the record's metadata has this address.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Protocol
from urllib.parse import urlsplit

from recordsilo.errors import RecordSiloError
from recordsilo.formats import canonical_identifier, links_of, persistent_identifier
from recordsilo.records.description import metadata_paths


class _Records(Protocol):
    """What is needed of a Silo."""

    def identified(self, spellings: Sequence[str]) -> list[str]: ...
    def exists(self, identifier: str) -> bool: ...
    def get(self, identifier: str) -> Any: ...


_NEVER = re.compile("[\0\ud800-\udfff]")
_SCHEMES = ("https://", "http://")


def may_be_other_name(text: str) -> bool:
    """Whether a text is a DOI, a handle or an address."""
    if _NEVER.search(text):
        return False
    return text.lower().startswith(_SCHEMES) or persistent_identifier(text) is not None


def records_named(silo: _Records, text: str) -> list[str]:
    """The full identifiers of the records that have such a name, sorted.

    Args:
        silo: Where they are.
        text: See `may_be_other_name`; ``http`` and ``https`` are the same, case does not count,
            nor does a slash at the end.

    Raises:
        IndexProblem: The index cannot be used now.

    Cost: a phrase in the index; for addresses also a few records that are read.
    """
    wanted = canonical_identifier(text)
    found = {one for one in silo.identified(_spellings(wanted)) if silo.exists(one)}
    if wanted == text:
        found.update(_linking(silo, text))
    return sorted(found)


def _spellings(text: str) -> tuple[str, ...]:
    if (rest := _without_scheme(text)) is None:
        return (text,)
    return tuple(f"{scheme}{rest}{slash}" for scheme in _SCHEMES for slash in ("", "/"))


def _without_scheme(address: str) -> str | None:
    scheme = next((one for one in _SCHEMES if address.lower().startswith(one)), None)
    return None if scheme is None else address[len(scheme) :].rstrip("/")


def _linking(silo: _Records, address: str) -> Iterator[str]:
    """Records whose short identifier is at the end of an address that they link to."""
    wanted = {one.casefold() for one in _spellings(address)}
    for short in _ends(address):
        try:
            record = silo.get(short)
            if record is None:
                continue
            version = record.state.current
            for path in metadata_paths(version):
                with record.get_stream(path, version.name) as file:
                    links = links_of(path, file.read())
                if any(link.url.casefold() in wanted for link in links):
                    yield record.item_id
        except RecordSiloError:  # reading the record itself reports what is wrong
            continue


def _ends(address: str) -> Iterator[str]:
    """The last part of an address' path, its last two parts, and so on."""
    try:
        parts = urlsplit(address).path.strip("/").split("/")
    except ValueError:
        return
    for length in count(1):
        if length > len(parts) or not all(parts):
            return
        yield "/".join(parts[-length:])
