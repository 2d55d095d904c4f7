"""The errors of a Silo. Each has a one-sentence message, and its arguments as attributes.

``identifier`` is the record's, ``version`` the name of a version, and ``path`` that of a file
within the version, unless an error says otherwise.
"""

import errno
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import islice, takewhile
from typing import Any, Self

from recordsilo.prompt_errors import frames_and_sentence

_NAMED = 10
"""The largest number of records that a message names."""
_COPYING = "copying.json"
VERSION_FILE = "pairtree_version0_1"
"""Of a Silo: a directory that has it is one (Pairtree 0.1)."""
_LOOKED_AT = 5000
"""Names in a directory that are compared with a mistyped one."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: ``; did you mean 'title'?``, or nothing."""
    return or_these(nearest(name, known))


def or_these(names: Iterable[str]) -> str:
    """The end of a sentence that names what was probably meant; empty without names."""
    near = " or ".join(map(repr, names))
    return f"; did you mean {near}?" if near else ""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The at most two known names that are most like an unknown one, the nearest first.

    One with two neighbouring letters exchanged (``yaer``) is meant, and no other.
    """
    found = get_close_matches(name, list(dict.fromkeys(known)), 2)
    return [one for one in found if _is_swapped(name, one)] or found


def _is_swapped(name: str, other: str) -> bool:
    """Whether two names differ in the order of two neighbouring letters alone."""
    if len(name) != len(other):
        return False
    differing = [place for place, (a, b) in enumerate(zip(name, other, strict=True)) if a != b]
    if len(differing) != 2 or differing[1] != differing[0] + 1:
        return False
    first, second = differing
    return (name[first], name[second]) == (other[second], other[first])


def most_similar(name: str, known: Iterable[str]) -> list[str]:
    """As `nearest`, for names that differ by digits: of equally near ones, the first in order."""
    found = get_close_matches(name, dict.fromkeys(known), 10_000)
    matcher = SequenceMatcher(b=name)

    def distance(one: str) -> tuple[float, int, str]:
        matcher.set_seq1(one)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(one, name, strict=False))
        return -matcher.ratio(), -sum(1 for _ in same), one

    return sorted(found, key=distance)[:2]


class RecordSiloError(Exception):
    """Base of the store's errors; the message is a sentence for the user."""

    def __str__(self) -> str:  # KeyError would show the repr, OSError its number and file
        return str(self.args[0]) if self.args else ""

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show: the user's lines, and the sentence."""
        return frames_and_sentence(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message and the facts, so that an error leaves its process as it is."""
        told = (str(self), *self.args[1:])
        facts = dict(vars(self))
        if isinstance(self, OSError):
            facts |= {name: getattr(self, name) for name in ("errno", "strerror", "filename")}
        return _raised_again, (type(self), told, facts)


def _raised_again(
    kind: type[RecordSiloError], told: tuple[Any, ...], facts: dict[str, Any]
) -> RecordSiloError:
    """Make the error that was pickled."""
    error = kind.__new__(kind, *told)
    error.args = told
    for name, value in facts.items():
        setattr(error, name, value)
    return error


class ArgumentUnknown(RecordSiloError, TypeError):
    """A function takes no argument of that name."""

    def __init__(self, function: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        meant = nearest(name, known) or [one for one in known if name in one][:2]
        told = or_these(meant) or f"; there are {', '.join(known)}"
        super().__init__(f"{function} has no argument {name!r}{told}")


class NoHarvester(RecordSiloError):
    """Nothing that harvests is installed."""

    def __init__(self) -> None:
        super().__init__(
            "no harvester is installed: the package oaipmhscraper contributes one; install silo"
            " again"
        )


class SiloNotFound(RecordSiloError):
    """There is no Silo with that name or path."""

    @classmethod
    def at(cls, path: str) -> Self:
        """The error of a directory that does not exist; it names Silos with similar names."""
        above, name = os.path.split(path.rstrip("/"))
        known = (os.path.join(above, near) for near in _silos_like(above or ".", name))
        return cls(f"there is no Silo at {path}{did_you_mean(path, known)}")

    @classmethod
    def uncreated(cls, path: str, error: OSError) -> Self:
        """The error of a directory that could not be created."""
        reason = error.strerror
        if isinstance(error, FileNotFoundError):
            parent = os.path.dirname(os.path.abspath(path))
            reason = f"there is no directory {parent}"
            if os.path.isdir(parent):  # as below /proc
                reason = f"no directory can be created in {parent}"
        return cls(f"cannot create the directory {path}: {reason}")

    @classmethod
    def unmounted(cls, path: str, point: str) -> Self:
        """The error of a directory that is on a disk by ``/etc/fstab``, which is not mounted.

        Args:
            point: Where the disk is to be mounted.
        """
        return cls(
            f"no new Silo is made in {path}: by /etc/fstab, a disk is mounted at {point}, and it is"
            f" not mounted now; mount it, or name another directory"
        )


class SiloGone(SiloNotFound, OSError):
    """A Silo, or a directory of Silos, is no longer where it was opened; nothing is made there."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} is no longer there: it was moved or deleted, or its disk is not mounted; "
            "put it back, or name the place where it is now"
        )
        self.errno, self.strerror, self.filename = errno.ENOENT, str(self), path


class NotASilo(RecordSiloError):
    """The directory exists but is not a Silo; it may be a directory of Silos.

    Args:
        may_be_new: Whether a new Silo may be made in its place.
    """

    def __init__(self, path: str, *, may_be_new: bool = False) -> None:
        self.path = path
        super().__init__(
            _unfinished(path)
            or _one_of_those_in(path)
            or _empty(path)
            or f"{path} is not a Silo: it has no {VERSION_FILE} file; name a Silo's directory, "
            "such as silo harvest makes"
            + (", or a new or empty one" if may_be_new else "")
        )


def _unfinished(path: str) -> str:
    """The sentence for a directory that a copy has not finished; empty for any other."""
    if not os.path.exists(f"{path}/{_COPYING}"):
        return ""
    return (
        f"{path} is no Silo yet, because a copy into it was not finished; run the same command "
        "again to finish it, or delete the directory"
    )


def _empty(path: str) -> str:
    """The sentence for an empty directory; empty for any other."""
    try:
        with os.scandir(path) as there:
            if any(there):
                return ""
    except OSError:
        return ""
    return (
        f"{path} is not a Silo: it is empty; silo harvest URL {path} fills it, "
        f"and silo init {path} makes it an empty Silo"
    )


def _one_of_those_in(path: str) -> str:
    """The sentence for a directory of Silos; empty for any other."""
    try:
        names = os.listdir(path)
    except OSError:
        return ""
    silos = [name for name in names if os.path.exists(f"{path}/{name}/{VERSION_FILE}")]
    if not silos:
        return ""
    one = os.path.join(path, min(silos))
    return f"{path} is a directory of Silos; name one of them, such as {one}, or see silo fleet"


def _silos_like(directory: str, name: str) -> list[str]:
    """The Silos in a directory with the most similar names."""
    try:
        with os.scandir(directory) as entries:
            names = [one.name for one, _ in zip(entries, range(_LOOKED_AT), strict=False)]
    except OSError:
        return []
    near = nearest(name, (one for one in names if not one.startswith(".")))
    return [one for one in near if os.path.exists(f"{directory}/{one}/{VERSION_FILE}")]


class OnNetworkDisk(RecordSiloError):
    """The directory is on a file system that several machines may share.

    Args:
        kind: The type of the file system, such as ``nfs4``.
    """

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.kind = path, kind
        super().__init__(
            f"{path} is on a network file system ({kind}), where two machines that write at the"
            " same time would damage the databases of a Silo; use a disk of this machine, or add"
            " --force if no other machine ever writes there"
        )


class SiloNotWritable(RecordSiloError, OSError):
    """A Silo's disk does not let it change: it is read-only or full, or permission is missing.

    Args:
        number: The number of the system's error, such as ``errno.EROFS``.
        filename: The file that could not be written, if known.
    """

    def __init__(self, silo: str, number: int, filename: str | None = None) -> None:
        self.silo = silo
        if number == errno.EROFS:
            told = f"the Silo {silo} is read-only; make it writable, or change a copy of it"
        elif number in {errno.EACCES, errno.EPERM}:
            told = f"no permission to write to the Silo {silo}; get it, or change a copy of it"
        else:
            told = f"the disk of the Silo {silo} is full; make room, then repeat this"
        super().__init__(told)
        self.errno, self.strerror, self.filename = number, os.strerror(number), filename


class SiloSettingConflict(RecordSiloError):
    """An argument differs from the Silo's stored setting."""

    def __init__(self, path: str, key: str, remembered: object, given: object) -> None:
        self.path, self.key, self.remembered, self.given = path, key, remembered, given
        super().__init__(
            f"the Silo {path} has {key} {remembered!r}, but {given!r} was given; leave it "
            f"out, or change it with silo.state[{key!r}] = … and silo.state.sync()"
        )


class StateUnreadable(RecordSiloError):
    """A state file is not a JSON object; nothing is written over it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be read as a JSON object ({reason}); it is left as it is")


class IdentifierError(RecordSiloError, ValueError):
    """Invalid identifier of a record."""

    def __init__(self, identifier: object, reason: str) -> None:
        self.identifier = identifier
        super().__init__(f"{identifier!r} cannot be an identifier: {reason}")


class RecordNotFound(RecordSiloError, KeyError):
    """The Silo has no such record.

    Args:
        similar: Returns similar identifiers. Called only if the message is read, because many
            only want to know that there is no such record.
    """

    _similar: Callable[[str], Sequence[str]] | None = None

    def __init__(
        self, identifier: str, silo: str, similar: Callable[[str], Sequence[str]] | None = None
    ) -> None:
        self.identifier, self.silo, self._similar = identifier, silo, similar
        super().__init__(f"the Silo {silo} has no record {identifier!r}")

    def __str__(self) -> str:
        if (similar := self._similar) is not None:
            self._similar = None
            self.args = (super().__str__() + or_these(similar(self.identifier)),)
        return super().__str__()


class RecordRemoved(RecordNotFound):
    """The record was deleted here for good."""

    def __init__(self, identifier: str, silo: str) -> None:
        super().__init__(identifier, silo)
        told = (
            f"{self}; it was removed here (a harvest with --restore-removed may bring it back; "
            f"to make it anew here, call silo.restore_removed([{identifier!r}]) first)"
        )
        self.args = (told,)


class SeveralRecords(RecordNotFound):
    """A DOI or an address is of several records.

    Attributes:
        records: Their identifiers.
    """

    def __init__(self, text: str, silo: str, records: Sequence[str]) -> None:
        super().__init__(text, silo)
        self.records = tuple(records)
        more = f", and {len(records) - _NAMED:,} more" if len(records) > _NAMED else ""
        names = ", ".join(records[:_NAMED])
        self.args = (
            f"{text} is of {len(records):,} records: {names}{more}; name one by its identifier",
        )


class RecordGone(RecordNotFound):
    """The record was deleted while a handle on it was open; nothing was written."""


class RecordNotThen(RecordNotFound):
    """There was no such record at a moment, or what it was then is not kept."""

    def __init__(self, identifier: str, moment: str, why: str) -> None:
        self.identifier = identifier
        RecordSiloError.__init__(self, f"no record {identifier} of {moment[:19]} is kept: it {why}")


class VersionNotFound(RecordSiloError, KeyError):
    """The record has no such version.

    Args:
        version: The name that was requested.
        versions: The names of the existing versions.
    """

    def __init__(self, identifier: str, version: str, versions: tuple[str, ...]) -> None:
        self.identifier, self.version, self.versions = identifier, version, versions
        has = "it has " + ", ".join(versions) if versions else "it has none"
        super().__init__(f"record {identifier} has no version {version!r}; {has}")


class VersionExists(RecordSiloError):
    """The record already has a version of that name."""

    def __init__(self, identifier: str, version: str) -> None:
        self.identifier, self.version = identifier, version
        super().__init__(f"record {identifier} already has a version {version!r}; use another name")


class VersionNameError(RecordSiloError, ValueError):
    """Invalid name of a version."""

    def __init__(self, version: str, reason: str) -> None:
        self.version, self.reason = version, reason
        super().__init__(f"{version!r} cannot name a version: {reason}")


class VersionStateError(RecordSiloError, ValueError):
    """Unknown state of a version."""

    def __init__(self, state: object, known: tuple[str, ...]) -> None:
        self.state, self.known = state, known
        super().__init__(
            f"{state!r} is not a state of a version: use one of {', '.join(known)}, or none"
        )


class VersionFrozen(RecordSiloError):
    """What a harvest brought is kept; a change is made in a clone or in a new version."""

    def __init__(self, identifier: str, version: str) -> None:
        self.identifier, self.version = identifier, version
        super().__init__(
            f"version {version!r} of record {identifier} is kept as harvested; to change it, "
            f"clone it first (clone_version({version!r}, 'workingcopy')) and change the clone, "
            "or add an empty version (create_new_version)"
        )


class LastVersion(RecordSiloError):
    """A record keeps at least one version."""

    def __init__(self, identifier: str, version: str) -> None:
        self.identifier, self.version = identifier, version
        super().__init__(
            f"{version!r} is the only version of record {identifier}; delete the record instead"
        )


class PathNameError(RecordSiloError, ValueError):
    """Invalid path of a file in a version."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path!r} cannot name a file in a version: {reason}")


class MetadataMalformed(RecordSiloError, ValueError):
    """A file cannot be put as metadata, which is XML."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"malformed metadata: {path!r} {reason}; nothing was stored. Metadata that is not XML "
            "needs a name with its extension, such as .json"
        )


class FileNotInVersion(RecordSiloError, FileNotFoundError):
    """The version lists no such file, or the file is missing on disk.

    Args:
        reason: The message, if it is not just that the version has no such file.
        has: The files that it has.
    """

    def __init__(
        self,
        identifier: str,
        version: str,
        path: str,
        reason: str = "",
        *,
        has: Collection[str] = (),
    ) -> None:
        self.identifier, self.version, self.path = identifier, version, path
        it_has = ", ".join([*islice(has, _NAMED), *["…"] * (len(has) > _NAMED)])
        super().__init__(
            reason
            or f"version {version!r} of record {identifier} has no file {path!r}"
            + (f"; it has {it_has}{did_you_mean(path, has)}" if has else "")
        )


class MetadataUnreadable(RecordSiloError, ValueError):
    """A file of a version cannot be read as metadata, because it is none or is malformed."""

    def __init__(self, identifier: str, version: str, path: str, reason: str) -> None:
        self.identifier, self.version, self.path, self.reason = identifier, version, path, reason
        super().__init__(
            f"{path!r} in version {version!r} of record {identifier} is not metadata that can be "
            f"read: it {reason}; get_stream({path!r}) gives its bytes"
        )


class FieldUnknown(RecordSiloError, KeyError):
    """A description has no such field."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(
            f"a description has no field {name!r}; it has {', '.join(self.known)}"
            f"{did_you_mean(name, self.known)}"
        )


class KeyUnknown(RecordSiloError, KeyError):
    """A record has no such key; the message names the property that was probably meant."""

    def __init__(self, key: object, known: Iterable[str], *, is_property: bool) -> None:
        self.key = key
        told = f"; write record.{key}" if is_property else did_you_mean(str(key), known)
        super().__init__(f"a record has no key {key!r}{told}")


class FileNotKept(FileNotInVersion):
    """A file was changed since a moment, and what it was then is not in the record any more."""

    def __init__(self, identifier: str, version: str, path: str, moment: str) -> None:
        super().__init__(
            identifier,
            version,
            path,
            f"the file {path!r} of version {version!r} of record {identifier} was changed or "
            f"removed after {moment[:19]}, and its content of then is not kept",
        )


class MomentUnknown(RecordSiloError, ValueError):
    """A moment at which a Silo cannot be looked at."""


class ReadOnlyMoment(RecordSiloError):
    """A Silo as it was cannot be changed, and not everything can be asked of it."""

    def __init__(self, moment: str, what: str = "be changed") -> None:
        super().__init__(f"the Silo as it was on {moment[:19]} cannot {what}")


class FileUnreadable(RecordSiloError, OSError):
    """A file of a version exists but cannot be read: a disk error, or missing permission.

    Args:
        error: The error of the operating system; `errno` and `reason` are taken from it.
    """

    def __init__(self, identifier: str, version: str, path: str, error: OSError) -> None:
        self.identifier, self.version, self.path = identifier, version, path
        self.errno, self.reason = error.errno, error.strerror or str(error)
        super().__init__(
            f"{path!r} in version {version!r} of record {identifier} cannot be read: {self.reason}"
        )


class FileDamaged(FileUnreadable):
    """A file of a harvested version is not the one that was harvested."""

    def __init__(self, identifier: str, version: str, path: str) -> None:
        super().__init__(identifier, version, path, OSError(errno.EIO, "it is damaged"))
        said = (
            f"{path!r} in version {version!r} of record {identifier} is damaged: it differs from "
            "its entry in the manifest; restore it from a backup (silo check names such files)"
        )
        self.args = (said,)


class FileInTheWay(RecordSiloError):
    """The version already has a file of that name, or one where a directory is needed."""

    def __init__(self, identifier: str, version: str, path: str) -> None:
        self.identifier, self.version, self.path = identifier, version, path
        super().__init__(
            f"{path!r} is in the way in version {version!r} of record {identifier}: "
            "a file or directory of that name already exists"
        )


class DirectoryNotEmpty(RecordSiloError, OSError):
    """Only an empty directory can be deleted."""

    def __init__(self, identifier: str, version: str, path: str) -> None:
        self.identifier, self.version, self.path = identifier, version, path
        super().__init__(
            f"{path!r} in version {version!r} of record {identifier} is a directory with files "
            "in it; delete those first"
        )


class DanglingLink(FileNotInVersion):
    """A file is a symbolic link (of a delta clone of 2010) without a target in this Silo.

    Args:
        target: The path that the link leads to.
    """

    def __init__(self, identifier: str, version: str, path: str, target: str) -> None:
        self.target = target
        super().__init__(
            identifier,
            version,
            path,
            f"{path!r} in version {version!r} of record {identifier} is a symbolic link to "
            f"{target!r}, which is not a file of this Silo; put the file again, or delete it",
        )


class SourceFailed(RecordSiloError):
    """The source of a file could not be read; the record is unchanged."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path!r} was not stored because its source could not be read: {reason}")


class RevisionConflict(RecordSiloError):
    """The record changed since it was read; nothing was written.

    Args:
        expected: The revision that the caller required.
        found: The record's revision now.
    """

    def __init__(self, identifier: str, expected: int, found: int) -> None:
        self.identifier, self.expected, self.found = identifier, expected, found
        super().__init__(
            f"record {identifier} is at revision {found}, not {expected}: it was changed "
            "meanwhile; look at it again, then repeat the change"
        )


class MetadataConflict(RecordSiloError):
    """Two handles changed the same key of ``metadata``; nothing was written.

    Args:
        ours: Its value in this handle.
        theirs: Its value as stored by the other.
    """

    def __init__(self, identifier: str, key: str, ours: object, theirs: object) -> None:
        self.identifier, self.key, self.ours, self.theirs = identifier, key, ours, theirs
        super().__init__(
            f"metadata[{key!r}] of record {identifier} was changed meanwhile to {theirs!r}, "
            f"but here it is {ours!r}; call revert() and change it again"
        )


class NotCopied(RecordSiloError, TypeError):
    """A record cannot be pickled or copied with what is not stored yet."""

    def __init__(self, identifier: str) -> None:
        self.identifier = identifier
        super().__init__(
            f"record {identifier} has files or statements that are not stored yet, so it cannot be "
            "copied or sent to another process; call its sync() or revert() first"
        )


class ManifestUnreadable(RecordSiloError):
    """A manifest is malformed or missing; nothing is written over it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the manifest {path} cannot be read ({reason}); it is left as it is")


class HistoryUnreadable(RecordSiloError):
    """What a manifest says of its earlier states is malformed."""

    def __init__(self, identifier: str) -> None:
        super().__init__(
            f"the history in the manifest of {identifier} is malformed, so what the record was "
            "earlier is not known; restore it with `silo repair` or from a backup"
        )
        self.identifier = identifier


class FormatTooNew(RecordSiloError):
    """A later release wrote the record; it can be read but not written.

    Args:
        found: The format of the record.
        known: The highest format that this release writes.
    """

    def __init__(self, identifier: str, found: int, known: int) -> None:
        self.identifier, self.found, self.known = identifier, found, known
        super().__init__(
            f"record {identifier} is in format {found} and this release writes format {known}; "
            "it can be read here; to change it, use a newer release"
        )


class IndexProblem(RecordSiloError):
    """The index cannot be used now; records can still be read and written."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the index {path} cannot be used now ({reason}); try again later")


class SearchError(RecordSiloError, ValueError):
    """A search has an unknown filter, facet or order, an invalid date or page, or too many words.

    Words are never another error.
    """
