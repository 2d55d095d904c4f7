"""What an audit can find: the table of codes, of which docs/audit.md is made. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Severity(Enum):
    """How bad a finding is."""

    WARNING = "warning"
    """Nothing that was kept is lost or altered."""
    DAMAGE = "damage"
    """Something that was kept is lost or altered, or it is unknown whether it is."""


WARNING, DAMAGE = Severity.WARNING, Severity.DAMAGE

_RESTORE = "Restore the file from a backup; if there is none, delete it from the version."
_RESTORE_MANIFEST = (
    "Restore the manifest from a backup; what the record's directories hold is left as it is."
)
_MEND_MANIFEST = "Compare the manifest with a backup and restore it from there."
_SWEEP = "`silo repair` moves it to lost+found/."
_RESTORE_TORN = (
    "`silo repair` restores it where its previous copy is there; else restore it from a backup."
)
_RESTORE_ALTERED = (
    "`silo repair` restores its previous copy where that is there; else restore it from a "
    "backup, or take the key checksum out where the rest is right. Until then the record "
    "can be read and not changed."
)
_REINDEX = "`silo repair` or `silo reindex` makes the index anew."


class Code(Enum):
    """A rule, by its name; `number` is how reports and the documentation name it.

    Attributes:
        number: ``S001`` …; never given to another rule once released.
        severity: The same for every finding of the rule.
        meaning: What is wrong, as a phrase.
        advice: What the operator can do.
    """

    def __init__(self, number: str, severity: Severity, meaning: str, advice: str) -> None:
        self.number, self.severity, self.meaning, self.advice = number, severity, meaning, advice

    # fmt: off
    # -- the Silo's own files -------------------------------------------------------------
    NO_VERSION_FILE = (
        "S001", DAMAGE, "pairtree_version0_1, by which a Silo is known, is missing",
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
        "S009", DAMAGE, "a line of curation/removed.jsonl is not what is written there",
        "Correct the line with an editor; until then no record can be deleted for good.")
    REMOVALS_UNFINISHED = (
        "S010", WARNING, "the last line of curation/removed.jsonl was not written whole",
        "Nothing: it was never acknowledged, and the next removal cuts it off.")
    STATE_LEFT_OVER = (
        "S011", WARNING, "a state file that was staged and never came into force", _SWEEP)

    # -- the pairtree ---------------------------------------------------------------------
    STRAY_FILE = (
        "S020", WARNING, "a file among the directories of the pairtree",
        "Find out where it came from, and move it away.")
    STRAY_DIRECTORY = (
        "S021", WARNING, "a directory whose name is too long for a part of a pairtree path",
        "Look whose it is, and move it away; no record in it is found.")
    NOT_A_PAIRTREE_NAME = (
        "S022", DAMAGE, "a directory with a name that no pairtree path has",
        "Rename it as it was; no record in it is found.")
    LINK_IN_PAIRTREE = (
        "S023", DAMAGE, "a link or special file in the place of a pairtree directory",
        "Put the directory itself there; records behind a link are not listed.")
    EMPTY_DIRECTORY = (
        "S024", WARNING, "an empty directory in the pairtree",
        "`silo repair` removes it.")
    DIRECTORY_UNREADABLE = (
        "S025", DAMAGE, "a directory cannot be listed",
        "Give the user who runs the command the right to read it; look at the medium.")
    NO_IDENTIFIER = (
        "S026", DAMAGE, "a record lies at a path that is no identifier's",
        "Move its directories to where the item_id in its manifest belongs (`silo path`).")
    OWN_FILE_UNKNOWN = (
        "S027", WARNING, "an unknown file with a name of the store's own kind",
        "Find out where it came from, and move it away.")

    # -- the manifest, as a file ----------------------------------------------------------
    MANIFEST_MISSING = (
        "S030", DAMAGE, "there are versions and no manifest",
        _RESTORE_TORN)
    MANIFEST_NOT_A_FILE = (
        "S031", DAMAGE, "the manifest is a directory, a link or a special file",
        _RESTORE_MANIFEST)
    MANIFEST_UNREADABLE = (
        "S032", DAMAGE, "the manifest cannot be opened or read",
        "Give the user who runs the command the right to read it; look at the medium.")
    MANIFEST_EMPTY = (
        "S033", DAMAGE, "the manifest is empty",
        _RESTORE_TORN)
    MANIFEST_NOT_JSON = (
        "S034", DAMAGE, "the manifest is torn, or not JSON in UTF-8",
        _RESTORE_TORN)
    MANIFEST_NOT_AN_OBJECT = (
        "S035", DAMAGE, "the manifest is JSON and no object",
        _RESTORE_TORN)
    KEY_TWICE = (
        "S036", DAMAGE, "the manifest names a key twice", _MEND_MANIFEST)
    CHECKSUM_DIFFERS = (
        "S037", DAMAGE, "the manifest is not what was written: its checksum is another",
        _RESTORE_ALTERED)
    NO_CHECKSUM = (
        "S038", WARNING, "a manifest of this format has no checksum",
        "Compare it with a backup; any write through the store gives it one.")
    FORMAT_TOO_NEW = (
        "S039", WARNING, "a later release wrote the record",
        "Check it with that release; what is known here was checked.")
    PREVIOUS_UNREADABLE = (
        "S040", WARNING, "the copy of the previous manifest could not take its place",
        "Nothing: the next write makes another.")

    # -- the manifest, key by key ---------------------------------------------------------
    ITEM_ID = ("S041", DAMAGE, "item_id is not an identifier", _MEND_MANIFEST)
    OTHER_RECORD = (
        "S042", DAMAGE, "the manifest is that of another record: its item_id has another path",
        "Move the directories to where that identifier belongs, or restore the manifest.")
    VERSIONS = ("S043", DAMAGE, "versions is not a list of different names", _MEND_MANIFEST)
    VERSION_LEADS_OUT = (
        "S044", DAMAGE, "a version's name leads out of the record", _MEND_MANIFEST)
    VERSION_NAME = (
        "S045", WARNING, "a version has a name that the store gives to none",
        "Rename the version; it can be read as it is.")
    CURRENTVERSION = ("S046", DAMAGE, "currentversion is not among versions", _MEND_MANIFEST)
    DATE = ("S047", DAMAGE, "date is not text", _MEND_MANIFEST)
    VERSION_DATES = (
        "S048", DAMAGE, "version_dates is not an object of texts", _MEND_MANIFEST)
    FILES = ("S049", DAMAGE, "files is not an object of lists of names", _MEND_MANIFEST)
    SUBDIR = ("S050", DAMAGE, "subdir is not an object of lists of names", _MEND_MANIFEST)
    METADATA_FILES = (
        "S051", DAMAGE, "metadata_files is not an object of lists of paths", _MEND_MANIFEST)
    VERSIONLOG = (
        "S052", DAMAGE, "versionlog is not an object of lists of texts", _MEND_MANIFEST)
    METADATA = ("S053", DAMAGE, "metadata is not an object", _MEND_MANIFEST)
    FORMAT = ("S054", DAMAGE, "format is not a count below 2^63", _MEND_MANIFEST)
    REVISION = ("S055", DAMAGE, "revision is not a count below 2^63", _MEND_MANIFEST)
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
        "S061", WARNING, "a file has a name that the store gives to none",
        "Rename the file; it can be read as it is.")
    STORE_REFUSES = (
        "S062", DAMAGE, "the store refuses the manifest for a reason the audit does not know",
        _MEND_MANIFEST)

    # -- the manifest, key against key ----------------------------------------------------
    UNKNOWN_VERSION = (
        "S063", WARNING, "a key tells something about a version that is not listed",
        "Any write through the store leaves it out; compare versions with a backup first.")
    NO_FILES = (
        "S064", DAMAGE, "files says nothing about a version that is listed", _MEND_MANIFEST)
    NO_DIGESTS = (
        "S065", DAMAGE, "digests says nothing about a version that is listed, so it has no files",
        _MEND_MANIFEST)
    FILES_AND_DIGESTS = (
        "S066", DAMAGE, "files and digests of a version do not name the same files",
        _MEND_MANIFEST)
    SUBDIR_DISAGREES = (
        "S067", WARNING, "subdir of a version is not what its files say",
        _MEND_MANIFEST)
    METADATA_FILES_DISAGREE = (
        "S068", WARNING, "metadata_files of a version names what is not among its files",
        "Put the file again as metadata, or compare the manifest with a backup.")
    DATE_UNREADABLE = (
        "S069", WARNING, "a date is not ISO 8601",
        "Date the version anew (`set_version_date`).")
    DATE_DISAGREES = (
        "S070", WARNING, "the record's date is not that of its current version",
        "Set the current version again; lists show the record's date.")
    NO_ORIGIN = (
        "S071", WARNING, "origins says nothing about a version that is listed",
        _MEND_MANIFEST)
    ORIGIN_KIND = ("S072", DAMAGE, "an origin is of no known kind", _MEND_MANIFEST)
    ORIGIN_OF = (
        "S073", WARNING, "a clone's origin names no version of the record, and none was deleted",
        "Compare the manifest with a backup; the clone's files are not concerned.")

    # -- what broken-off writes left ------------------------------------------------------
    WRITE_UNFINISHED = (
        "S074", WARNING, "a change was prepared and never came into force",
        "`silo repair` moves what it left to lost+found/; so does the next write, for good.")
    CREATION_UNFINISHED = (
        "S075", WARNING, "a record was being made and never came into force",
        "`silo repair` moves what it left to lost+found/.")
    DELETION_UNFINISHED = (
        "S076", WARNING, "a record was deleted and not yet removed",
        "`silo repair` removes the rest.")
    DELETION_MARK = (
        "S077", WARNING, "the mark of a deletion beside a record that is there", _SWEEP)
    PENDING_UNDONE = (
        "S078", WARNING, "what the last change left pending is not carried out yet",
        "`silo repair` carries it out; so does the next write.")
    STAGED_FILE = (
        "S079", WARNING, "a file that was on its way into a version", _SWEEP)
    STAGED_VERSION = (
        "S080", WARNING, "a directory that was on its way to be a version", _SWEEP)
    ORPHAN_VERSION = (
        "S081", WARNING, "a version's directory that the manifest does not list",
        "`silo repair` moves it to lost+found/; put what is wanted of it into a version.")

    # -- the versions' files --------------------------------------------------------------
    VERSION_MISSING = (
        "S082", DAMAGE, "a version's directory is missing with all its files",
        "Restore the directory from a backup.")
    EMPTY_VERSION_MISSING = (
        "S083", WARNING, "the directory of a version without files is missing",
        "Make the empty directory again; backups often leave those out.")
    VERSION_NOT_A_DIRECTORY = (
        "S084", DAMAGE, "a link or a file in the place of a version's directory",
        "Put the directory itself there.")
    FILE_MISSING = ("S085", DAMAGE, "a file is missing", _RESTORE)
    FILE_TRUNCATED = ("S086", DAMAGE, "a harvested file is shorter than it was", _RESTORE)
    FILE_CHANGED = ("S087", DAMAGE, "a harvested file is not what it was", _RESTORE)
    EDITED_OUTSIDE = (
        "S088", WARNING, "a file of a curated version was edited outside the store",
        "`silo accept` keeps the edit, with who and why; or restore the file.")
    FILE_UNREADABLE = (
        "S089", DAMAGE, "a file cannot be opened or read",
        "Give the user who runs the command the right to read it; look at the medium.")
    NOT_A_FILE = ("S090", DAMAGE, "a directory in the place of a file", _RESTORE)
    SPECIAL_FILE = (
        "S091", DAMAGE, "a pipe, socket or device in a version",
        "Remove it; where a file should be, restore that from a backup.")
    LINK_DANGLING = ("S092", DAMAGE, "a link in the place of a file leads nowhere", _RESTORE)
    LINK_LEADS_OUT = (
        "S093", DAMAGE, "a link in the place of a file leads out of the Silo",
        "Put the file itself there.")
    OLD_LINK_DANGLING = (
        "S094", WARNING, "a link of a delta clone of 2010 leads nowhere (the Silo was moved)",
        "Put the file again, from the version it was cloned of.")
    OLD_LINK_LEADS_OUT = (
        "S095", WARNING, "a link of a delta clone of 2010 leads out of the Silo (it was copied)",
        "Put the file again, from the version it was cloned of.")
    UNLISTED_FILE = (
        "S096", WARNING, "a file in a harvested version that the manifest does not list",
        "Look whose it is, and move it away; no program shows it.")
    ADDED_OUTSIDE = (
        "S097", WARNING, "a file in a curated version that the manifest does not list",
        "`silo accept DIR ID FILE` takes it into the version; or move it away.")
    UNLISTED_DIRECTORY = (
        "S098", WARNING, "an empty directory in a version that the manifest does not list",
        "`silo repair` removes it.")
    DIRECTORY_MISSING = (
        "S099", WARNING, "an empty directory of a version is missing",
        "Make it again; backups often leave empty directories out.")

    # -- what a curator says of versions --------------------------------------------------
    STATES = ("S100", DAMAGE, "states is not an object of texts", _MEND_MANIFEST)
    STATE_UNKNOWN = (
        "S101", WARNING, "a version has an unknown state",
        "Set it again (`silo state`).")

    # -- names that nothing can have ------------------------------------------------------
    VERSION_IMPOSSIBLE = (
        "S102", DAMAGE, "a version has a name that no directory can have", _MEND_MANIFEST)
    FILE_IMPOSSIBLE = (
        "S103", DAMAGE, "a file has a path that no file can have", _MEND_MANIFEST)
    TOO_DEEP = (
        "S104", DAMAGE, "the manifest nests deeper than can be read", _RESTORE_TORN)

    # -- the index ------------------------------------------------------------------------
    INDEX_DAMAGED = ("S110", WARNING, "the index cannot be read", _REINDEX)
    INDEX_LACKS = ("S111", WARNING, "the index does not have a record", _REINDEX)
    INDEX_SURPLUS = ("S112", WARNING, "the index has a record that is not there", _REINDEX)
    INDEX_DIFFERS = (
        "S113", WARNING, "the index tells something else of a record than its manifest", _REINDEX)
    INDEX_DESCRIBES = (
        "S114", WARNING,
        "the index has another title, full text or facets for a record than its files",
        "`silo repair` makes the index anew.")
    INDEX_SEARCH = (
        "S115", WARNING, "searches of the index go by something else than its rows and texts",
        "`silo repair` makes the index anew.")

    # -- checks that packages contribute ----------------------------------------------------
    CHECK_FAILED = (
        "S120", WARNING, "a check that another package contributes could not be run",
        "Update or remove that package, or leave its check out with --without.")
    # fmt: on


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a check that a package contributes; `Code` has the store's own.

    Attributes:
        number: A letter other than S, and digits: ``X001``; never given to another rule.
        severity, meaning, advice: As those of `Code`.
    """

    number: str
    severity: Severity
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        path: Relative to the Silo, ``/``-separated.
        expected: What should be there.
        found: What is.
        identifier: Of the record concerned; empty where none is.
    """

    code: Code | Rule
    path: str
    expected: str
    found: str
    identifier: str = ""

    @property
    def severity(self) -> Severity:
        """That of its rule."""
        return self.code.severity

    def as_json(self) -> dict[str, Any]:
        """The finding as every JSON output shows it."""
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
