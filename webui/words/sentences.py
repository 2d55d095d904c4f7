"""Sentences of other packages, which are English and have values in them already, on the page.

An error or the note of a form says its own values: ``record a has no version 2; it has 1``. Those
that people often see are found again here by their text, and translated; others stay English.
"""

import re
from functools import cache

from webui.words.dates import for_people
from webui.words.texts import numeral
from webui.words.texts import text as _

SENTENCES = (
    "{purpose} needs the package {package}; install it on the server: {command}.",
    "has no version",
    "has no metadata file",
    "has a working copy that is not its current version",
    "no longer has a version {version}",
    "was changed since",
    "was changed since the spreadsheet was made",
    "was not found in this Silo",
    "cannot be read",
    "{path} was edited outside; accept it first",
    "{path} was edited with another program since",
    "was deleted at the source and is still in the export",
    "is not available: {reason}",
    "is answered without a record",
    "is answered with another record, {identifier}",
    "cannot be written here: {reason}",
    "has an identifier with a character that no text can have",
    "it was removed from this Silo for good",
    "the Silo has a record of this identifier with other content",
    "{path} is not as the source says",
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
    "{name} is a list, without an address; add the service under another name.",
    "{name} is a service, and needs its address; add a list under another name.",
    "The url of {name} is no address of http or https.",
    "The list cannot be used: it is not UTF-8; save it as UTF-8.",
    "The list cannot be used: its first line must name the columns id and name.",
    "The list cannot be used: line {number} has no id or no name.",
    "The list cannot be used: line {number}: a quotation mark is not closed or not doubled.",
    "The list cannot be used: line {number}: the id has a control character.",
    "The list cannot be used: its first line names the column {column} twice.",
    "The list cannot be used: it has no names below its first line.",
    "There is no service or list {name}; there are {known}.",
    "Its address is not public; {setting} of curation/reconciliation.toml allows it.",
    "It does not answer with the manifest of a reconciliation service.",
    "It answers with {status}.",
    "Its answer is no JSON.",
    # Of forms of records, versions and files.
    "{identifier} cannot be an identifier: {reason}.",
    "{version} cannot name a version: {reason}.",
    "{path} cannot name a file in a version: {reason}.",
    (
        "Malformed metadata: {path} {reason}; nothing was stored. Metadata that is not XML needs a "
        "name with its extension, such as .json."
    ),
    # Of batch edits, rules and saved searches.
    "Change {number}: {reason}.",
    "A rule must name the field that it changes.",
    "A rule takes a value or a pattern, not both.",
    "A value is split at a separator, which cannot be empty.",
    "Enter the new value.",
    "Add a change, or choose a status.",
    "No record is selected, so there is nothing to change.",
    (
        "The pattern {pattern} takes too long; the usual cause is nested repetitions such as "
        "(a+)+, or a long pattern on long values."
    ),
    "{pattern} is not a valid pattern: {error}.",
    "{text} is not a valid replacement: {error}.",
    "{text} is not a language tag; write one such as en or zh-Hant.",
    "{name} is not a valid rule name; use letters, digits, spaces and -_.",
    "A saved search needs a title with letters or digits.",
    # Of accounts.
    (
        "{text} cannot be the name of an account: it begins with a letter a-z or a digit, and has "
        "up to 64 of these and . _ @ + -."
    ),
    "There is an account {name} already.",
    "There is no account {name}.",
    "{name} is the last manager; make another account a manager first.",
    "A password has {number} characters at least.",
    "A password has {number} characters at most.",
    "A password that is hardly more than the name is easily guessed.",
    "A password of so few different characters is easily guessed.",
    # Of harvests, schedules and export places.
    "A harvest needs a metadata format, such as oai_dc.",
    "A schedule needs a name with letters a-z or digits.",
    "A schedule ends after it begins.",
    "A schedule has weekdays, or days of the month, not both.",
    "The schedule has no run: it ends before the first.",
    "There is a schedule {name} already.",
    "The days of a month are 1 to 31.",
    "The interval of a schedule is between one minute and 366 days.",
    "The jitter of a schedule is shorter than a day.",
    "The jitter of a schedule is shorter than its interval.",
    "The last job of the schedule {name} is not finished.",
    "The address must begin with http:// or https:// and name a server.",
    "The address must not contain a user or password.",
    "The address must not contain a query or fragment (? or #).",
    # Titles of jobs.
    "Update all formats and sets",
    "Audit: {percent}% of the records byte for byte",
    "Match the crawl {name}",
    'Export "{name}": {kind}',
    "Export to {kind}: {place}",
    # Of requests.
    "{url} gives no answer: {reason}",
    "{url} gives no answer after {number} attempts: {reason}",
    # Of harvests that ended.
    "{list}: the number of records was checked with a list of all identifiers ({reason})",
    "{list}: the identifiers could not be counted: {why}",
    "{list}: stopped before the end of the list: {why}",
    "{list}: the repository promised {promised} records and listed {listed}; {missing} are missing",
    "{list}: the repository promised {promised} records and listed {listed}; 1 is missing",
    "{list}: nothing shows that the {listed} records listed are all there are ({reason})",
    "{promised} records were promised and {listed} listed.",
    # Of panels.
    "Crawl {name}, matched {day}.",
    "The newest {n} of each link.",
    "The newest {n} of each link. With pywb, “silo crawl replay” shows them on the server.",
    "{url} on {minute}, as a browser showed it.",
    # Of the conditions of crawls.
    "all can be read",
    "none failed",
    "1 target",
    "{number} targets",
    "{size} GB free",
    "{number} overdue: {names}",
    "{waiting} wait to be fetched, {later} to be checked",
    "links of all records",
    "links of {records}",
    # Of searches.
    "There is no filter {name}; there are {known}.",
    "{text} is not a year or a month; write 2026 or 2026-11.",
    "{text} is not a period; write 2026-11, 2026-11-28.. or ..2026-11-28.",
    "{text} is not a range; write 2010..2016, 2010.. or ..2016.",
    "The range {text} ends before it begins; write {other}.",
    "The period {text} ends before it begins; write {other}.",
    "{text} is not a page of this search; start at its first page.",
)
"""English texts of the catalogue."""
ON_THE_PAGE = {
    "done; silo crawl attach adds the file to the record": (
        "done; to add the file to the record, choose “Add a file” on its page, or run silo crawl "
        "attach on the server"
    ),
    (
        "nothing to do; silo crawl run attaches the document to its record, or proposes it for "
        "review"
    ): "the document was attached, rejected, or waits under “Proposed documents”",
    "nothing to do; silo crawl run fetches it when its target is due": (
        "nothing to do; the crawl fetches it when its target is due"
    ),
    "no targets; see silo crawl target add": "no targets; add one under “Crawl targets”",
    "start silo crawl run": "start the crawl on the server: silo crawl run",
}
"""What advises a command → what the page says instead: English texts of the catalogue."""
OPTIONS = {
    "--on-conflict overwrite": ("“{label}: overwrite”", "If others changed the target"),
    "give --prefix": ("fill in “{label}”", "Prefix of DOIs"),
    "give --publisher": ("fill in “{label}”", "Publisher"),
    "give --type": ("fill in “{label}”", "Type"),
    "choose one (--collection)": ("choose one at “{label}”", "Collection"),
    "say which by --map": ("say which at “{label}”:", "Columns"),
    "leave it out by --map": ("leave it out there:", ""),
    "see --moved": ("to harvest it from there, run silo harvest --moved on the server", ""),
    "--per file makes each file a record": ("choose another “{label}”", "It is"),
}
"""Options of commands in a sentence → what the form of the page has instead, and its label there,
an English text of the catalogue. The rest of such a sentence is not translated, either."""
REASONS = (
    "it is empty",
    "it is empty, or has an empty part",
    "it contains a '/'",
    "it contains a NUL character",
    "it contains a control character",
    "it contains half of a surrogate pair",
    "it begins with '/'; paths are relative to the version",
    "names beginning with 0= to 5= are tags of the 2010 format",
    "the connection was refused",
    "the host name is unknown",
    "the response came too slowly",
    "the response was cut short",
    "the server kept silent too long",
    "it has an address that is not public",
    "the repository did not say how many records there are",
    "the repository's numbers are no counts of its lists",
    "the Silo holds records that were not listed",
)
"""What a sentence gives as its ``reason``: English texts of the catalogue."""


def sentence(text: str) -> str:
    """Translate a sentence that has its values in it; others are looked up as they are.

    Where it advises a command or an option, it says what to do on the page.
    """
    text = ON_THE_PAGE.get(text, text)
    for option, (here, label) in OPTIONS.items():
        if option in text:
            text = text.replace(option, here.format(label=_(label)))
    for said, pattern in _patterns():
        if match := pattern.fullmatch(text):
            values = match.groupdict()
            if "reason" in values:
                values["reason"] = _reason(values["reason"])
            if "kind" in values:
                values["kind"] = _(values["kind"])
            values |= {name: for_people(values[name]) for name in _DATES & values.keys()}
            values |= {name: _numeral(values[name]) for name in _NUMBERS & values.keys()}
            return _(said, **values)
    return _(text)


def _reason(words: str) -> str:
    """Translate the reason in a sentence: one of `REASONS`, or a sentence without its full stop."""
    if words in REASONS:
        return _(words)
    if (said := sentence(words)) != words:
        return said
    begun = f"{words[:1].upper()}{words[1:]}."
    said = sentence(begun)
    return words if said == begun else said.removesuffix(".")


_DATES = {"day", "minute"}
"""Values of sentences that are dates."""
_NUMBERS = {"size", "promised", "listed", "missing"}
"""Those that are numbers, written as in English."""


def _numeral(text: str) -> str:
    digits = text.replace(",", "")
    if not re.fullmatch(r"\d+(\.\d+)?", digits):
        return text
    _whole, _point, decimals = digits.partition(".")
    return numeral(float(digits), len(decimals)) if decimals else numeral(int(digits))


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
