"""What a report says of an item, from its metadata (pure).

Source: COUNTER Code of Practice 5.1, tables 3.g to 3.i and section 3.3.2.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from recordsilo.formats import persistent_identifier
from usagestats.entities.metadata import Metadata
from usagestats.reports.definitions import NO_YEAR
from usagestats.reports.parents import ParentItem, parent_of, titles_of
from usagestats.store.periods import is_date

_DATE = re.compile(r"(?<!\d)(1\d{3}|20\d{2})-(0[1-9]|1[0-2])-([0-2]\d|3[01])(?!\d)", re.ASCII)
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)", re.ASCII)
_ISSN = re.compile(r"(?<![\d-])(\d{4}-\d{3}[\dX])(?![\d-])", re.ASCII)
_ISBN = re.compile(r"97[89]-\d+-\d+-\d+-\d", re.ASCII)
_COUNTER_DOI = re.compile(r"10\.[1-9][0-9]{2}[0-9.]*/.+")
_ADDRESS = re.compile(
    r"https?://(?:[A-Za-z0-9-]+\.)+[A-Za-z0-9-]{2,}(?::\d+)?"
    r"(?:[/?#][A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*)?"
)
"""A URL by RFC 3986 with a host that has a name."""
_AUTHORS = 3
"""Table 3.i: at most three authors."""
_TYPES = {
    "article": "Article", "journalarticle": "Article", "researcharticle": "Article",
    "reviewarticle": "Article", "preprint": "Article", "eprint": "Article", "review": "Article",
    "audiovisual": "Audiovisual", "video": "Audiovisual", "movingimage": "Audiovisual",
    "film": "Audiovisual", "bookchapter": "Book_Segment", "booksection": "Book_Segment",
    "bookpart": "Book_Segment", "chapter": "Book_Segment", "book": "Book_Segment",
    "monograph": "Book_Segment",
    "conferenceobject": "Conference_Item", "conferencepaper": "Conference_Item",
    "conferenceorworkshopitem": "Conference_Item", "conferenceposter": "Conference_Item",
    "conferenceproceedings": "Conference_Item", "dataset": "Dataset", "data": "Dataset",
    "image": "Image", "stillimage": "Image", "photograph": "Image", "artwork": "Image",
    "interactiveresource": "Interactive_Resource", "newspaperarticle": "News_Item",
    "patent": "Patent", "report": "Report", "technicalreport": "Report",
    "workingpaper": "Report", "software": "Software", "sound": "Sound", "audio": "Sound",
    "musicalcomposition": "Sound", "standard": "Standard", "thesis": "Thesis_or_Dissertation",
    "doctoralthesis": "Thesis_or_Dissertation", "masterthesis": "Thesis_or_Dissertation",
    "bachelorthesis": "Thesis_or_Dissertation", "dissertation": "Thesis_or_Dissertation",
    "other": "Other", "lecture": "Other", "teachingresource": "Other", "exhibition": "Other",
}  # fmt: skip
"""Type without spaces and case → data type. A whole book is one Book_Segment (table 3.p)."""
_VERSIONS = {
    "info:eu-repo/semantics/draft": "AO", "info:eu-repo/semantics/submittedversion": "SMUR",
    "info:eu-repo/semantics/acceptedversion": "AM",
    "info:eu-repo/semantics/publishedversion": "VoR",
    "info:eu-repo/semantics/updatedversion": "EVoR", "c_b1a7d7d4d402bcce": "AO",
    "c_71e4c1898caa6e32": "SMUR", "c_ab4af688f83e57aa": "AM", "c_fa2ee174bc00049f": "P",
    "c_970fb48d4fbd8a85": "VoR", "c_e19f295774971610": "CVoR", "c_dc82b40f9837b551": "EVoR",
}  # fmt: skip
"""Version by info:eu-repo, or the end of an address of COAR → that of NISO RP-8-2008."""


@dataclass(frozen=True, slots=True)
class ReportItem:
    """An item of a report; texts that are unknown are empty."""

    identifier: str
    title: str
    publisher: str = ""
    authors: tuple[str, ...] = ()
    publication_date: str = ""
    doi: str = ""
    isbn: str = ""
    issn: str = ""
    uri: str = ""
    data_type: str = "Unspecified"
    year: str = NO_YEAR
    version: str = ""
    parent: ParentItem | None = None


def item_of(identifier: str, metadata: Metadata) -> ReportItem:
    """Return what a report says of a record.

    Args:
        identifier: Of the record.
        metadata: Of the record; empty if the Silo does not hold it.
    """
    texts, sources, types = metadata["identifiers"], metadata["sources"], metadata["types"]
    doi, kind = _first_doi(texts), data_type(types)
    issn = _found(_ISSN, (*texts, *sources, *metadata["relations"]), 1)
    return ReportItem(
        identifier=identifier,
        title=_one_line(metadata.title),
        publisher=_one_line(next(iter(metadata["publishers"]), "")),
        authors=tuple(dict.fromkeys(_authors(metadata["creators"])))[:_AUTHORS],
        publication_date=_first_date(metadata["dates"]),
        doi=doi,
        isbn=next((one for one in texts if len(one) == 17 and _ISBN.fullmatch(one)), ""),
        issn=issn,
        uri=f"https://doi.org/{doi}" if doi else _first_address(texts),
        data_type=kind,
        year=_found(_YEAR, metadata["dates"], 1) or NO_YEAR,
        version=_version((*types, *metadata["rights"], *metadata["formats"])),
        parent=parent_of(kind, sources, issn),
    )


def with_titles_of_parents(items: Mapping[str, ReportItem]) -> dict[str, ReportItem]:
    """Return the items so that the same parent has the same title everywhere."""
    titles = titles_of(one.parent for one in items.values() if one.parent)
    return {
        name: replace(one, parent=replace(one.parent, title=titles[one.parent.identity]))
        if one.parent
        else one
        for name, one in items.items()
    }


def data_type(types: Iterable[str]) -> str:
    """Return the type of data of the first type that is known; ``Other`` for unknown ones."""
    names = [re.sub(r"[\W_]+", "", text.rpartition("/")[2]).casefold() for text in types]
    known = (_TYPES[name] for name in names if name in _TYPES)
    return next(known, "Other" if names else "Unspecified")


def _found(pattern: "re.Pattern[str]", texts: Iterable[str], group: int) -> str:
    matches = filter(None, map(pattern.search, texts))
    return next((match[group] for match in matches), "")


def _first_doi(texts: Iterable[str]) -> str:
    found = filter(None, map(persistent_identifier, texts))
    dois = (name for scheme, name in found if scheme == "doi")
    return next((name for name in dois if _COUNTER_DOI.fullmatch(name)), "")


def _first_address(texts: Iterable[str]) -> str:
    return next(filter(_ADDRESS.fullmatch, texts), "")


def _first_date(texts: Iterable[str]) -> str:
    found = (match[0] for text in texts for match in _DATE.finditer(text))
    return next(filter(is_date, found), "")


def _authors(creators: Iterable[str]) -> Iterator[str]:
    """The names; in tables ``;`` separates them, so a creator that has one is several authors."""
    for text in creators:
        names = map(_one_line, html.unescape(text).split(";"))
        yield from (one for one in names if len(one) > 1)


def _version(texts: Iterable[str]) -> str:
    """The first version that is named; only the end of an address of COAR matters."""
    names = (text.strip() for text in texts)
    known = (_VERSIONS.get(one.lower()) or _VERSIONS.get(one.rpartition("/")[2]) for one in names)
    return next(filter(None, known), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
