"""The words a person types → an FTS5 expression that cannot be broken (docs/search.md).

    solar cells               both words, in any field
    "solar cells"             the phrase
    photo*                    words that begin so
    solar OR wind             either
    -wind                     not this word; also -"a phrase", -title:wind
    title:solar               in one field: title, creator, subject, abstract, identifier
    creator:"Adeyemi, Fiona"
    https://doi.org/10.5555/12  a DOI or handle, however it is spelled

Everything else is taken as text: every token is quoted before SQLite sees it, so no
input is an error. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recordsilo.formats import canonical_identifier

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
class Term:
    """A word or phrase that is asked for.

    Attributes:
        text: What is looked for, as typed.
        prefix: Whether its last word may go on.
        field: Where alone; empty: anywhere.
    """

    text: str
    prefix: bool = False
    field: str = ""

    @property
    def expression(self) -> str:
        """The term as FTS5 reads it."""
        column = f"{COLUMN_OF_FIELD[self.field]} : " if self.field else ""
        return column + '"' + self.text.replace('"', '""') + '"' + ("*" if self.prefix else "")


Group = tuple[Term, ...]
"""Terms of which one is enough."""


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A query as terms, and as FTS5 expressions.

    Attributes:
        groups: Records have to match each of these.
        without: They must match none of these.
    """

    groups: tuple[Group, ...]
    without: Group

    @property
    def wanted(self) -> str | None:
        """What records have to match; None: anything does."""
        return " AND ".join(f"({_either(group)})" for group in self.groups) or None

    @property
    def excluded(self) -> str | None:
        """What they must not match; None: nothing."""
        return _either(self.without) or None


def _either(terms: Group) -> str:
    return " OR ".join(term.expression for term in terms)


def spaced(text: str) -> str:
    """Text as it goes into the index: characters of unspaced scripts stand alone."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def is_unspaced(character: str) -> bool:
    """Whether `spaced` puts blanks around a character."""
    return bool(_UNSPACED.match(character))


def parse_query(query: str) -> TextQuery:
    """Read a query as typed; whatever it is, what comes out is sound FTS5."""
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
    return TextQuery(tuple(groups), tuple(without))


def _terms(query: str) -> Iterator[tuple[Group, bool] | None]:
    """The query's terms in order, and whether not wanted; None for an ``OR`` between two."""
    for number, match in enumerate(_TOKEN.finditer(query)):
        if number == MAX_TOKENS:
            return
        word, phrase, field = match["word"], match["phrase"], match["field"]
        if word == "OR" and not match["minus"] and not field:
            yield None
            continue
        if field and field not in COLUMN_OF_FIELD:
            word, phrase, field = match[0].lstrip("-"), None, None
        group = _word(word, field or "") if phrase is None else _group(phrase, field or "")
        if group:
            yield group, bool(match["minus"])


def _word(text: str, field: str) -> Group:
    prefix = len(text) > 1 and text.endswith("*")
    return _group(text.rstrip("*"), field, prefix=prefix)


def _group(text: str, field: str, *, prefix: bool = False) -> Group:
    """What is typed, and the canonical spelling where it is an identifier.

    Empty where there is nothing in the text to search for.
    """
    spellings = dict.fromkeys((text, canonical_identifier(text)))
    plain = (_UNSEARCHABLE.sub(" ", spaced(spelling)) for spelling in spellings)
    return tuple(
        Term(one, prefix, field) for one in plain if any(character.isalnum() for character in one)
    )
