"""Directories of Silos, here or on machines that ssh reaches, and copies between them.

Copies between two other machines go straight from one to the other: rsync is started on the first
by ssh, and logs in on the second with a key of the first. A command that was killed leaves its
rsync at work, so whoever writes into a place holds the lock of its ``.moving``.
"""

import filecmp
import hashlib
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recordsilo.disk.atomic_file import flush_directory, make_parents, remove_tree
from recordsilo.state import STATE_FILE, PersistentState
from silofleet.errors import FleetRefused, NoConnection

STAGED = ".moving"
_SSH = (
    "ssh", "-a", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20",
    "-o", "ServerAliveInterval=15", "-o", "LogLevel=ERROR",
)  # fmt: skip
_RSYNC = (
    "rsync", "-aHs", "--delete", "-e", shlex.join(_SSH),
    "--exclude=/.silo/*-shm", "--exclude=/curation/jobs/*-shm",
)  # fmt: skip
_BY_PROTOCOL = "--stderr=client"
"""Errors of the other machine come with the data: those that ssh brings may come too late."""
_OF_READERS = ("/.silo", "/curation/jobs")
"""Where SQLite keeps files ``*-shm``, which readers change and which are made anew if missing."""
_LOST = (10, 12, 30, 35, 255)
"""Exit codes of rsync and ssh when the connection fails; which one is a matter of chance."""
_TAKEN = (
    "another copy is being written there, perhaps for a command that was killed; wait until it ends"
)
_LOCKED = (
    f'flock -n -E 75 "$0" "$@"; code=$?; test "$code" != 75 || echo "{_TAKEN}" >&2; exit "$code"'
)
_SETTLE = (
    'cd "$1" && cat > "$2/$3.new" && test "$(sha256sum < "$2/$3.new")" = "$4  -"'
    ' && mv "$2/$3.new" "$2/$3" && sync && mv -T "$2" "$5" && sync'
)


@dataclass(frozen=True, slots=True)
class SiloDirectory:
    """A directory of Silos.

    Attributes:
        host: As ssh knows it; empty for this machine.
        path: The directory; absolute.
    """

    host: str
    path: str

    def __str__(self) -> str:
        return self.at()

    def at(self, *names: str) -> str:
        """A path in it, as rsync takes it."""
        return f"{self.host}:{self.of(*names)}" if self.host else self.of(*names)

    def of(self, *names: str) -> str:
        """A path in it, as its machine knows it."""
        return os.path.join(self.path, *names)

    def has(self, *names: str) -> bool:
        """Whether it has a directory of that name; without one, whether it exists."""
        if self.host:
            # An answer in words: an exit code may be that of ssh.
            return self._shell('test -d "$1" && echo yes || echo no', self.of(*names)) == "yes\n"
        return os.path.isdir(self.of(*names))

    def link_in(self, name: str) -> str:
        """The path of a symbolic link somewhere below a directory; empty if there is none."""
        return self._shell('find "$1/" -type l -print -quit', self.of(name)).rstrip("\n")

    def state(self, name: str) -> dict[str, Any]:
        """The state of a Silo in it; empty if it has none.

        Raises:
            FleetRefused: It cannot be read.
        """
        if not self.host:
            return PersistentState(self.of(name), create=False).state
        text = self._shell('test ! -e "$1" || cat "$1"', self.of(name, STATE_FILE))
        try:
            found = json.loads(text or "{}")
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise FleetRefused(f"{self.at(name, STATE_FILE)} cannot be read")
        return found

    def begin(self) -> None:
        """Make the directory of copies that have no place yet."""
        if self.host:
            self._shell('mkdir -p "$1"', self.of(STAGED))
        else:
            os.makedirs(self.of(STAGED), exist_ok=True)

    def settle(self, name: str, state: dict[str, Any]) -> None:
        """Give a copy its state and its place, both on the medium."""
        staged = os.path.join(STAGED, name)
        if self.host:
            text = json.dumps(state, ensure_ascii=True, indent=1) + "\n"
            digest = hashlib.sha256(text.encode("ascii")).hexdigest()
            words = ("sh", "-c", _SETTLE, "sh", self.path, staged, STATE_FILE, digest, name)
            _ran([*_locked(self), *words], self.host, text)
            return
        copy = PersistentState(self.of(staged), create=False)
        copy.state = state
        copy.sync()
        os.rename(self.of(staged), self.of(name))
        flush_directory(self.path)

    def clear(self, name: str) -> None:
        """Delete a copy that has no place."""
        if not self.has(STAGED, name):
            return
        if self.host:
            _ran([*_locked(self), "rm", "-rf", self.of(STAGED, name)], self.host)
        else:
            remove_tree(self.of(STAGED, name))

    def set_aside(self, name: str, other: str) -> None:
        """Rename a directory, on the medium, too."""
        old, new = self.of(name), self.of(other)
        if self.host:
            script = 'mkdir -p "$3" && mv -T "$1" "$2" && sync'
            self._shell(script, old, new, os.path.dirname(new))
            return
        make_parents(new)
        os.rename(old, new)
        flush_directory(os.path.dirname(new))
        flush_directory(self.path)

    def _shell(self, script: str, *words: str) -> str:
        return _ran(["sh", "-c", script, "sh", *words], self.host)


def copy(source: SiloDirectory, target: SiloDirectory, name: str) -> None:
    """Copy what differs in size or time to the `STAGED` of the target; delete what is gone."""
    if source.host or target.host:
        _rsync(source, target, name)
        return
    _copy_tree(source.of(name), target.of(STAGED, name), _is_of_same_time)
    os.sync()


def compare(source: SiloDirectory, target: SiloDirectory, name: str) -> None:
    """Compare each byte of a copy.

    Raises:
        FleetRefused: It differs.
    """
    if source.host or target.host:
        options = ("--checksum", "--dry-run", "--itemize-changes", "--omit-dir-times")
        different = _rsync(source, target, name, *options).splitlines()
    else:
        different = _copy_tree(source.of(name), target.of(STAGED, name), _is_equal)
    if different:
        raise FleetRefused(
            f"the copy differs from {source.at(name)} ({different[0]}); something changed it"
            " meanwhile; try again"
        )


def _rsync(source: SiloDirectory, target: SiloDirectory, name: str, *options: str) -> str:
    """Run rsync, on the machine of the source if neither is here; return what it says."""
    try:
        return _run_rsync(source, target, name, _BY_PROTOCOL, *options)
    except FleetRefused as refused:
        if "unknown option" not in str(refused):
            raise
        return _run_rsync(source, target, name, *options)  # one of them is older than 3.2.3


def _run_rsync(source: SiloDirectory, target: SiloDirectory, name: str, *options: str) -> str:
    old, new = f"{source.of(name)}/", f"{target.of(STAGED, name)}/"
    lock = _locked(target)
    if source.host == target.host:
        host, onward, command = source.host, "", [*lock, *_RSYNC, *options, old, new]
    elif target.host:
        host, onward = source.host, target.host
        there = ("--rsync-path", shlex.join([*lock, "rsync"]))
        command = [*_RSYNC, *options, *there, old, f"{onward}:{new}"]
    else:
        host, onward = "", source.host
        command = [*lock, *_RSYNC, *options, f"{onward}:{old}", new]
    return _ran(command, host, onward=onward)


def _locked(place: SiloDirectory) -> list[str]:
    """The beginning of a command that writes into a place."""
    return ["sh", "-c", _LOCKED, place.of(STAGED)]


def _copy_tree(old: str, new: str, is_same: Callable[[str, str], bool]) -> list[str]:
    """Copy the files that are not the same, and delete what is gone; return their paths."""
    changed: list[str] = []
    linked: dict[tuple[int, int], str] = {}

    def copy_changed(one: str, other: str) -> None:
        found = os.stat(one)
        first = linked.setdefault((found.st_dev, found.st_ino), other) if found.st_nlink > 1 else ""
        if first not in {"", other}:
            if not (os.path.exists(other) and os.path.samefile(first, other)):
                changed.append(one)
                remove_tree(other)
                os.link(first, other)
        elif not (os.path.exists(other) and is_same(one, other)):
            changed.append(one)
            remove_tree(other)  # it may be linked to what is another file now
            shutil.copy2(one, other)

    def left_out(directory: str, names: list[str]) -> list[str]:
        is_of_sqlite = directory.removeprefix(old) in _OF_READERS
        return [one for one in names if is_of_sqlite and one.endswith("-shm")]

    try:
        shutil.copytree(
            old, new, symlinks=True, ignore=left_out, copy_function=copy_changed, dirs_exist_ok=True
        )
    except shutil.Error as error:
        raise OSError(str(error.args[0][0][2])) from None
    for directory, below, files in os.walk(new, topdown=False):
        same = os.path.join(old, os.path.relpath(directory, new))
        for one in (*below, *files):
            if not os.path.lexists(os.path.join(same, one)):
                changed.append(os.path.join(same, one))
                remove_tree(os.path.join(directory, one))
    return changed


def _is_of_same_time(one: str, other: str) -> bool:
    first, second = os.stat(one), os.stat(other)
    return (first.st_size, first.st_mtime_ns) == (second.st_size, second.st_mtime_ns)


def _is_equal(one: str, other: str) -> bool:
    return _is_of_same_time(one, other) and filecmp.cmp(one, other, shallow=False)


def _ran(command: list[str], host: str, given: str = "", onward: str = "") -> str:
    """Run a command here or on a host; return what it prints.

    Args:
        command: Its words.
        host: Where; empty for this machine.
        given: Its input.
        onward: The host that the command itself reaches by ssh.

    Raises:
        NoConnection: The host, or the other, cannot be reached, or not any more.
        FleetRefused: The command fails.
    """
    words = [*_SSH, host, shlex.join(command)] if host else command
    try:
        done = subprocess.run(  # noqa: S603  # our own words and the paths of the wishes
            words, input=given, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except FileNotFoundError:
        raise FleetRefused(
            f"{words[0]} is not installed; a move to or from another machine needs it"
        ) from None
    if done.returncode:
        raise _refused(done.returncode, done.stderr.splitlines(), host, onward)
    return done.stdout


def _refused(code: int, said: list[str], host: str, onward: str) -> FleetRefused:
    """The error of a command that failed."""
    if _TAKEN in said:
        return FleetRefused(_TAKEN)
    of_ssh = [one.strip() for one in said if one.strip() and not one.startswith("rsync")]
    if code in _LOST:
        reason = of_ssh[-1].rstrip(".") if of_ssh else "the connection was lost"
        is_onward = onward and (not host or len(of_ssh) < len(said))
        return NoConnection(host if is_onward else "", onward if is_onward else host, reason)
    text = " ".join(" ".join(said).split())[:300] or f"exit code {code}"
    return FleetRefused(f"{host}: {text}" if host else text)
