"""Write a request's arguments as a URL's query (OAI-PMH 2.0, sections 3.1.1.1 and 3.1.1.3)."""

import re
from collections.abc import Mapping
from urllib.parse import quote


class Verbatim(str):
    """A value that is sent without percent-encoding.

    For resumption tokens of servers that do not decode queries (dash.harvard.edu), or that issue
    encoded tokens (pyoai's server). Only characters that are invalid in a query are encoded.
    """

    __slots__ = ()


_HELD_BY_A_QUERY = "!$%&'()*+,/:;=?@[]~"


def query_string(params: Mapping[str, str]) -> str:
    """Percent-encode parameters, except letters, digits and ``-._~`` (section 3.1.1.3).

    A space is ``%20``, never ``+``: 60 of 171 pages recorded from real repositories have tokens
    with characters that some servers read differently. `Verbatim` values are not encoded.
    """
    return "&".join(
        f"{quote(name, safe='')}="
        + quote(value, safe=_HELD_BY_A_QUERY if isinstance(value, Verbatim) else "")
        for name, value in params.items()
    )


_END = r"[:;,.]?(?:[&\s]|$)"
_LONG_TOKEN = re.compile(rf"(resumptionToken=[^&\s]{{12}})(?!{_END})[^&\s]+?(?={_END})")


def with_short_tokens(text: str) -> str:
    """Return a message for people: of each resumption token in a query, 12 characters are left."""
    return _LONG_TOKEN.sub(r"\1…", text)
