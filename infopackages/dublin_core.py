"""A description in Dublin Core, as simple as it is understood everywhere.

Source: Dublin Core Metadata Element Set 1.1; the schema of oai_dc.
"""

from collections.abc import Iterable
from typing import IO

from infopackages.elements import document, element

NAMESPACE = "http://purl.org/dc/elements/1.1/"
_ROOT = "http://www.openarchives.org/OAI/2.0/oai_dc/"


def write_dublin_core(out: IO[bytes], fields: Iterable[tuple[str, str]]) -> None:
    """Write a description: names of elements, such as ``title``, with a value, in order."""
    prefixes = {"oai_dc": _ROOT, None: NAMESPACE}
    with document(out, f"{{{_ROOT}}}dc", prefixes, {}) as root:
        for name, value in fields:
            root.write(element(name, value))
