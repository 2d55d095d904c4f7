"""The codes of an audit's findings, which docs/audit-codes.md lists in tables. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Severity(Enum):
    """How bad a finding is."""

    WARNING = "warning"
    """No stored data is lost or altered."""
    DAMAGE = "damage"
    """Stored data is lost or altered, or may be."""


WARNING, DAMAGE = Severity.WARNING, Severity.DAMAGE

_REPLACE_ALTERED = (
    "Clone the version to keep what was changed; for the source's files delete the record "
    "(`silo rm`) and harvest it again (`silo harvest --restore-removed`), or replay the "
    "recorded responses into another Silo."
)
_RESTORE_HARVESTED = (
    "Restore the file from a backup; if there is none, delete the record (`silo rm`) "
    "and harvest it again (`silo harvest --restore-removed`)."
)
_RESTORE = (
    "Restore the file from a backup; if there is none, delete it from a curated version "
    "(`silo rm --file`), or delete the record and harvest it again "
    "(`silo harvest --restore-removed`)."
)
_RESTORE_MANIFEST = (
    "Restore the manifest from a backup; the record's directories are left as they are."
)
_MEND_MANIFEST = "Compare the manifest with a backup and restore it from there."
_SWEEP = "`silo repair` moves it to lost+found/."
_RESTORE_TORN = (
    "`silo repair` restores its previous copy if there is one; else restore it from a backup."
)
_RESTORE_ALTERED = (
    "`silo repair` restores its previous copy if there is one; else restore it from a "
    "backup, or remove the key checksum if the rest is right. Until then the record "
    "can be read but not changed."
)
_REINDEX = "`silo repair` or `silo reindex` rebuilds the index."


class Code(Enum):
    """A rule of the audit.

    Attributes:
        number: Its code in reports and documentation, such as ``S001``; never reused.
        severity: The severity of every finding of the rule.
        meaning: What is wrong, as a phrase.
        advice: What the operator can do.
    """

    def __init__(self, number: str, severity: Severity, meaning: str, advice: str) -> None:
        self.number, self.severity, self.meaning, self.advice = number, severity, meaning, advice

    # fmt: off
    # -- the Silo's own files -------------------------------------------------------------
    NO_VERSION_FILE = (
        "S001", DAMAGE, "pairtree_version0_1, which marks a Silo, is missing",
        "`silo repair` writes the file.")
    OTHER_VERSION_FILE = (
        "S002", WARNING, "pairtree_version0_1 does not say that this is a Pairtree 0.1",
        "Copy the file from another Silo.")
    NO_PREFIX = (
        "S003", WARNING, "pairtree_prefix is missing",
        "`silo repair` writes it from persisted_state.json.")
    OTHER_PREFIX = (
        "S004", WARNING, "pairtree_prefix is not the uri_base of persisted_state.json",
        "Find out which is right and correct the other with an editor.")
    NO_ROOT = (
        "S005", DAMAGE, "pairtree_root is missing or not a directory",
        "Restore the directory from a backup.")
    STATE_UNREADABLE = (
        "S006", DAMAGE, "persisted_state.json cannot be read as a JSON object",
        "Restore it from a backup, or correct it with an editor.")
    NO_STATE = (
        "S007", WARNING, "persisted_state.json is missing, and with it the Silo's settings",
        "Restore it from a backup, or open the Silo once with its settings.")
    HARVESTER_STATE_UNREADABLE = (
        "S008", DAMAGE, "oaipmh_harvester.json cannot be read as a JSON object",
        "Restore it from a backup; or remove it, and the next harvest begins from the start.")
    REMOVALS_UNREADABLE = (
        "S009", DAMAGE, "a line of curation/removed.jsonl is malformed",
        "Correct the line with an editor; until then no record can be deleted for good.")
    REMOVALS_UNFINISHED = (
        "S010", WARNING, "the last line of curation/removed.jsonl was not written completely",
        "Nothing: it was never acknowledged, and the next removal cuts it off.")
    STATE_LEFT_OVER = (
        "S011", WARNING, "a staged state file was never put in place", _SWEEP)

    # -- the pairtree ---------------------------------------------------------------------
    STRAY_FILE = (
        "S020", WARNING, "a file among the directories of the pairtree",
        "Find out where it came from, and move it away.")
    STRAY_DIRECTORY = (
        "S021", WARNING, "a directory whose name is too long for a part of a pairtree path",
        "Find out who made it, and move it away; records in it are not found.")
    NOT_A_PAIRTREE_NAME = (
        "S022", DAMAGE, "a directory's name is not valid in a pairtree path",
        "Restore its old name; records in it are not found.")
    LINK_IN_PAIRTREE = (
        "S023", DAMAGE, "a link or special file instead of a pairtree directory",
        "Replace it with the directory itself; records behind a link are not listed.")
    EMPTY_DIRECTORY = (
        "S024", WARNING, "an empty directory in the pairtree",
        "`silo repair` removes it.")
    DIRECTORY_UNREADABLE = (
        "S025", DAMAGE, "a directory cannot be listed",
        "Give the user who runs the command permission to read it; check the disk.")
    NO_IDENTIFIER = (
        "S026", DAMAGE, "a record is at a path that belongs to no identifier",
        "Move its directories to where the item_id in its manifest belongs (`silo path`).")
    OWN_FILE_UNKNOWN = (
        "S027", WARNING, "an unknown file has a name of the kind that the store uses",
        "Find out where it came from, and move it away.")

    # -- the manifest, as a file ----------------------------------------------------------
    MANIFEST_MISSING = (
        "S030", DAMAGE, "there are versions but no manifest",
        _RESTORE_TORN)
    MANIFEST_NOT_A_FILE = (
        "S031", DAMAGE, "the manifest is a directory, a link or a special file",
        _RESTORE_MANIFEST)
    MANIFEST_UNREADABLE = (
        "S032", DAMAGE, "the manifest cannot be opened or read",
        "Give the user who runs the command permission to read it; check the disk.")
    MANIFEST_EMPTY = (
        "S033", DAMAGE, "the manifest is empty",
        _RESTORE_TORN)
    MANIFEST_NOT_JSON = (
        "S034", DAMAGE, "the manifest is torn, or not JSON in UTF-8",
        _RESTORE_TORN)
    MANIFEST_NOT_AN_OBJECT = (
        "S035", DAMAGE, "the manifest is JSON but not an object",
        _RESTORE_TORN)
    KEY_TWICE = (
        "S036", DAMAGE, "the manifest names a key twice", _MEND_MANIFEST)
    CHECKSUM_DIFFERS = (
        "S037", DAMAGE, "the manifest does not match its checksum",
        _RESTORE_ALTERED)
    NO_CHECKSUM = (
        "S038", WARNING, "a manifest of this format has no checksum",
        "Compare it with a backup; any write through the store gives it one.")
    FORMAT_TOO_NEW = (
        "S039", WARNING, "a later release wrote the record",
        "Check it with that release; what is known here was checked.")
    PREVIOUS_UNREADABLE = (
        "S040", WARNING, "the copy of the previous manifest cannot be used to restore it",
        "Nothing: the next write makes another.")

    # -- the manifest, key by key ---------------------------------------------------------
    ITEM_ID = ("S041", DAMAGE, "item_id is not an identifier", _MEND_MANIFEST)
    OTHER_RECORD = (
        "S042", DAMAGE, "the manifest belongs to another record: its item_id has another path",
        "Move the directories to where that identifier belongs, or restore the manifest.")
    VERSIONS = ("S043", DAMAGE, "versions is not a list of distinct names", _MEND_MANIFEST)
    VERSION_LEADS_OUT = (
        "S044", DAMAGE, "a version's name leads out of the record", _MEND_MANIFEST)
    VERSION_NAME = (
        "S045", WARNING, "a version has a name that the store does not allow",
        "Rename the version; it can be read as it is.")
    CURRENTVERSION = ("S046", DAMAGE, "currentversion is not among versions", _MEND_MANIFEST)
    DATE = ("S047", DAMAGE, "date or changed is not text", _MEND_MANIFEST)
    VERSION_DATES = (
        "S048", DAMAGE, "version_dates is not an object of strings", _MEND_MANIFEST)
    FILES = ("S049", DAMAGE, "files is not an object of lists of names", _MEND_MANIFEST)
    SUBDIR = ("S050", DAMAGE, "subdir is not an object of lists of names", _MEND_MANIFEST)
    METADATA_FILES = (
        "S051", DAMAGE, "metadata_files is not an object of lists of paths", _MEND_MANIFEST)
    VERSIONLOG = (
        "S052", DAMAGE, "versionlog is not an object of lists of strings", _MEND_MANIFEST)
    METADATA = ("S053", DAMAGE, "metadata is not an object", _MEND_MANIFEST)
    FORMAT = ("S054", DAMAGE, "format is not an integer from 0 to 2^63 - 1", _MEND_MANIFEST)
    REVISION = ("S055", DAMAGE, "revision is not an integer from 0 to 2^63 - 1", _MEND_MANIFEST)
    DIGESTS = ("S056", DAMAGE, "digests is not an object of digests", _MEND_MANIFEST)
    ORIGINS = ("S057", DAMAGE, "origins is not an object of origins", _MEND_MANIFEST)
    PENDING = (
        "S058", DAMAGE, "pending is not lists of renames and unlinks", _MEND_MANIFEST)
    PENDING_LEADS_OUT = (
        "S059", DAMAGE, "pending names a path outside the record's versions; it is not followed",
        _MEND_MANIFEST)
    FILE_LEADS_OUT = (
        "S060", DAMAGE, "a file's path leads out of its version; it is not followed",
        _MEND_MANIFEST)
    FILE_NAME = (
        "S061", WARNING, "a file has a name that the store does not allow",
        "Rename the file; it can be read as it is.")
    STORE_REFUSES = (
        "S062", DAMAGE, "the store refuses the manifest for a reason the audit does not know",
        _MEND_MANIFEST)

    # -- the manifest, keys that disagree -------------------------------------------------
    UNKNOWN_VERSION = (
        "S063", WARNING, "a key has an entry for a version that is not listed",
        "Any write through the store removes it; compare versions with a backup first.")
    NO_FILES = (
        "S064", DAMAGE, "files has no entry for a listed version", _MEND_MANIFEST)
    NO_DIGESTS = (
        "S065", DAMAGE, "digests has no entry for a listed version, which therefore has no files",
        _MEND_MANIFEST)
    FILES_AND_DIGESTS = (
        "S066", DAMAGE, "files and digests of a version do not name the same files",
        _MEND_MANIFEST)
    SUBDIR_DISAGREES = (
        "S067", WARNING, "subdir of a version does not match its files",
        _MEND_MANIFEST)
    METADATA_FILES_DISAGREE = (
        "S068", WARNING, "metadata_files of a version names a file that it does not have",
        "Put the file again as metadata, or compare the manifest with a backup.")
    DATE_UNREADABLE = (
        "S069", WARNING, "a date is not ISO 8601",
        "Set the version's date again (`set_version_date`).")
    DATE_DISAGREES = (
        "S070", WARNING, "the record's date is not that of its current version",
        "Set the current version again; lists show the record's date.")
    NO_ORIGIN = (
        "S071", WARNING, "origins has no entry for a listed version",
        _MEND_MANIFEST)
    ORIGIN_KIND = ("S072", DAMAGE, "an origin has an unknown kind", _MEND_MANIFEST)
    ORIGIN_OF = (
        "S073", WARNING, "a clone's origin names no version of the record, and none was deleted",
        "Compare the manifest with a backup; the clone's files are not affected.")

    # -- leftovers of interrupted writes --------------------------------------------------
    WRITE_UNFINISHED = (
        "S074", WARNING, "a change was prepared but not committed",
        "`silo repair` moves what it left to lost+found/; the next write deletes it.")
    CREATION_UNFINISHED = (
        "S075", WARNING, "the creation of a record was not completed",
        "`silo repair` moves what it left to lost+found/.")
    DELETION_UNFINISHED = (
        "S076", WARNING, "a record was deleted but its files are not yet removed",
        "`silo repair` removes the rest.")
    DELETION_MARK = (
        "S077", WARNING, "a deletion mark beside an existing record", _SWEEP)
    PENDING_UNDONE = (
        "S078", WARNING, "pending work of the last change is not done yet",
        "`silo repair` completes it; so does the next write.")
    STAGED_FILE = (
        "S079", WARNING, "a staged file was never moved into its version", _SWEEP)
    STAGED_VERSION = (
        "S080", WARNING, "a staged directory never became a version", _SWEEP)
    ORPHAN_VERSION = (
        "S081", WARNING, "the directory of a version that the manifest does not list",
        "`silo repair` moves it to lost+found/; put the files you need into a version.")

    # -- the versions' files --------------------------------------------------------------
    VERSION_MISSING = (
        "S082", DAMAGE, "a version's directory is missing with all its files",
        "Restore the directory from a backup.")
    EMPTY_VERSION_MISSING = (
        "S083", WARNING, "the directory of a version without files is missing",
        "Create the empty directory again; backups often leave these out.")
    VERSION_NOT_A_DIRECTORY = (
        "S084", DAMAGE, "a link or a file instead of a version's directory",
        "Replace it with the directory itself.")
    FILE_MISSING = ("S085", DAMAGE, "a file is missing", _RESTORE)
    FILE_TRUNCATED = ("S086", DAMAGE, "a harvested file is shorter than it was", _RESTORE_HARVESTED)
    FILE_CHANGED = ("S087", DAMAGE, "a harvested file was changed", _RESTORE_HARVESTED)
    EDITED_OUTSIDE = (
        "S088", WARNING, "a file of a curated version was edited outside the store",
        "`silo accept` keeps the edit, with author and reason; or restore the file.")
    FILE_UNREADABLE = (
        "S089", DAMAGE, "a file cannot be opened or read",
        "Give the user who runs the command permission to read it; check the disk.")
    NOT_A_FILE = ("S090", DAMAGE, "a directory instead of a file", _RESTORE)
    SPECIAL_FILE = (
        "S091", DAMAGE, "a pipe, socket or device in a version",
        "Remove it; if a file should be there, restore it from a backup.")
    LINK_DANGLING = ("S092", DAMAGE, "a dangling link instead of a file", _RESTORE)
    LINK_LEADS_OUT = (
        "S093", DAMAGE, "a link to a place outside the Silo instead of a file",
        "Replace it with the file itself.")
    OLD_LINK_DANGLING = (
        "S094", WARNING, "a link of a delta clone of 2010 is dangling (the Silo was moved)",
        "Put the file again, from the version that it was cloned from.")
    OLD_LINK_LEADS_OUT = (
        "S095", WARNING, "a link of a delta clone of 2010 leads out of the Silo (it was copied)",
        "Put the file again, from the version that it was cloned from.")
    UNLISTED_FILE = (
        "S096", WARNING, "a file in a harvested version that the manifest does not list",
        "Find out who made it, and move it away; no program shows it.")
    ADDED_OUTSIDE = (
        "S097", WARNING, "a file in a curated version that the manifest does not list",
        "`silo accept DIR ID FILE` adds it to the version; or move it away.")
    UNLISTED_DIRECTORY = (
        "S098", WARNING, "an empty directory in a version that the manifest does not list",
        "`silo repair` removes it.")
    DIRECTORY_MISSING = (
        "S099", WARNING, "an empty directory of a version is missing",
        "Create it again; backups often leave empty directories out.")

    # -- the states of versions -----------------------------------------------------------
    STATES = ("S100", DAMAGE, "states is not an object of strings", _MEND_MANIFEST)
    STATE_UNKNOWN = (
        "S101", WARNING, "a version has an unknown state",
        "Set it again (`silo state`).")

    # -- impossible names -----------------------------------------------------------------
    VERSION_IMPOSSIBLE = (
        "S102", DAMAGE, "a version's name is not possible for a directory", _MEND_MANIFEST)
    FILE_IMPOSSIBLE = (
        "S103", DAMAGE, "a file's path is not possible", _MEND_MANIFEST)
    TOO_DEEP = (
        "S104", DAMAGE, "the manifest nests deeper than can be read", _RESTORE_TORN)

    # -- what an earlier release allowed --------------------------------------------------
    HARVESTED_ALTERED = (
        "S105", WARNING, "a harvested version was changed here, which earlier releases allowed",
        _REPLACE_ALTERED)

    # -- what the record was --------------------------------------------------------------
    HISTORY = ("S106", DAMAGE, "history is not an object with steps", _MEND_MANIFEST)

    # -- the index ------------------------------------------------------------------------
    INDEX_DAMAGED = ("S110", WARNING, "the index cannot be read", _REINDEX)
    INDEX_LACKS = ("S111", WARNING, "a record is missing from the index", _REINDEX)
    INDEX_SURPLUS = ("S112", WARNING, "the index has a record that does not exist", _REINDEX)
    INDEX_DIFFERS = (
        "S113", WARNING, "the index and the manifest of a record differ", _REINDEX)
    INDEX_DESCRIBES = (
        "S114", WARNING,
        "the title, full text or facets of a record in the index do not match its files",
        "`silo repair` rebuilds the index.")
    INDEX_SEARCH = (
        "S115", WARNING, "the search structures of the index do not match its rows and texts",
        "`silo repair` rebuilds the index.")

    # -- checks that packages contribute ----------------------------------------------------
    CHECK_FAILED = (
        "S120", WARNING, "a check that another package contributes could not be run",
        "Update or remove that package, or leave its check out with --without.")
    # fmt: on


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a check that a package contributes; `Code` has the store's own.

    Attributes:
        number: A letter other than S, and digits: ``X001``; never reused.
        severity, meaning, advice: See `Code`.
    """

    number: str
    severity: Severity
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that an audit found.

    Attributes:
        path: Relative to the Silo, ``/``-separated.
        expected: What should be there.
        found: What is there.
        identifier: The record's; empty if no record is affected.
    """

    code: Code | Rule
    path: str
    expected: str
    found: str
    identifier: str = ""

    @property
    def severity(self) -> Severity:
        """The severity of its rule."""
        return self.code.severity

    def as_json(self) -> dict[str, Any]:
        """The finding as the JSON output shows it."""
        return {
            "code": self.code.number,
            "severity": self.severity.value,
            "meaning": self.code.meaning,
            "path": printable(self.path),
            "identifier": printable(self.identifier),
            "expected": printable(self.expected),
            "found": printable(self.found),
            "what_to_do": self.code.advice,
        }


def printable(text: str) -> str:
    """The text in one line, with undecodable bytes and control characters escaped."""
    valid = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in valid)


def shown(value: object) -> str:
    """A value for a report, shortened."""
    text = repr(value)
    return text if len(text) <= 100 else text[:99] + "…"


def table(rules: Iterable[Code | Rule] = Code) -> str:
    """The codes as a Markdown table, in the order of their numbers."""
    lines = ["| code | severity | what is wrong | what to do |", "|---|---|---|---|"]
    lines += [
        f"| {code.number} | {code.severity.value} | {code.meaning} | {code.advice} |"
        for code in sorted(rules, key=lambda code: code.number)
    ]
    return "\n".join(lines) + "\n"
