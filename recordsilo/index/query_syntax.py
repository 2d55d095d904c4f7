"""Turn a query as typed into a valid FTS5 expression (docs/search.md).

    solar cells               both words, in any field
    "solar cells"             the phrase
    photo*                    words that begin with photo
    solar OR wind             either; solar AND wind: both
    -wind                     not this word; also NOT wind, -"a phrase", -title:wind
    title:solar               in one field: title, creator, subject, abstract, identifier
    creator:"Adeyemi, Fiona"  also author:; WORD_ALIASES has what else fields are called
    https://doi.org/10.5555/12  a DOI or handle, in any spelling

Everything else is text. Every token is quoted before SQLite sees it, so only a query that is
too long is an error; `misread` names what was probably meant as a field. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import NamedTuple

from recordsilo.errors import SearchError
from recordsilo.formats import canonical_identifier

COLUMN_OF_FIELD = {
    "title": "{title harvested_title}",
    "creator": "creators",
    "subject": "subjects",
    "abstract": "abstract",
    "identifier": "identifiers",
}
"""Field as typed → columns of the text table."""
WORD_ALIASES = {
    "author": "creator",
    "authors": "creator",
    "contributor": "creator",
    "name": "creator",
    "person": "creator",
    "keyword": "subject",
    "keywords": "subject",
    "topic": "subject",
    "tag": "subject",
    "description": "abstract",
    "summary": "abstract",
}
"""What people call a field → its name in `COLUMN_OF_FIELD`."""

MAX_TERMS = 64
MAX_WORDS = 256
"""Maximum number of words in all terms; a phrase of 2,000 frequent words took 1.7 seconds."""
_TOKEN = re.compile(
    r'(?P<minus>-?)(?:(?P<field>[a-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))'
)
_LIKE_FIELD = re.compile(r"(?<!\S)(-|NOT )?([^\W\d]\w*):([^\s:/]*)(?!\S)")
"""A word before a colon; identifiers, DOIs and addresses have a further colon or a slash."""
# In scripts written without spaces, each character is a word, also in the index.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff])"
)
_SPACED_BYTES = bytes({*range(256)} - {*b"\xe0\xe1\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xef\xf0"})
"""The bytes of UTF-8 with which no character of `_UNSPACED` begins."""
_UNSEARCHABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase of a query.

    Attributes:
        text: The word or phrase, as typed.
        prefix: Whether its last word is only a beginning.
        field: The only field to search; empty for all.
    """

    text: str
    prefix: bool = False
    field: str = ""

    @property
    def expression(self) -> str:
        """The term as an FTS5 expression."""
        column = f"{COLUMN_OF_FIELD[self.field]} : " if self.field else ""
        return column + '"' + self.text.replace('"', '""') + '"' + ("*" if self.prefix else "")


Group = tuple[Term, ...]
"""Terms of which a record must match at least one."""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A query as terms, and as FTS5 expressions.

    Attributes:
        groups: Records must match each of these.
        without: Records must match none of these.
    """

    groups: tuple[Group, ...]
    without: Group

    @property
    def wanted(self) -> str | None:
        """The expression that records must match; None if there is no condition."""
        return " AND ".join(f"({_either(group)})" for group in self.groups) or None

    @property
    def excluded(self) -> str | None:
        """The expression that records must not match; None if there is no condition."""
        return _either(self.without) or None


def _either(terms: Group) -> str:
    return " OR ".join(term.expression for term in terms)


def spaced(text: str) -> str:
    """Text as it is indexed: characters of unspaced scripts are separated."""
    if text.isascii() or not text.encode("utf-8", "surrogatepass").translate(None, _SPACED_BYTES):
        return text
    return _UNSPACED.sub(r" \1 ", text)


def is_unspaced(character: str) -> bool:
    """Whether `spaced` puts spaces around a character."""
    return bool(_UNSPACED.match(character))


def parse_query(query: str) -> TextQuery:
    """Parse a query as typed; the result is valid FTS5 for any text.

    Raises:
        SearchError: It has more than `MAX_TERMS` terms or `MAX_WORDS` words.
    """
    groups: list[Group] = []
    without: list[Term] = []
    either = False
    for found in _terms(query):
        if found is None:
            either = bool(groups)
        elif found[1]:
            without.extend(found[0])
        elif either:
            groups[-1] += found[0]
            either = False
        else:
            groups.append(found[0])
    _check_size([*groups, tuple(without)])
    return TextQuery(tuple(groups), tuple(without))


class Misread(NamedTuple):
    """What looks like a field and is searched as text.

    Attributes:
        name: What is before the colon.
        text: What is behind it.
        excluded: Whether the text was to be excluded.
    """

    name: str
    text: str
    excluded: bool


def misread(query: str) -> Iterator[Misread]:
    """What looks like a field and is searched as text.

    A field of `COLUMN_OF_FIELD` is among them if nothing is behind its colon.
    """
    for minus, name, text in _LIKE_FIELD.findall(re.sub(r'"[^"]*"?', "…", query)):
        if WORD_ALIASES.get(name, name) not in COLUMN_OF_FIELD or not text:
            yield Misread(name, text, bool(minus))


def _check_size(groups: list[Group]) -> None:
    terms = [term for group in groups for term in group]
    words = sum(len(term.text.split()) for term in terms)
    if len(terms) > MAX_TERMS or words > MAX_WORDS:
        raise SearchError(
            f"a query has at most {MAX_TERMS} terms and {MAX_WORDS} words; "
            f"this one has {len(terms):,} and {words:,}"
        )


def _terms(query: str) -> Iterator[tuple[Group, bool] | None]:
    """The query's terms in order, each with whether it is excluded; None stands for ``OR``.

    ``AND`` between two terms means nothing, and ``NOT`` before one is a minus.
    """
    tokens = list(_TOKEN.finditer(query))
    negated = False
    for number, match in enumerate(tokens):
        word, phrase = match["word"], match["phrase"]
        field: str | None = WORD_ALIASES.get(match["field"], match["field"])
        is_last = number == len(tokens) - 1
        if match[0] == "OR":
            yield None
            continue
        if match[0] == "AND" and number and not is_last:
            continue
        if match[0] == "NOT" and not is_last:
            negated = True
            continue
        if field and field not in COLUMN_OF_FIELD:
            word, phrase, field = match[0].lstrip("-"), None, None
        group = _word(word, field or "") if phrase is None else _group(phrase, field or "")
        if group:
            yield group, negated or bool(match["minus"])
            negated = False


def _word(text: str, field: str) -> Group:
    prefix = len(text) > 1 and text.endswith("*")
    return _group(text.rstrip("*"), field, prefix=prefix)


def _group(text: str, field: str, *, prefix: bool = False) -> Group:
    """The typed text, and its canonical spelling if it is an identifier.

    Empty if the text contains no words.
    """
    spellings = dict.fromkeys((text, canonical_identifier(text)))
    plain = (_UNSEARCHABLE.sub(" ", spaced(spelling)) for spelling in spellings)
    return tuple(
        Term(one, prefix, field) for one in plain if any(character.isalnum() for character in one)
    )


def has_word(text: str) -> bool:
    """Whether a query has anything to search for."""
    words = parse_query(text)
    return bool(words.groups or words.without)


def query_from(text: str) -> str:
    """Check a query that selects records; one without words would select all of them.

    Raises:
        SearchError: It is not valid Unicode, or has no word to search for.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SearchError(f"the query {shortened(text)} is not valid text; use UTF-8") from None
    if not has_word(text):
        raise SearchError(
            f"the query {shortened(text)} has no word to search for; write one, or omit the query"
        )
    return text
