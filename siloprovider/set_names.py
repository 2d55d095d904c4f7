"""Names of ours as setSpecs, which have fewer characters (pure).

Source: OAI-PMH 2.0, section 2.6, *Set*.
"""

import re
from collections.abc import Iterable

SEARCH = "search."
"""What the setSpec of a saved search begins with."""
_OTHER = re.compile(rb"[^A-Za-z0-9\-_.!*'()]")


def spec_of_name(name: str) -> str:
    """A name as one level of a setSpec: other characters as ``~`` and their bytes in UTF-8.

    No two names become one.
    """
    written = _OTHER.sub(
        lambda found: b"~%02X" % found[0][0], name.encode("utf-8", "surrogatepass")
    )
    return written.decode("ascii")


def spec_of_search(name: str) -> str:
    """The setSpec of a saved search."""
    return SEARCH + spec_of_name(name)


def with_parents(specs: Iterable[str]) -> dict[str, None]:
    """The sets and those above them, each once."""
    found: dict[str, None] = {}
    for spec in specs:
        parts = spec.split(":")
        found.update(dict.fromkeys(":".join(parts[: end + 1]) for end in range(len(parts))))
    return found
