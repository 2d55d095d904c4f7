"""Lists of seeds: an address, a tab, and the identifier of the record that links to it.

Several records may have the same address, and a record several addresses. The text after a
second tab is ignored; `silo crawl seeds` writes the kind of the link there.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Any

from crawlmatch.errors import BadAddress, NoAddresses
from crawlmatch.inputs import columns, file_digest
from crawlmatch.receipts import InputKind, InputReceipt
from crawlmatch.uris import heritrix_form, host_of, is_plain, replaced_form, whatwg_form
from recordsilo.formats import Link
from silosteps.engine import Engine
from silosteps.inputs import STDIN, open_input
from silosteps.lines import blocks

COLUMNS = ("url", "identifier", "heritrix", "whatwg", "replaced")
"""Of the table ``seed_given``: a seed row, and the forms of its address."""
_BLOCK = 2 << 20
"""Bytes of a list at once: each row and its forms take many times as much in Python."""
_ROWS = 50_000
_MANY_ENDS = re.compile(rb"\n{2,}")


def forms(address: str) -> tuple[str, str, str]:
    """Return the forms of an address in Heritrix and in browsers; "" if it has none.

    The second is also "" if both are equal. The third is that of Heritrix with U+FFFD for each
    byte that is not ASCII, "" if there is none.
    """
    if is_plain(address):
        return address, "", ""
    try:
        heritrix = heritrix_form(address)
    except BadAddress:
        return "", "", ""
    try:
        whatwg = whatwg_form(address)
    except BadAddress:
        whatwg = ""
    return heritrix, "" if whatwg == heritrix else whatwg, replaced_form(address)


def read_seeds(engine: Engine, name: str) -> InputReceipt:
    """Read a list of seeds into the table ``seed_row``.

    Bytes that are not UTF-8 become U+FFFD, as in Heritrix.

    Raises:
        InputUnreadable: It does not exist, or is truncated.
        NoAddresses: It has seeds, and none is an address.
    """
    digest = hashlib.sha256()
    lines, seeds, addresses, reasons = 0, 0, 0, {"blank": 0, "too-long": 0}
    with open_input(name) as stream:
        for block in blocks(stream, size=_BLOCK):
            if name == STDIN:
                digest.update(block.data)
            lines += block.lines
            if block.cut:
                reasons["too-long"] += 1
                continue
            text = _MANY_ENDS.sub(b"\n", block.data).decode("utf-8", "replace")
            rows = map(_row, text.split("\n"))
            known = [row for row in rows if row is not None]
            reasons["blank"] += block.lines - len(known)
            seeds += len(known)
            addresses += sum(bool(heritrix) for _url, _of, heritrix, *_others in known)
            _add(engine, known)
    if seeds and not addresses:
        raise NoAddresses(name, seeds)
    found, size = (digest.hexdigest(), -1) if name == STDIN else file_digest(name)
    told = {reason: count for reason, count in reasons.items() if count}
    return InputReceipt(name, InputKind.SEEDS, found, size, lines, told)


def add_seeds(engine: Engine, rows: Iterable[tuple[str, str]]) -> int:
    """Add (address, identifier) rows to the table ``seed_row``; return their number."""
    left, count = iter(rows), 0
    while some := [(url, of, *forms(url)) for url, of in islice(left, _ROWS)]:
        _add(engine, some)
        count += len(some)
    return count


def _row(line: str) -> tuple[str, ...] | None:
    url, _, rest = line.partition("\t")
    url = url.strip(" \r")
    if not url:
        return None
    return (url, rest.partition("\t")[0].strip(), *forms(url))


def _add(engine: Engine, rows: list[Any]) -> None:
    if rows:
        engine.table("seed_given", columns(COLUMNS, rows))
        engine.run("add_seeds")


# -- the links of records ---------------------------------------------------------------


class LinkKind(StrEnum):
    """What a link of a record leads to, judged by the link alone."""

    FULLTEXT = "fulltext"
    DOI = "doi"
    LANDING = "landing"


@dataclass(frozen=True, slots=True)
class SeedLink:
    """A link of a record."""

    url: str
    identifier: str
    kind: LinkKind

    def line(self) -> str:
        """Return the link as a line of a list of seeds."""
        return f"{self.url}\t{self.identifier}\t{self.kind}\n"


_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org", "www.doi.org", "hdl.handle.net"})
_DOCUMENTS = (".pdf", ".ps", ".ps.gz", ".doc", ".docx", ".odt", ".rtf", ".epub", ".djvu", ".tex")
_DOWNLOADS = ("/bitstream/", "/bitstreams/", "/download/", "/content/", "/viewcontent.cgi")


def kind_of_link(link: Link) -> LinkKind:
    """Return the kind of a link, by its host, the metadata's media type and its path."""
    if host_of(link.url).lower() in _DOI_HOSTS:
        return LinkKind.DOI
    if link.type:
        is_page = link.type in {"text/html", "application/xhtml+xml"}
        return LinkKind.LANDING if is_page else LinkKind.FULLTEXT
    path = link.url.lower().partition("?")[0].partition("#")[0]
    is_file = path.endswith(_DOCUMENTS) or any(part in path for part in _DOWNLOADS)
    return LinkKind.FULLTEXT if is_file else LinkKind.LANDING


def seed_links(identifier: str, links: Iterable[Link]) -> Iterator[SeedLink]:
    """Return a record's links in order, each address once, without those of schemas."""
    seen: set[str] = set()
    for link in chain(links):
        if link.url not in seen and not link.field.endswith("schemaLocation"):
            seen.add(link.url)
            yield SeedLink(link.url, identifier, kind_of_link(link))
