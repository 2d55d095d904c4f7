"""The head of a response, as it was received (pure)."""

from dataclasses import dataclass
from functools import cached_property

from politeweb.answers import REDIRECTS


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
        """Return names and values in their order, as received; folded lines are joined."""
        found: list[tuple[bytes, bytes]] = []
        for line in self.raw.splitlines()[1:]:
            if line[:1] in {b" ", b"\t"} and found:
                name, value = found.pop()
                found.append((name, value + b" " + line.strip()))
            elif line.strip():
                name, _, value = line.partition(b":")
                found.append((name.strip(), value.strip()))
        return found

    def get(self, name: str) -> str:
        """Return the values of a field, joined by commas; empty without one.

        Args:
            name: In any case.
        """
        return self._values.get(name.lower(), "")

    @cached_property
    def _values(self) -> dict[str, str]:
        """Name of each field in lower case → its values, joined."""
        found: dict[str, str] = {}
        for name, value in self.fields:
            known, text = name.decode("latin-1").lower(), value.decode("latin-1")
            found[known] = f"{found[known]}, {text}" if known in found else text
        return found
