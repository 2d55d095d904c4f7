"""What a report says of an item, from its metadata (pure).

Source: COUNTER Code of Practice 5.1, tables 3.g to 3.i and section 3.3.2.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recordsilo.formats import persistent_identifier
from usagestats.entities.metadata import Metadata
from usagestats.reports.definitions import NO_YEAR

_DATE = re.compile(r"(?<!\d)(1\d{3}|20\d{2})-(0[1-9]|1[0-2])-([0-2]\d|3[01])(?!\d)", re.ASCII)
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)", re.ASCII)
_ISSN = re.compile(r"(?<![\d-])(\d{4}-\d{3}[\dX])(?![\d-])", re.ASCII)
_ISBN = re.compile(r"97[89]-\d+-\d+-\d+-\d", re.ASCII)
_COUNTER_DOI = re.compile(r"10\.[1-9][0-9]{2}[0-9.]*/.+")
_AUTHORS = 3
"""Table 3.i: at most three authors."""
_TYPES = {
    "article": "Article", "journalarticle": "Article", "researcharticle": "Article",
    "reviewarticle": "Article", "preprint": "Article", "eprint": "Article", "review": "Article",
    "audiovisual": "Audiovisual", "video": "Audiovisual", "movingimage": "Audiovisual",
    "film": "Audiovisual", "bookchapter": "Book_Segment", "booksection": "Book_Segment",
    "bookpart": "Book_Segment", "chapter": "Book_Segment", "book": "Other", "monograph": "Other",
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
"""Type without spaces and case → data type. The Item Report has none for whole books."""


@dataclass(frozen=True, slots=True)
class Item:
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


def item_of(identifier: str, metadata: Metadata) -> Item:
    """Return what a report says of a record.

    Args:
        identifier: Of the record.
        metadata: Of the record; empty if the Silo does not hold it.
    """
    texts = metadata["identifiers"]
    doi = _first_doi(texts)
    return Item(
        identifier=identifier,
        title=_one_line(metadata.title),
        publisher=_one_line(next(iter(metadata["publishers"]), "")),
        authors=tuple(one for one in map(_one_line, metadata["creators"]) if len(one) > 1)[
            :_AUTHORS
        ],
        publication_date=_found(_DATE, metadata["dates"], 0),
        doi=doi,
        isbn=next((one for one in texts if len(one) == 17 and _ISBN.fullmatch(one)), ""),
        issn=_found(_ISSN, (*texts, *metadata["sources"], *metadata["relations"]), 1),
        uri=f"https://doi.org/{doi}" if doi else _first_address(texts),
        data_type=data_type(metadata["types"]),
        year=_found(_YEAR, metadata["dates"], 1) or NO_YEAR,
    )


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
    return next((one for one in texts if re.fullmatch(r"https?://[!-~]+", one)), "")


def _is_name(text: str) -> bool:
    return len(text) > 1


def _one_line(text: str) -> str:
    return " ".join(text.split())
