"""Convert a description to a citation: CSL JSON, BibTeX, and a line of text (pure).

Source: CSL 1.0.2 input schema; BibTeXing (Patashnik, 1988), sections 3 and 4;
Publication Manual of the APA, 7th edition, chapter 9.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from recordsilo.formats import Description, persistent_identifier
from recordsilo.formats.values import doi_address
from siloexport.bibliography import split_name, w3c_date
from webui.record.links import href

CslItem = Mapping[str, Any]
_CSL_TYPES = {
    "article": "article-journal", "journalarticle": "article-journal",
    "researcharticle": "article-journal", "reviewarticle": "article-journal",
    "book": "book", "monograph": "book", "bookchapter": "chapter", "bookpart": "chapter",
    "booksection": "chapter", "chapter": "chapter", "conferenceobject": "paper-conference",
    "conferenceorworkshopitem": "paper-conference", "conferencepaper": "paper-conference",
    "dataset": "dataset", "doctoralthesis": "thesis", "image": "graphic",
    "masterthesis": "thesis", "bachelorthesis": "thesis", "thesis": "thesis",
    "dissertation": "thesis", "movingimage": "motion_picture", "video": "motion_picture",
    "patent": "patent", "preprint": "article", "report": "report", "technicalreport": "report",
    "workingpaper": "report", "review": "review", "software": "software", "website": "webpage",
}  # fmt: skip
"""Type without spaces and case → CSL type; any other is a ``document``."""
_BIBTEX_TYPES = {
    "article-journal": "article", "book": "book", "chapter": "incollection",
    "paper-conference": "inproceedings", "report": "techreport", "thesis": "phdthesis",
}  # fmt: skip
_PUBLISHER_FIELDS = {"phdthesis": "school", "techreport": "institution"}
_NAMED = 20
"""Maximum number of creators in a text; of more, the first ones and the last (APA 9.8)."""
_ESCAPED = {  # BibTeX counts the brace of ``\{`` too: one without its pair would end the entry
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}",
    "%": r"\%", "&": r"\&", "#": r"\#",
    "$": r"\$", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip


def csl_item(identifier: str, description: Description) -> CslItem:
    """Return a description as an item of CSL JSON; missing fields are left out.

    Args:
        identifier: Of the record; the item's ``id``.
        description: Of one of its versions.
    """
    texts = {name: [v.text for v in values] for name, values in description.items()}
    doi = _doi(texts.get("identifiers", ()))
    item = {
        "id": identifier,
        "type": _csl_type(texts.get("types", ())),
        "title": next(iter(texts.get("titles", ())), ""),
        "author": [_name(text) for text in texts.get("creators", ())],
        "contributor": [_name(text) for text in texts.get("contributors", ())],
        "issued": _issued(texts.get("dates", ())),
        "publisher": next(iter(texts.get("publishers", ())), ""),
        "language": next(iter(texts.get("languages", ())), ""),
        "abstract": next(iter(texts.get("descriptions", ())), ""),
        "keyword": ", ".join(texts.get("subjects", ())),
        "DOI": doi,
        "URL": doi_address(doi) or _address(texts.get("identifiers", ())),
    }
    return {name: value for name, value in item.items() if value}


def _csl_type(types: Iterable[str]) -> str:
    names = (re.sub(r"[\W_]+", "", text.rpartition("/")[2]).casefold() for text in types)
    return next((_CSL_TYPES[name] for name in names if name in _CSL_TYPES), "document")


def _name(text: str) -> dict[str, str]:
    family, given = split_name(text)
    return {"family": family, "given": given} if family else {"literal": text}


def _issued(dates: Iterable[str]) -> dict[str, Any]:
    date = next(filter(None, map(w3c_date, dates)), "")
    return {"date-parts": [[int(part) for part in date.split("-")]]} if date else {}


def _doi(identifiers: Iterable[str]) -> str:
    found = filter(None, map(persistent_identifier, identifiers))
    return next((name for scheme, name in found if scheme == "doi"), "")


def _address(identifiers: Iterable[str]) -> str:
    return next(filter(None, map(href, identifiers)), "")


def bibtex(item: CslItem) -> str:
    """Return a CSL item as a BibTeX entry, in UTF-8."""
    kind = _BIBTEX_TYPES.get(item["type"], "misc")
    authors = (_bibtex_name(one) for one in item.get("author", ()))
    fields = {
        "author": " and ".join(authors),
        "title": "{" + _escaped(item["title"]) + "}" if "title" in item else "",
        "year": str(_year(item) or ""),
        _PUBLISHER_FIELDS.get(kind, "publisher"): _escaped(item.get("publisher", "")),
        "doi": _verbatim(item.get("DOI", "")),
        "url": _verbatim(item.get("URL", "")),
        "language": _escaped(item.get("language", "")),
        "keywords": _escaped(item.get("keyword", "")),
    }
    key = re.sub(r"[^A-Za-z0-9:._-]+", "-", item["id"])
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{lines}}}\n"


def _bibtex_name(name: Mapping[str, str]) -> str:
    if "literal" in name:
        return "{" + _escaped(name["literal"]) + "}"
    return f"{_part(name['family'])}, {_part(name['given'])}"


def _part(text: str) -> str:
    """Return a part of a name, in braces if BibTeX would split it."""
    escaped = _escaped(text)
    return f"{{{escaped}}}" if re.search(r",|\band\b", text) else escaped


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)


def _verbatim(address: str) -> str:
    """Return a DOI or URL as a BibTeX value, which only braces can end."""
    return address.translate({ord("{"): "%7B", ord("}"): "%7D", ord("\\"): "%5C"})


def citation_text(item: CslItem) -> str:
    """Return a CSL item as a line of text in APA style."""
    names = [_apa_name(one) for one in item.get("author", ())]
    year = f"({_year(item) or 'n.d.'})."
    parts = [
        _sentence(_listed(names)),
        year if names else "",
        _sentence(item.get("title", "")),
        year if not names else "",
        _sentence(item.get("publisher", "")),
        item.get("URL", ""),
    ]
    return " ".join(filter(None, parts))


def _year(item: CslItem) -> int | None:
    return item["issued"]["date-parts"][0][0] if "issued" in item else None


def _apa_name(name: Mapping[str, str]) -> str:
    if "literal" in name:
        return name["literal"]
    return f"{name['family']}, {_initials(name['given'])}"


def _initials(given: str) -> str:
    """``J.-P. M.`` for ``Jean-Paul M.``; names in scripts without case are unchanged."""
    if given.lower() == given.upper():
        return given
    words = re.split(r"([\s-]+)", given)
    return "".join(
        word if place % 2 else f"{word[0].upper()}." for place, word in enumerate(words) if word
    )


def _listed(names: list[str]) -> str:
    if len(names) > _NAMED:
        return ", ".join(names[: _NAMED - 1]) + ", … " + names[-1]
    if len(names) > 1:
        return ", ".join(names[:-1]) + ", & " + names[-1]
    return "".join(names)


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "?", "!", "…")) else f"{text}."
