"""TOML → the rules of a crosswalk, with all checks that need no document."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from lxml import etree
from rdflib import URIRef

from recordsilo.formats import FORMATS
from siloexport.crosswalk.rules import FieldRule, FileRule, FormatRule, MergeRule, ValueTable, XPath
from siloexport.crosswalk.source import CrosswalkError, MappingText
from siloexport.crosswalk.terms import TERMS, tag_of

VERSIONS = (1, 2)
_TOP, _NEWER_TOP = (
    ("name", "version", "prefixes", "format"),
    ("merge", "language", "values", "file"),
)
_FORMAT, _NEWER_FORMAT = ("root", "fields", "described"), ("language", "if")
_FIELD = ("from", "to", "as")
_NEWER_FIELD = ("value", "to_uri", "values", "unlisted", "split", "language", "if", "merge")
_FILE = ("name", "title", "language", "use")
_FUNCTIONS = frozenset({
    "last", "position", "count", "id", "local-name", "namespace-uri", "name", "string", "concat",
    "starts-with", "contains", "substring-before", "substring-after", "substring", "string-length",
    "normalize-space", "translate", "boolean", "not", "true", "false", "lang", "number", "sum",
    "floor", "ceiling", "round", "node", "text", "comment", "processing-instruction",
})  # fmt: skip
"""The functions and node tests of XPath 1.0."""
_DEEPEST, _NAMES = 3, 6


def read_source(mapping: Mapping[str, Any], text: str, path: str) -> MappingText:
    """Check the top of a mapping.

    Raises:
        CrosswalkError: It is invalid.
    """
    version = mapping.get("version", 1)
    if version not in VERSIONS or isinstance(version, bool):
        raise MappingText(path, text, {}).error(
            f"has version = {version!r}; this release knows 1 and 2", "version"
        )
    prefixes = mapping.get("prefixes", {})
    source = MappingText(path, text, prefixes if isinstance(prefixes, dict) else {}, int(version))
    listed = mapping.get("format")
    if not isinstance(listed, list) or not listed:
        raise CrosswalkError(path, "has no [[format]]")
    source.check_keys(mapping, _TOP, _NEWER_TOP, "at its top")
    return source


def merge_of(mapping: Mapping[str, Any], source: MappingText) -> MergeRule:
    """Return what happens with several metadata files."""
    return (
        MergeRule(source.choice(mapping, "merge", list(MergeRule)))
        if source.version > 1
        else (MergeRule.FORMAT)
    )


def formats(mapping: Mapping[str, Any], source: MappingText) -> tuple[FormatRule, ...]:
    """Return the formats of a mapping in order.

    Raises:
        CrosswalkError: One is invalid.
    """
    language = _language(mapping, source)
    tables = mapping.get("values", {})
    if not isinstance(tables, dict):
        raise source.error("has values that are no tables; write [values.NAME]", "values")
    named = {name: _table(name, table, source) for name, table in tables.items()}
    return tuple(_format(one, source, named, language) for one in mapping["format"])


def files(mapping: Mapping[str, Any], source: MappingText) -> tuple[FileRule, ...]:
    """Return what a mapping says of files, in order.

    Raises:
        CrosswalkError: A rule is invalid.
    """
    listed = mapping.get("file", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise source.error("has a file that is not a table; write [[file]]", "file")
    return tuple(_file(one, source) for one in listed)


def _file(listed: Mapping[str, Any], source: MappingText) -> FileRule:
    source.check_keys(listed, _FILE, (), "in a [[file]]")
    pattern = source.text_of(listed, "name")
    if not pattern:
        raise source.error('has a [[file]] without a name, such as name = "*.pdf"', "[[file]]")
    uses = listed.get("use", [])
    some = [uses] if isinstance(uses, str) else uses
    if not isinstance(some, list) or not all(isinstance(one, str) for one in some):
        raise source.error(f"has use = {uses!r}, which must be a name or a list of names", "use")
    return FileRule(
        pattern,
        source.text_of(listed, "title"),
        _language(listed, source),
        tuple(URIRef(source.address(one)) for one in some),
    )


def _language(listed: Mapping[str, Any], source: MappingText, usual: str = "") -> str:
    found = source.text_of(listed, "language", usual)
    if found and not tag_of(found):
        raise source.error(f'has language = "{found}", which is not a language tag', found)
    return found


def _table(name: str, listed: Any, source: MappingText) -> Mapping[str, str]:
    if not isinstance(listed, dict) or not all(isinstance(one, str) for one in listed.values()):
        raise source.error(f"has values.{name} that is not a table of texts", name)
    return {key.casefold(): value for key, value in listed.items()}


def _format(
    listed: Any, source: MappingText, tables: Mapping[str, Mapping[str, str]], language: str
) -> FormatRule:
    if not isinstance(listed, dict) or not isinstance(listed.get("root"), str):
        raise source.error("has a [[format]] without a root")
    source.check_keys(listed, _FORMAT, _NEWER_FORMAT, "in a [[format]]")
    named = listed["root"]
    root = named if named == "*" else source.element(named)
    _check_root(named, root, source)
    language = _language(listed, source, language)
    condition = _condition(listed, source)
    if listed.get("described"):
        return FormatRule(root, (), condition, language)
    fields = tuple(_field(one, source, tables, language) for one in listed.get("fields", ()))
    if not fields:
        raise source.error(f"has no fields for {named}; say described = true, or give some", named)
    return FormatRule(root, fields, condition, language)


def _check_root(named: str, root: str, source: MappingText) -> None:
    """Refuse a root that only a slip can have meant, because no record would ever have it."""
    namespace, _, name = root.removeprefix("{").rpartition("}")
    if not namespace:
        return
    roots = [root for one in FORMATS for root in one.roots]
    known = {one.name for one in roots if one.fits(one.name, namespace)}
    if name not in known and (meant := get_close_matches(name.lower(), known, 1)):
        raise source.error(
            f'has root = "{named}", which no document has; the root of {namespace} is {meant[0]}',
            named,
        )


def _field(
    listed: Any, source: MappingText, tables: Mapping[str, Mapping[str, str]], language: str
) -> FieldRule:
    has_source = isinstance(listed, dict) and (("from" in listed) != ("value" in listed))
    if not has_source or "to" not in listed:
        named = listed.values() if isinstance(listed, dict) else ()
        either = "from or to" if source.version < 2 else "to, or without one of from and value"
        raise source.error(f"has a field without {either}", *named)
    source.check_keys(listed, _FIELD, _NEWER_FIELD, "in a field")
    kind = source.choice(listed, "as", list(TERMS))
    to = URIRef(source.address(listed["to"]))
    merge = source.choice(listed, "merge", ("", MergeRule.FIRST, MergeRule.UNION))
    return FieldRule(
        _xpath(listed, "from", source) if "from" in listed else None,
        source.text_of(listed, "value"),
        to,
        URIRef(source.address(listed["to_uri"])) if "to_uri" in listed else to,
        kind,
        _values(listed, source, tables),
        source.text_of(listed, "split"),
        _language(listed, source, language),
        _condition(listed, source),
        MergeRule(merge) if merge else None,
    )


def _values(
    listed: Mapping[str, Any], source: MappingText, tables: Mapping[str, Mapping[str, str]]
) -> ValueTable:
    keeps = source.choice(listed, "unlisted", ("keep", "drop")) == "keep"
    given = listed.get("values")
    if given is None and not keeps:
        raise source.error('has unlisted = "drop" in a field without values', "unlisted")
    if given is None:
        return ValueTable()
    if isinstance(given, str) and given not in tables:
        known = ", ".join(tables) or "none"
        reason = f'has values = "{given}", but no [values.{given}]; there are {known}'
        raise source.error(reason, "values", given)
    table = tables[given] if isinstance(given, str) else _table("field", given, source)
    return ValueTable(table, keeps)


def _condition(listed: Mapping[str, Any], source: MappingText) -> XPath | None:
    return _xpath(listed, "if", source) if "if" in listed else None


# -- expressions ------------------------------------------------------------------------------


def _xpath(listed: Mapping[str, Any], key: str, source: MappingText) -> XPath:
    select = listed[key]
    try:
        compiled = etree.XPath(select, namespaces=dict(source.prefixes), smart_strings=False)
    except (etree.XPathSyntaxError, TypeError, ValueError) as error:
        raise source.error(f'has an invalid XPath in {key} = "{select}"', select) from error
    for prefix in _prefixes(select):
        source.address(f"{prefix}:", select)
    for function in _functions(select):
        if function not in _FUNCTIONS:
            reason = f'uses the function {function}() in {key} = "{select}", which XPath 1.0 lacks'
            raise source.error(reason, select)

    def failed(reason: str) -> CrosswalkError:
        return source.error(f'cannot evaluate {key} = "{select}": {reason}', select)

    return _tried(XPath(compiled, failed), select, source)


def _tried(xpath: XPath, select: str, source: MappingText) -> XPath:
    """Evaluate it on a document with all its names, nested; types are checked only there."""
    names = [_named(name, source) for name in dict.fromkeys(_names(select))][:_NAMES]
    root = etree.Element("root")
    level: Iterable[etree._Element] = [root]
    for _ in range(_DEEPEST):
        level = [etree.SubElement(one, name) for one in level for name in names]
    for element in root.iter():
        element.text = "1"
        for name in names:
            element.set(name, "1")
    xpath(root)
    return xpath


def _named(name: str, source: MappingText) -> str:
    prefix, colon, local = name.partition(":")
    return f"{{{source.prefixes[prefix]}}}{local}" if colon else name


_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_NAME = r"[A-Za-z_][\w.-]*"


def _names(select: str) -> list[str]:
    unquoted = re.sub(r"[\w-]+::", " ", _QUOTED.sub(" ", select))
    found = re.findall(rf"(?<![\w.:$-])((?:{_NAME}:)?{_NAME})(?![\w.:-]|\s*\()", unquoted)
    return [name for name in found if not name.startswith("xml:")]


def _functions(select: str) -> list[str]:
    return re.findall(rf"(?<![\w.-])((?:{_NAME}:)?{_NAME})\s*\(", _without_operators(select))


def _without_operators(select: str) -> str:
    """Remove quoted texts, axes, and the operators that may stand before a bracket."""
    text = re.sub(r"[\w-]+::", " ", _QUOTED.sub(" ", select))
    return re.sub(r"(?<=[\s)\]'\"*.\w])\s+(and|or|mod|div)\s*(?=\()", " ; ", text)


def _prefixes(xpath: str) -> list[str]:
    """Return the namespace prefixes in an XPath, without axes (``child::``) and strings."""
    unquoted = _QUOTED.sub(" ", xpath)
    found = re.findall(r"([\w.-]+):(?!:)", re.sub(r"[\w-]+::", " ", unquoted))
    return [prefix for prefix in found if prefix != "xml"]
