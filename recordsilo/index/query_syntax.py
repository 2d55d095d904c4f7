"""The words a person types → an FTS5 expression that cannot be broken (docs/search.md).

    solar cells               both words, in any field
    "solar cells"             the phrase
    photo*                    words that begin so
    solar OR wind             either
    -wind                     not this word; also -"a phrase", -title:wind
    title:solar               in one field: title, creator, subject, abstract, identifier
    creator:"Adeyemi, Fiona"

Everything else is taken as text: every token is quoted before SQLite sees it, so no
input is an error. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

COLUMN_OF_FIELD = {
    "title": "{title harvested_title}",
    "creator": "creators",
    "subject": "subjects",
    "abstract": "abstract",
    "identifier": "identifiers",
}
"""Field as typed → columns of the text table."""

MAX_TOKENS = 64
_TOKEN = re.compile(
    r'(?P<minus>-?)(?:(?P<field>[a-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))'
)
# Scripts written without spaces: each character is a word of its own, in the index too.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff])"
)
_UNSEARCHABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A query as FTS5 expressions.

    Attributes:
        wanted: What records have to match; None: anything does.
        excluded: What they must not match; None: nothing.
    """

    wanted: str | None
    excluded: str | None


@dataclass(frozen=True, slots=True)
class _Term:
    expression: str
    excluded: bool


def spaced(text: str) -> str:
    """Text as it goes into the index: characters of unspaced scripts stand alone."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def parse_query(query: str) -> TextQuery:
    """Read a query as typed; whatever it is, what comes out is sound FTS5."""
    groups: list[list[str]] = []
    excluded: list[str] = []
    either = False
    for term in _terms(query):
        if term is None:
            either = bool(groups)
        elif term.excluded:
            excluded.append(term.expression)
        elif either:
            groups[-1].append(term.expression)
            either = False
        else:
            groups.append([term.expression])
    wanted = " AND ".join(f"({' OR '.join(group)})" for group in groups)
    return TextQuery(wanted or None, " OR ".join(excluded) or None)


def _terms(query: str) -> Iterator[_Term | None]:
    """The query's terms in order; None for an ``OR`` between two."""
    for number, match in enumerate(_TOKEN.finditer(query)):
        if number == MAX_TOKENS:
            return
        word, phrase, field = match["word"], match["phrase"], match["field"]
        if word == "OR" and not match["minus"] and not field:
            yield None
            continue
        if field and field not in COLUMN_OF_FIELD:
            word, phrase, field = match[0].lstrip("-"), None, None
        expression = _quoted(word if phrase is None else phrase, may_be_prefix=phrase is None)
        if expression:
            column = f"{COLUMN_OF_FIELD[field]} : " if field else ""
            yield _Term(column + expression, bool(match["minus"]))


def _quoted(text: str, *, may_be_prefix: bool) -> str | None:
    """An FTS5 string; None where there is nothing in it to search for."""
    prefix = may_be_prefix and len(text) > 1 and text.endswith("*")
    plain = _UNSEARCHABLE.sub(" ", spaced(text.rstrip("*") if may_be_prefix else text))
    if not any(character.isalnum() for character in plain):
        return None
    return '"' + plain.replace('"', '""') + '"' + ("*" if prefix else "")
