"""The head of a response, as it was received (pure)."""

from dataclasses import dataclass
from functools import cached_property

from politeweb.answers import REDIRECTS

_SINGLE = frozenset(
    {
        "age", "content-disposition", "content-location", "content-range", "content-type", "date",
        "etag", "expires", "last-modified", "location", "retry-after",
    }
)  # fmt: skip
"""Fields that are no lists: of several, the first holds."""


@dataclass(frozen=True)
class ResponseHead:
    """The head of a response.

    Attributes:
        raw: Status line and fields as received, with the empty line at the end.
    """

    status: int
    raw: bytes

    @property
    def location(self) -> str:
        """Return the target of a redirect as sent; empty without one."""
        return self.get("location") if self.status in REDIRECTS else ""

    @property
    def fields(self) -> list[tuple[bytes, bytes]]:
        """Return names and values in their order, as received.

        Folded lines are joined. A CR that ends no line is a space (RFC 9112, section 2.2).
        """
        found: list[tuple[bytes, bytes]] = []
        for line in self.raw.replace(b"\r", b" ").split(b"\n")[1:]:
            if line[:1] in {b" ", b"\t"} and found:
                if rest := line.strip():
                    name, value = found.pop()
                    found.append((name, value + b" " + rest))
            elif line.strip():
                name, _, value = line.partition(b":")
                found.append((name.strip(), value.strip()))
        return found

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Return names and values in their order; of fields that are no lists, the first."""
        found: list[tuple[str, str]] = []
        seen: set[str] = set()
        for name, value in self.fields:
            text = name.decode("latin-1")
            known = text.lower()
            if known not in seen or known not in _SINGLE:
                found.append((text, value.decode("latin-1")))
            seen.add(known)
        return found

    def get(self, name: str) -> str:
        """Return the values of a field, joined by commas; empty without one.

        Of a field that is no list, such as Location, it is the first.

        Args:
            name: In any case.
        """
        return self.values.get(name.lower(), "")

    @cached_property
    def values(self) -> dict[str, str]:
        """Name of each field in lower case → its values, joined; see `get`."""
        found: dict[str, str] = {}
        for name, text in self.texts:
            known = name.lower()
            found[known] = f"{found[known]}, {text}" if known in found else text
        return found
