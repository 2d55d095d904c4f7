"""The only writer of files: stage, flush, rename; one barrier for a batch.

Every change of the disk goes through this module, so that what a crash or a full disk can
leave behind is decided and tested in one place (docs/format-writing.md, "How a change is
written").

There are two ways to flush, with one interface:

* `StrictBarrier` flushes each file when it is written, and each directory at `flush`.
* `GroupBarrier` flushes nothing until `flush`, which flushes the whole file system
  once (Linux ``syncfs``); other systems use `StrictBarrier` instead.
"""

import contextlib
import ctypes
import errno
import fcntl
import glob
import hashlib
import itertools
import os
import secrets
import stat
import sys
import time
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from recordsilo.disk.digest import Digest
from recordsilo.errors import VERSION_FILE, SiloGone

CHUNK = 1 << 20
_OVER = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
_FICLONE = 0x40049409  # linux/fs.h: _IOW(0x94, 9, int)
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # linux/fcntl.h, linux/fs.h
_NO_REFLINK = {errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.ENOSYS, errno.EPERM}
_LEFT_OVER = 3600.0
"""Seconds after which a staged file was left by a killed process."""
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_NO_EXCHANGE = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}
_NO_LINK = {errno.EPERM, errno.EMLINK, errno.EXDEV, errno.EOPNOTSUPP, errno.EACCES}


def flush_fd(fd: int) -> None:
    """Flush a file or directory to the medium (macOS: through the drive's cache too)."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    try:
        if full is None:
            os.fsync(fd)
        else:
            fcntl.fcntl(fd, full)
    except OSError as error:
        raise named(error, fd) from None


def flush_directory(path: str) -> None:
    """Flush a directory's entries to the medium."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush_fd(fd)
    finally:
        os.close(fd)


class Barrier(Protocol):
    """Collects what must be on the medium before the next step; `flush` writes it there."""

    def file_written(self, fd: int) -> None:
        """A file's content is complete; its descriptor is still open."""

    def directory_changed(self, path: str) -> None:
        """An entry of a directory was created, renamed or removed."""

    def flush(self) -> None:
        """Return once everything reported so far is on the medium.

        Raises:
            OSError: Flushing failed; nothing counts as stored.
        """


class StrictBarrier:
    """Flushes each file when it is written, and each directory once at `flush`."""

    def __init__(self) -> None:
        self._directories: dict[str, None] = {}

    def file_written(self, fd: int) -> None:
        flush_fd(fd)

    def directory_changed(self, path: str) -> None:
        self._directories[path] = None

    def flush(self) -> None:
        """See `Barrier`. A directory that no longer exists needs no flush.

        Raises:
            OSError: A directory could not be flushed.
        """
        while self._directories:
            path = next(iter(self._directories))
            with contextlib.suppress(FileNotFoundError):
                flush_directory(path)
            del self._directories[path]


class GroupBarrier:
    """Flushes a directory's whole file system at `flush`, with one ``syncfs``."""

    def __init__(self, path: str) -> None:
        self._path = path

    def file_written(self, fd: int) -> None:
        """See `Barrier`."""

    def directory_changed(self, path: str) -> None:
        """See `Barrier`."""

    def flush(self) -> None:
        """See `Barrier`. Linux reports write errors of the file system since 5.8.

        Raises:
            OSError: The file system could not be flushed.
        """
        fd = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if _LIBC.syncfs(fd) != 0:
                code = ctypes.get_errno()
                raise OSError(code, os.strerror(code), self._path)
        finally:
            os.close(fd)


_LIBC = ctypes.CDLL(None, use_errno=True)
HAS_SYNCFS = sys.platform == "linux" and hasattr(_LIBC, "syncfs")


def group_barrier(path: str) -> Barrier:
    """The best barrier that the platform has for a batch on the file system of ``path``."""
    return GroupBarrier(path) if HAS_SYNCFS else StrictBarrier()


@dataclass(frozen=True, slots=True)
class Staged:
    """A complete file in a staging directory, to be moved into a record."""

    path: str
    digest: Digest


class Staging:
    """A process's own directory for files that are not yet, or no longer, part of the Silo.

    The directory is locked by ``flock`` while the process lives. One without the lock was
    left by a killed process and is removed. Threads may share a `Staging`.

    Args:
        directory: Where the directories of processes are.
        silo: The Silo that it is in, if it is in one; see `make_in_silo`.
    """

    def __init__(self, directory: str, silo: str = "") -> None:
        self._root, self._silo = directory, silo
        self._counter = itertools.count()
        self._held: list[_Held] = []
        self._finalizer = weakref.finalize(self, _let_go, self._held)

    def directory(self) -> str:
        """The directory, created on first use, and again in a forked child or when deleted."""
        held = self._held[-1] if self._held else None
        if held is None or held.pid != os.getpid() or not os.path.isdir(held.path):
            held = self._open()
            # Two threads may get here at once; each keeps its own directory and lock.
            self._held.append(held)
        return held.path

    def new_path(self) -> str:
        """An unused path in the directory."""
        return f"{self.directory()}/{next(self._counter)}"

    def new_directory(self) -> str:
        """A new, empty directory in it."""
        path = self.new_path()
        os.mkdir(path)
        return path

    def discard(self, path: str) -> None:
        """Move the file or tree at a path into the directory, then remove it, if it exists."""
        trash = self.new_path()
        try:
            os.rename(path, trash)
        except FileNotFoundError:
            return
        remove_tree(trash)

    def close(self) -> None:
        """Remove the directory; a later use creates another."""
        _let_go(self._held)

    def _open(self) -> "_Held":
        if self._silo:
            make_in_silo(self._silo, self._root)
        else:
            os.makedirs(self._root, exist_ok=True)
        self._sweep()
        while True:
            path = f"{self._root}/{os.getpid()}-{secrets.token_hex(4)}"
            os.mkdir(path, 0o700)
            fd = _try_lock(path)
            if fd is not None:  # another process may have swept it already
                return _Held(path, fd, os.getpid())

    def _sweep(self) -> None:
        """Remove the directories of processes that have ended, if this user may."""
        with contextlib.suppress(OSError), os.scandir(self._root) as entries:
            for entry in entries:
                fd = _try_lock(entry.path)
                if fd is not None:
                    try:
                        with contextlib.suppress(OSError):
                            remove_tree(entry.path)
                    finally:
                        os.close(fd)


@dataclass(frozen=True, slots=True)
class _Held:
    """A staging directory, its lock's descriptor, and the process that created it."""

    path: str
    fd: int
    pid: int


def _let_go(held: list[_Held]) -> None:
    """Close and remove staging directories; those of another process are only closed."""
    while held:
        one = held.pop()
        os.close(one.fd)
        if one.pid == os.getpid():
            with contextlib.suppress(OSError):  # swept when the next process stages
                remove_tree(one.path)


def _try_lock(path: str) -> int | None:
    """A descriptor that holds a directory's lock; None if another process or user holds it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.exists(path):
            return fd
    except BlockingIOError:
        pass
    os.close(fd)
    return None


# -- writing ----------------------------------------------------------------------------


def write_new(path: str, chunks: Iterable[bytes], barrier: Barrier, mode: int = 0o644) -> Digest:
    """Write a file that does not exist yet; on any failure it does not exist afterwards.

    Args:
        path: Must not exist.
        chunks: The content, in order.
        barrier: Makes the file durable, at once or when flushed.
        mode: Its permissions, less those that the umask takes away.

    Returns:
        The digest of what was written.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        digest = _write_all(fd, chunks)
        barrier.file_written(fd)
    except BaseException:
        os.close(fd)
        os.unlink(path)
        raise
    os.close(fd)
    return digest


def write_over(path: str, content: bytes, barrier: Barrier, mode: int = 0o644) -> None:
    """Write one of the store's own files before it has readers (a manifest before its rename).

    Args:
        path: Created if it does not exist.
        content: The whole content.
        barrier: Makes the file durable, at once or when flushed.
        mode: Its permissions if it is created, less those that the umask takes away.
    """
    fd = os.open(path, _OVER, mode)
    try:
        _write(fd, content)
        barrier.file_written(fd)
    finally:
        os.close(fd)


def write_version(
    directory: str, files: Iterable[tuple[str, bytes]], barrier: Barrier, mode: int = 0o644
) -> None:
    """Create a directory with these files; after an error, some of them may exist.

    It has no reader before a manifest lists it.

    Args:
        directory: Its parent exists.
        files: (path within the directory, content) of each file.
        mode: The permissions of the files, less those that the umask takes away.
    """
    os.mkdir(directory)
    barrier.directory_changed(directory)
    for path, content in files:
        target = f"{directory}/{path}"
        if "/" in path:
            make_directories(os.path.dirname(target), directory, barrier)
        write_over(target, content, barrier, mode)


def write_record(
    staged: tuple[str, bytes], file: tuple[str, bytes], barrier: Barrier, mode: int = 0o644
) -> os.stat_result:
    """Write what `write_over` and `write_version` do for a record's first file, in fewer calls.

    Args:
        staged: Path and content of the staged manifest; its directory exists.
        file: Path and content of a file in a directory beside it, which is created.
        barrier: Makes both durable, at once or when flushed.
        mode: The permissions of the file, less those that the umask takes away.

    Returns:
        The status of the staged manifest, which has its final content.
    """
    fd = os.open(staged[0], _OVER, 0o644)
    try:
        _write(fd, staged[1])
        found = os.fstat(fd)
        barrier.file_written(fd)
    finally:
        os.close(fd)
    directory = file[0].rpartition("/")[0]
    os.mkdir(directory)
    barrier.directory_changed(directory)
    fd = os.open(file[0], _OVER, mode)
    try:
        _write(fd, file[1])
        barrier.file_written(fd)
    finally:
        os.close(fd)
    return found


def replace_file(path: str, content: bytes, mode: int = 0o644) -> None:
    """Replace a file atomically and durably: stage beside it, flush, rename, flush.

    Args:
        path: Created if it does not exist; its directory exists.
        content: The whole content.
        mode: Its permissions, less those that the umask takes away.
    """
    staged = _write_beside(path, content, mode)
    try:
        os.rename(staged, path)
    except BaseException:
        os.unlink(staged)
        raise
    flush_directory(os.path.dirname(path))


def _write_beside(path: str, content: bytes, mode: int) -> str:
    """Write a file beside its place; returns its path. An error names the place itself."""
    staged = f"{path}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        write_new(staged, (content,), StrictBarrier(), mode)
    except OSError as error:
        if isinstance(error.filename, str) and error.filename.endswith(os.path.basename(staged)):
            error.filename = path
        raise
    return staged


def make_file(path: str, content: bytes, mode: int = 0o644) -> None:
    """Create a file atomically and durably; see `replace_file`.

    On a file system without hard links it is replaced if another process creates it meanwhile.

    Raises:
        FileExistsError: It exists; it is not changed.
    """
    staged = _write_beside(path, content, mode)
    try:
        os.link(staged, path)
    except OSError as error:
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        if error.errno not in _NO_LINK:
            raise
        os.rename(staged, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(staged)
    flush_directory(os.path.dirname(path))


def remove_left_over(path: str) -> None:
    """Remove what killed processes staged for `replace_file`, an hour later."""
    for staged in glob.glob(f"{glob.escape(path)}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - os.stat(staged).st_mtime > _LEFT_OVER:
                os.unlink(staged)


def append_lines(path: str, lines: Iterable[bytes], below: str = "") -> None:
    """Append lines to a file durably, after removing an incomplete last line left by a crash.

    Processes that append at the same time wait for each other.

    Args:
        below: See `make_parents`.
    """
    parent = os.path.dirname(path)
    make_parents(path, below)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)  # released when the file is closed
        whole = _end_of_lines(fd)
        os.ftruncate(fd, whole)
        os.lseek(fd, whole, os.SEEK_SET)
        _write(fd, b"".join(line + b"\n" for line in lines))
        flush_fd(fd)
    finally:
        os.close(fd)
    flush_directory(parent)
    flush_directory(os.path.dirname(parent))


def _end_of_lines(fd: int) -> int:
    """The offset behind the last line end of a file."""
    end = os.fstat(fd).st_size
    while end > 0:
        start = max(0, end - CHUNK)
        if (found := os.pread(fd, end - start, start).rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0


def open_lock_file(path: str, below: str = "", *, in_silo: bool = False) -> int:
    """A descriptor of an empty lock file, which is created with its directory if necessary.

    Args:
        below: See `make_parents`.
        in_silo: Whether ``below`` is one Silo; see `make_in_silo`.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        if in_silo:
            make_in_silo(below, os.path.dirname(path))
        else:
            make_parents(path, below)
        return os.open(path, flags, 0o666)


def make_parents(path: str, below: str = "") -> None:
    """Create the missing directories above a path; flushes nothing.

    Args:
        below: The Silo, or the directory of Silos, that the path is in; see `make_within`.
    """
    if below:
        make_within(below, os.path.dirname(path))
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)


def make_within(silo: str, directory: str) -> None:
    """Create the missing directories down to one in a Silo; flushes nothing.

    Args:
        silo: The directory of the Silo, or of several Silos. It is never made: one that was moved
            away while this process has it open would have an empty one in its place.

    Raises:
        SiloGone: It is not there.
    """
    if os.path.isdir(directory):
        return
    place = silo
    for name in os.path.relpath(directory, silo).split(os.sep):
        place = os.path.join(place, name)
        try:
            os.mkdir(place)
        except FileExistsError:
            if not os.path.isdir(place):
                raise
        except FileNotFoundError:
            raise SiloGone(silo) from None


def make_in_silo(silo: str, directory: str) -> None:
    """As `make_within`, for one Silo: what remains where its disk was mounted is no Silo.

    Raises:
        SiloGone: Neither the file that marks a Silo nor its records are there.
    """
    if not any(os.path.lexists(f"{silo}/{name}") for name in (VERSION_FILE, "pairtree_root")):
        raise SiloGone(silo)
    make_within(silo, directory)


def make_directory(path: str) -> None:
    """Create a directory durably, unless it exists; its parent must exist."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
    flush_directory(os.path.dirname(path))


def move_staged(source: str, target: str) -> None:
    """Rename a path within a staging directory, creating the directories above the new one."""
    make_parents(target)
    os.rename(source, target)


def _write_all(fd: int, chunks: Iterable[bytes]) -> Digest:
    sha256 = hashlib.sha256()
    size = 0
    for chunk in chunks:
        sha256.update(chunk)
        size += len(chunk)
        _write(fd, chunk)
    return Digest(sha256.hexdigest(), size)


def _write(fd: int, content: bytes) -> None:
    try:
        written = os.write(fd, content)
        while written < len(content):
            written += os.write(fd, memoryview(content)[written:])
    except OSError as error:
        raise named(error, fd) from None


def named(error: OSError, fd: int) -> OSError:
    """The error with the path of the open file, which errors of writing and flushing lack."""
    if error.filename is None:
        with contextlib.suppress(OSError):
            error.filename = os.readlink(f"/proc/self/fd/{fd}")
    return error


def copy_new(source: BinaryIO, path: str, barrier: Barrier) -> Digest:
    """Copy an open file to a path that does not exist yet, as a reflink if possible.

    Args:
        source: An open file, at its start.
        path: Must not exist.
        barrier: Makes the copy durable, at once or when flushed.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        if reflink(source.fileno(), fd):
            digest = digest_of(source)
        else:
            digest = _write_all(fd, chunks_of(source))
        barrier.file_written(fd)
    except BaseException:
        os.close(fd)
        os.unlink(path)
        raise
    os.close(fd)
    return digest


def copy_over(source: str, path: str, mode: int, mtime_ns: int, *, like: str = "") -> None:
    """Copy a file that is no record's: staged beside its place, flushed and renamed.

    Args:
        source: A regular file.
        path: Replaced if it exists.
        mode: Its permissions; it has those of its owner alone while it is written.
        mtime_ns: The time that it gets.
        like: A directory that is the model for the permissions of missing ones, by default
            that of ``source``.
    """
    _make_like(os.path.dirname(path), like or os.path.dirname(source))
    staged = f"{path}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    fd = os.open(staged, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(source, "rb") as file:
            if not reflink(file.fileno(), fd):
                for chunk in chunks_of(file):
                    _write(fd, chunk)
        os.fchmod(fd, mode)
        os.utime(fd, ns=(mtime_ns, mtime_ns))
        flush_fd(fd)
        os.rename(staged, path)
    except BaseException:
        os.unlink(staged)
        raise
    finally:
        os.close(fd)
    flush_directory(os.path.dirname(path))


def _make_like(directory: str, model: str) -> None:
    """Create a directory with the permissions of another, and its parents likewise."""
    if os.path.isdir(directory):
        return
    _make_like(os.path.dirname(directory), os.path.dirname(model))
    os.mkdir(directory, stat.S_IMODE(os.stat(model).st_mode) | 0o700)
    flush_directory(os.path.dirname(directory))


def reflink(source_fd: int, target_fd: int) -> bool:
    """Share a file's blocks with an empty file; False if the file system cannot."""
    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(target_fd, _FICLONE, source_fd)
    except OSError as error:
        if error.errno in _NO_REFLINK:
            return False
        raise
    return True


def duplicate(source: str, path: str) -> None:
    """Give a flushed, staged file a second name by a hard link, or copy it if that fails."""
    if not link_new(source, path):
        with open(source, "rb") as file:
            copy_new(file, path, StrictBarrier())


def link_new(source: str, path: str) -> bool:
    """Hard-link a file to a path; False if the file system cannot or may not."""
    try:
        os.link(source, path, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NO_LINK:
            return False
        raise
    return True


def make_directories(path: str, below: str, barrier: Barrier) -> bool:
    """Create a directory and its parents under ``below``, which exists.

    If another process removes an empty parent at the same time, by deleting a record, the
    parent is created again.

    Args:
        below: An existing directory above it.
        barrier: Makes the new directories durable, at once or when flushed.

    Returns:
        Whether the directory was created, and so is empty; False if it existed.

    Raises:
        OSError: A directory cannot be created, or its parents are repeatedly removed.
    """
    for _ in range(100):
        try:
            return _make_directories(path, below, barrier)
        except FileNotFoundError:
            if not os.path.isdir(below):
                raise
    raise OSError(errno.ENOENT, "its parents are repeatedly removed", path)


def _make_directories(path: str, below: str, barrier: Barrier) -> bool:
    missing = [path]
    is_new = True
    while missing:
        try:
            os.mkdir(missing[-1])
        except FileExistsError:
            if not stat.S_ISDIR(os.stat(missing[-1]).st_mode):
                raise
            is_new = missing.pop() != path
            continue
        except FileNotFoundError:
            if missing[-1] == below:
                raise
            missing.append(os.path.dirname(missing[-1]))
            continue
        made = missing.pop()
        barrier.directory_changed(made)
        barrier.directory_changed(os.path.dirname(made))
    return is_new


def move(source: str, target: str, barrier: Barrier) -> None:
    """Rename within the file system.

    Args:
        source: A file or directory.
        target: Replaced if it is a file.
        barrier: Makes the rename durable, at once or when flushed.
    """
    os.rename(source, target)
    barrier.directory_changed(os.path.dirname(target))


def exchange(one: str, other: str, barrier: Barrier) -> bool:
    """Exchange two files or directories at once (Linux ``renameat2``).

    Returns:
        False if the system or the file system cannot; then nothing was changed.
    """
    if sys.platform != "linux" or not hasattr(_LIBC, "renameat2"):
        return False
    paths = os.fsencode(one), os.fsencode(other)
    if _LIBC.renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) != 0:
        code = ctypes.get_errno()
        if code in _NO_EXCHANGE:
            return False
        raise OSError(code, os.strerror(code), one, None, other)
    barrier.directory_changed(os.path.dirname(one))
    barrier.directory_changed(os.path.dirname(other))
    return True


def unlink(path: str, barrier: Barrier) -> None:
    """Remove a file, if it exists."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
        barrier.directory_changed(os.path.dirname(path))


def remove_file(path: str) -> None:
    """Remove a file, and flush its directory.

    Raises:
        FileNotFoundError: There is none.
    """
    os.unlink(path)
    flush_directory(os.path.dirname(path))


def protect(path: str) -> None:
    """Make a plain file read-only, unless it has several hard links.

    A rename can still replace it.
    """
    found = os.lstat(path)
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and mode & _WRITABLE:
        os.chmod(path, mode & ~_WRITABLE)


def remove_tree(path: str) -> None:
    """Remove a file, or a directory with its content; links are not followed.

    Several processes may remove the same.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        _remove_directory(path)


def _remove_directory(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _remove_directory(entry.path)
                else:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(entry.path)
        os.rmdir(path)


def remove_empty_tree(path: str) -> bool:
    """Remove a directory that contains only empty directories.

    Returns:
        Whether it was removed; False if there is a file in it.
    """
    for directory, _, _ in os.walk(path, topdown=False):
        try:
            os.rmdir(directory)
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                return False
            raise
    return True


def prune_upwards(path: str, stop: str) -> None:
    """Remove a directory and its parents while they are empty, but not ``stop``."""
    while path != stop and path.startswith(stop + "/"):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                return
            raise
        path = os.path.dirname(path)


# -- reading ----------------------------------------------------------------------------


def chunks_of(source: BinaryIO) -> Iterator[bytes]:
    """The rest of an open file, in chunks of at most `CHUNK` bytes."""
    while chunk := source.read(CHUNK):
        yield chunk


def digest_of_bytes(content: bytes) -> Digest:
    """The digest of a file's whole content."""
    return Digest(hashlib.sha256(content).hexdigest(), len(content))


def digest_of(source: BinaryIO) -> Digest:
    """The digest of the rest of an open file."""
    sha256 = hashlib.sha256()
    size = 0
    for chunk in chunks_of(source):
        sha256.update(chunk)
        size += len(chunk)
    return Digest(sha256.hexdigest(), size)
