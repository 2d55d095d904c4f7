"""Choose the addresses of a record that are files, and their expected types (pure)."""

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import unquote

from politeweb.addresses import parts_of
from politeweb.errors import RequestRefused, shortened
from recordsilo.formats import Link
from recordsilo.media_types import TYPES
from recordsilo.patterns import PATTERN_SECONDS, PatternRefused, compiled, is_too_long

if TYPE_CHECKING:
    import regex

_EXTENSIONS = (
    "pdf", "ps", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "epub", "zip", "gz",
    "tar", "7z", "bz2", "txt", "csv", "tsv", "rtf", "tex", "json", "png", "jpg", "jpeg", "gif",
    "tif", "tiff", "jp2", "svg", "mp3", "mp4", "mov", "avi",
)  # fmt: skip
TYPE_OF_EXTENSION = {one: TYPES[f".{one}"] for one in _EXTENSIONS} | {
    "tgz": "application/gzip", "wav": "audio/wav", "nc": "application/x-netcdf",
    "h5": "application/x-hdf5",
}  # fmt: skip
"""Extensions of files; other extensions say nothing."""

FILE_FIELDS = (
    "dc:identifier",
    "dc:relation",
    "eprints:file",
    "jats:self-uri",
    "jats:ext-link",
    "jats:supplementary-material",
    "mets:FLocat",
    "didl:Resource",
    "atom:link:aggregates",
    "marc:856u",
)
"""Fields that usually have the addresses of documents."""

_DOWNLOADS = re.compile(r"/(?:bitstreams?|download|datastreams?/[^/]+/content)(?:/|$)")
_RULE = re.compile(r"\s*(?P<field>[^\s=~]+)\s*(?:=~\s*(?P<pattern>.+?)\s*)?")


@dataclass(frozen=True, slots=True)
class LinkRule:
    """Selects the addresses in some fields that match a pattern completely.

    Attributes:
        field: A field's name; ``*`` and ``?`` stand for any characters.
        pattern: Regular expression; None selects every address in the field.
    """

    field: str
    pattern: "regex.Pattern[str] | None" = None

    @classmethod
    def parse(cls, text: str) -> "LinkRule":
        r"""Read ``dc:identifier=~https://repo\.example/.*\.pdf``, or a field's name alone.

        Raises:
            RequestRefused: The text has another form.
        """
        match = _RULE.fullmatch(text)
        if match is None:
            raise RequestRefused(f"{text!r} is not a rule; write FIELD or FIELD=~PATTERN")
        try:
            pattern = compiled(match["pattern"]) if match["pattern"] else None
        except PatternRefused as error:
            raise RequestRefused(f"the pattern of {text!r} is invalid: {error}") from None
        return cls(match["field"], pattern)

    def takes(self, link: Link) -> bool:
        """Whether an address is selected.

        Raises:
            PatternRefused: That takes too long.
        """
        if not fnmatchcase(link.field, self.field):
            return False
        if self.pattern is None:
            return True
        text = self.pattern.pattern
        with contextlib.suppress(TimeoutError):
            if not is_too_long(text, link.url):
                return self.pattern.fullmatch(link.url, timeout=PATTERN_SECONDS) is not None
        raise PatternRefused(
            f"the pattern {text!r} takes too long for the address {shortened(link.url)}; avoid"
            " nested repetitions such as (a+)+ in it"
        )


def chosen(links: Iterable[Link], rules: Iterable[LinkRule]) -> list[Link]:
    """Return the addresses to fetch, each once, in their order.

    Without rules: those of `FILE_FIELDS` that look like a file's (`looks_like_file`).
    """
    wanted = list(rules)
    taken: dict[str, Link] = {}
    for link in links:
        is_wanted = any(rule.takes(link) for rule in wanted) if wanted else _usual(link)
        if is_wanted:
            known = taken.setdefault(link.url, link)
            if link.type and not known.type:
                taken[link.url] = link
    return list(taken.values())


def _usual(link: Link) -> bool:
    return link.field in FILE_FIELDS and looks_like_file(link)


def looks_like_file(link: Link) -> bool:
    """Whether the metadata's type, the address's extension or its path suggests a file.

    Other addresses are usually of a page about the record.
    """
    if link.type:
        return link.type not in {"text/html", "application/xhtml+xml"}
    path = parts_of(link.url).path.lower()
    return extension_of(link.url) in TYPE_OF_EXTENSION or bool(_DOWNLOADS.search(path))


def extension_of(url: str) -> str:
    """Return the extension of an address's last path segment, in lower case, or ``""``."""
    name = unquote(parts_of(url).path).rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def expected_types(link: Link, accepted: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the expected media types of a file; empty if unknown.

    Args:
        link: Gives the type in its metadata and that of its extension.
        accepted: The types that the user accepts, with ``image/*`` for all of a kind; takes
            precedence.
    """
    named = tuple(accepted)
    if named:
        return named
    known = TYPE_OF_EXTENSION.get(extension_of(link.url), "")
    return tuple(dict.fromkeys(filter(None, (link.type, known))))
