"""A search over all Silos as a query of tantivy; the words are read as in one Silo."""

import math
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from recordsilo.errors import SearchError, did_you_mean
from recordsilo.index.asked import CHANGED, bounds_of
from recordsilo.index.facets import labels_of
from recordsilo.index.query_syntax import Term, parse_query
from recordsilo.index.search_values import ASKED, FACETS, FLAGS, bound_of, facet_of, range_of
from silofleet.search.folding import ACCENTS
from silofleet.search.values import REPOSITORY, AllSearch

TEXTS = {"title": 8.0, "creator": 4.0, "subject": 2.0, "abstract": 1.0, "identifier": 4.0}
"""Fields of words, as they are typed, and how much each counts."""
FLAG = "flag"
KIND, RECORD, MARK = "kind", "record", "mark"
SAME = "same"
YEAR_NUMBER = "year_number"
_FIELD_OF = {REPOSITORY: "silo"}
_NO_YEAR = 1 << 40
_MOST = sys.float_info.max


def words_field(name: str) -> str:
    """The field with the words of a text field, such as ``title``."""
    return f"{name}_words"


def field_of(facet: str) -> str:
    """The field with the values of a facet; of a contributed one, its name has a prefix."""
    if facet in FLAGS:
        return FLAG
    return _FIELD_OF.get(facet) or (facet if facet in FACETS else f"beside_{facet}")


def number_fields(facet: str) -> tuple[str, str, str]:
    """The fields with the numbers of a contributed facet, the least and the greatest of them."""
    return f"number_{facet}", f"least_{facet}", f"greatest_{facet}"


def without_accents(text: str) -> str:
    """A text as its words are indexed and searched."""
    return text if text.isascii() else ACCENTS.sub("", unicodedata.normalize("NFD", text))


class Queries:
    """Makes queries for one index.

    Args:
        tantivy: The module.
        schema: Of the index.
        analyzer: Cuts a text into words.
    """

    def __init__(self, tantivy: Any, schema: Any, analyzer: Any) -> None:
        self._make, self._schema, self._analyzer = tantivy.Query, schema, analyzer
        self._occur = tantivy.Occur
        self._integer, self._float = tantivy.FieldType.Integer, tantivy.FieldType.Float

    def term(self, name: str, value: str) -> Any:
        """What has a value in a field."""
        return self._make.term_query(self._schema, name, value)

    def any_of(self, name: str, values: Iterable[str]) -> Any:
        """What has one of some values in a field."""
        return self._make.term_set_query(self._schema, name, list(values))

    def both(self, *queries: Any) -> Any:
        """What all of some queries find."""
        return self._make.boolean_query([(self._occur.Must, one) for one in queries])

    def of(self, search: AllSearch, *, but: str = "", without: Sequence[str] = ()) -> Any:
        """What a search finds.

        Args:
            search: With words and filters.
            but: A facet whose filters are left out.
            without: Silos whose records are not found.

        Raises:
            SearchError: Too many words, an invalid date, or an impossible value of a filter.
        """
        words = parse_query(search.words)
        must = [self._either(group) for group in words.groups]
        must_not = [self._either(words.without)] if words.without else []
        must_not += [self.any_of("silo", without)] if without else []
        for name, wanted in search.filters.flags.items():
            if name != but:
                (must if wanted else must_not).append(self.term(FLAG, name))
        for key, values in search.filters.values.items():
            if (name := facet_of(key)) != but:
                (must if key == name else must_not).append(self._having(name, values))
        must += self._times(search)
        if not any(words.groups):
            must.append(self._make.const_score_query(self.term(KIND, RECORD), 1.0))
        occur = self._occur
        return self._make.boolean_query(
            [*((occur.Must, one) for one in must), *((occur.MustNot, one) for one in must_not)]
        )

    def _either(self, terms: Sequence[Term]) -> Any:
        should = [(self._occur.Should, one) for term in terms for one in self._of_term(term)]
        return self._make.boolean_query(should) if should else self._make.empty_query()

    def _of_term(self, term: Term) -> Iterator[Any]:
        words = self._analyzer.analyze(without_accents(term.text))
        if not words:
            return
        for name in [term.field] if term.field else TEXTS:
            place, make = words_field(name), self._make
            if term.prefix and len(words) == 1:
                found = make.regex_query(self._schema, place, f"{words[0]}.*")
            elif term.prefix:
                found = make.regex_phrase_query(
                    self._schema, place, [*words[:-1], f"{words[-1]}.*"]
                )
            elif len(words) == 1:
                found = make.term_query(self._schema, place, words[0])
            else:
                found = make.phrase_query(self._schema, place, words)
            yield make.boost_query(found, TEXTS[name]) if TEXTS[name] != 1.0 else found

    def _having(self, name: str, values: Sequence[str]) -> Any:
        if name in ASKED:
            return self._asked(name, values)
        known = labels_of(name) if name != REPOSITORY else {}
        for value in values:
            if known and value not in known:
                raise SearchError(
                    f"there is no {name} {value!r}; there are {', '.join(known)}"
                    f"{did_you_mean(value, known)}"
                )
        ranges = [] if name == REPOSITORY else [range_of(name, value) for value in values]
        should = [self._within(name, *bounds) for bounds in ranges if bounds]
        if name == "set":
            for value in values:
                below = _escaped(value) + "(:.*)?"
                should.append(self._make.regex_query(self._schema, name, below))
        else:
            should.append(self.any_of(field_of(name), values))
        scored = self._make.boolean_query([(self._occur.Should, one) for one in should])
        return self._make.const_score_query(scored, 0.0)

    def _asked(self, name: str, values: Sequence[str]) -> Any:
        if name != CHANGED:
            raise SearchError(f"{name} can only be asked of one Silo; search for {name}:words")
        should = [self._between(CHANGED, *bounds_of(value)) for value in values]
        return self._make.boolean_query([(self._occur.Should, one) for one in should])

    def _within(self, name: str, low: float, high: float) -> Any:
        if name not in FACETS:
            field, bounds = number_fields(name)[0], (max(low, -_MOST), min(high, _MOST))
            return self._make.range_query(self._schema, field, self._float, *bounds)
        lowest = math.ceil(max(low, -_NO_YEAR))
        highest = math.floor(min(high, _NO_YEAR))
        return self._make.range_query(self._schema, YEAR_NUMBER, self._integer, lowest, highest)

    def _times(self, search: AllSearch) -> Iterator[Any]:
        filters = search.filters
        if filters.since is not None or filters.until is not None:
            low = 0 if filters.since is None else bound_of(filters.since, last=False)
            high = _NO_YEAR if filters.until is None else bound_of(filters.until, last=True)
            if low > high:
                yield self._make.empty_query()
            else:
                yield self._between("seconds", low, high)
        if filters.changed_since is not None:
            yield self._between("changed", bound_of(filters.changed_since, last=False), _NO_YEAR)

    def _between(self, name: str, low: int, high: int) -> Any:
        between = self._make.range_query(self._schema, name, self._integer, low, high)
        return self._make.const_score_query(between, 0.0)


def _escaped(text: str) -> str:
    """A text as an expression of tantivy's regular expressions."""
    return "".join(c if c.isalnum() or c in ":_ /" else f"\\x{{{ord(c):x}}}" for c in text)
