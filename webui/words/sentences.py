"""Sentences of other packages, which are English and have values in them already, on the page.

An error or the note of a form says its own values: ``record a has no version 2; it has 1``. Those
that people often see are found again here by their text, and translated; others stay English.
"""

import re
from functools import cache

from webui.words.texts import text as _

SENTENCES = (
    "Source: {url}",
    "Put what is to be imported into the directory {name} beside the Silo. Then reload this page.",
    (
        "Put the files of the crawl into the directory {name} beside the Silo: logs, indexes, "
        "WARCs, shards, lists of seeds. Then reload this page."
    ),
    "Name the access logs in usage/usage.toml of the Silo, such as {example}.",
    "Record {identifier} has no version {version}; it has {known}.",
    "Record {identifier} already has a version {version}; use another name.",
    "{version} is the only version of record {identifier}; delete the record instead.",
    (
        "{path} is in the way in version {version} of record {identifier}: a file or directory "
        "of that name already exists."
    ),
    "Version {version} of record {identifier} has no file {path}.",
    (
        "Record {identifier} is at revision {found}, not {expected}: it was changed meanwhile; "
        "look at it again, then repeat the change."
    ),
    "There is no saved search {name}.",
    "There is no finding {value}; there are {known}.",
    (
        "The {name} {value} is not a number; write one, such as {example}, or a range, such as "
        "{range}."
    ),
    "There is no job {job}.",
    "“{text}” is not a date; write YYYY-MM-DD.",
    "{until} is before {begin}; exchange them.",
    "The job {job} is being worked on by another process.",
    "Use small letters, digits, - and _ for the name.",
    "Give either an address or a list.",
    "There is already a service or list {name}.",
    "There is already a list {name}; choose another name.",
    "The url of {name} is no address of http or https.",
    "The list cannot be used: it is not UTF-8; save it as UTF-8.",
    "The list cannot be used: its first line must name the columns id and name.",
    "The list cannot be used: line {number} has no id or no name.",
    "There is no service or list {name}; there are {known}.",
    "Its address is not public; {setting} of curation/reconciliation.toml allows it.",
    "It does not answer with the manifest of a reconciliation service.",
    "It answers with {status}.",
    "Its answer is no JSON.",
)
"""English texts of the catalogue."""


def sentence(text: str) -> str:
    """Translate a sentence that has its values in it; others are looked up as they are."""
    for said, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return _(said, **match.groupdict())
    return _(text)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((said, re.compile(_pattern(said), re.DOTALL)) for said in SENTENCES)


def _pattern(said: str) -> str:
    pieces = re.split(r"\{(\w+)\}", said)
    values = (f"(?P<{name}>.+?)" for name in pieces[1::2])
    return "".join(
        piece for both in zip(map(re.escape, pieces[::2]), (*values, ""), strict=True)
        for piece in both
    )  # fmt: skip
