"""Crosswalk: metadata files → RDF statements about their record, by a configurable mapping.

The mapping is TOML; `crosswalks/default.toml` is the default, and its first lines describe the
format (version 2; files without ``version`` keep the rules and the results that they had).

    >>> crosswalk = Crosswalk.default()
    >>> statements = crosswalk.statements({"oai_dc": content}, URIRef("http://f/rest/silo/x"))

    source    the text, and errors that name file, line and key
    reading   TOML → rules, checked
    rules     a document → fields and terms
    terms     values → terms; N-Triples

Loads rdflib; import it only where RDF is made.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files as resources

from lxml import etree
from rdflib import URIRef

from recordsilo.formats import main_first
from recordsilo.formats.documents import parsed, unwrap
from siloexport.crosswalk import reading
from siloexport.crosswalk.rules import FileRule, FormatRule, MergeRule, described
from siloexport.crosswalk.source import CrosswalkError
from siloexport.crosswalk.terms import Statement, Term, ntriples, text
from siloexport.crosswalk_names import BUILT_IN

__all__ = [
    "BUILT_IN", "Crosswalk", "CrosswalkError", "FileRule", "Mapped", "Statement", "Term",
    "ntriples", "text",
]  # fmt: skip

_RULES = 3
"""Incremented when the same mapping gives different statements; part of every key."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A statement about the record, and the metadata file that it comes from."""

    predicate: URIRef
    term: Term
    file: str


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """A mapping, read and checked.

    Attributes:
        id: Its name and a digest of its content, without comments and spaces.
        formats: Its formats in order.
        path: Name of the file.
        version: Of the file's form.
        merge: What happens with several metadata files.
        files: What files are called; for layouts in which files are described.
    """

    id: str
    formats: tuple[FormatRule, ...]
    path: str
    version: int = 1
    merge: MergeRule = MergeRule.FORMAT
    files: tuple[FileRule, ...] = ()

    @classmethod
    def default(cls) -> "Crosswalk":
        """Return the default mapping."""
        return cls.named("default")

    @classmethod
    def named(cls, name: str) -> "Crosswalk":
        """Return a mapping of `BUILT_IN` by its name, or read a file.

        Raises:
            CrosswalkError: The file cannot be read or is invalid.
        """
        if name not in BUILT_IN:
            return cls.read(name)
        shipped = resources("siloexport").joinpath(f"crosswalks/{name}.toml")
        return cls.parse(shipped.read_text(encoding="utf-8"), f"{name}.toml")

    @classmethod
    def read(cls, path: str) -> "Crosswalk":
        """Read a mapping.

        Raises:
            CrosswalkError: The file cannot be read or is invalid.
        """
        try:
            with open(path, encoding="utf-8") as file:
                return cls.parse(file.read(), path)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise CrosswalkError(path, f"cannot be read: {reason}") from error

    @classmethod
    def parse(cls, text: str, path: str = "given") -> "Crosswalk":
        """Parse the text of a mapping.

        Raises:
            CrosswalkError: It is invalid.
        """
        try:
            mapping = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise CrosswalkError(path, f"is not TOML: {error}") from error
        source = reading.read_source(mapping, text, path)
        content = json.dumps([_RULES, mapping], sort_keys=True, default=str)
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        return cls(
            f"{mapping.get('name', 'crosswalk')} {digest}",
            reading.formats(mapping, source),
            path,
            source.version,
            reading.merge_of(mapping, source),
            reading.files(mapping, source),
        )

    def statements(self, metadata: Mapping[str, bytes], subject: URIRef) -> tuple[Statement, ...]:
        """Map metadata files to statements about a subject, each once.

        Args:
            metadata: Name → content, wrapped in the element of OAI-PMH or not.
            subject: Address of the object.

        Raises:
            CrosswalkError: An XPath of the mapping cannot be evaluated.
        """
        found = self.mapped(metadata)
        return tuple(dict.fromkeys((subject, one.predicate, one.term) for one in found))

    def mapped(self, metadata: Mapping[str, bytes]) -> Iterator[Mapped]:
        """Yield the statements that metadata files give, in the order of the formats.

        Of several files, `MergeRule` says which count; each is read by the first format that
        applies to it.
        """
        known: set[URIRef] = set()
        for rule, name, root in self._fitting(metadata):
            own: set[URIRef] = set()
            for of, is_merged, one in self._of_one(rule, name, root, metadata[name]):
                own.add(of)
                if is_merged or of not in known:
                    yield one
            known |= own

    def _of_one(
        self, rule: FormatRule, name: str, root: etree._Element, content: bytes
    ) -> Iterator[tuple[URIRef, bool, Mapped]]:
        """Yield (field, whether it is added to those of other files, statement)."""
        is_union = self.merge is MergeRule.UNION
        if not rule.fields:
            for of, to, term in described(name, content, self.version, rule.language):
                yield of, is_union, Mapped(to, term, name)
        for field in rule.fields:
            merges = field.merge is MergeRule.UNION if field.merge else is_union
            for term in field.terms(root):
                to = field.of_uris if isinstance(term, URIRef) else field.predicate
                yield field.predicate, merges, Mapped(to, term, name)

    def fits(self, metadata: Mapping[str, bytes]) -> bool:
        """Whether one of the metadata files has a format of the mapping."""
        return bool(self._fitting(metadata))

    def formats_of(self, metadata: Mapping[str, bytes]) -> list[tuple[int, str]]:
        """Return (index of a format, file) for each metadata file that counts."""
        return [(self.formats.index(rule), name) for rule, name, _ in self._fitting(metadata)]

    def _fitting(
        self, metadata: Mapping[str, bytes]
    ) -> list[tuple[FormatRule, str, etree._Element]]:
        documents = {name: _document(metadata[name]) for name in main_first(metadata)}
        found = []
        for rule in self.formats:
            for name, root in list(documents.items()):
                if root is not None and rule.fits(root):
                    found.append((rule, name, root))
                    if self.merge is MergeRule.FORMAT:
                        return found
                    del documents[name]
        return found

    def file_rule(self, path: str) -> FileRule:
        """Return what the mapping says of a file; an empty rule if it says nothing."""
        return next((one for one in self.files if one.fits(path)), FileRule(path))


def _document(content: bytes) -> etree._Element | None:
    return parsed(unwrap(content) or content)
