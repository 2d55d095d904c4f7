"""Follows a log file as it grows, over rotation (tail -F), from a position that is remembered."""

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

_CHUNK = 1 << 20
_LONGEST = 4 << 20
_LOOKED_AT = 256
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far a file was read.

    Attributes:
        inode: Of the file, which keeps it when it is renamed.
        before: Digest of the last bytes before the position: another file may have the same
            inode, and a file that was truncated may have grown again.
    """

    inode: int
    offset: int
    before: str = ""

    @classmethod
    def of(cls, value: Any) -> "FilePosition | None":
        """Return a position from the JSON value of `as_json`; None if there is none."""
        return None if value is None else cls(*value)

    @classmethod
    def after(cls, file: IO[bytes]) -> "FilePosition":
        """Return the position of a file."""
        at = file.tell()
        inode = os.fstat(file.fileno()).st_ino
        return cls(inode, at, _digest(file.fileno(), at))

    def is_in(self, file: IO[bytes]) -> bool:
        """Whether the file still has what was read before the position."""
        return _digest(file.fileno(), self.offset) == self.before

    def as_json(self) -> list[Any]:
        """Return the position as a JSON value."""
        return [self.inode, self.offset, self.before]


def _digest(fd: int, offset: int) -> str:
    size = min(offset, _LOOKED_AT)
    return hashlib.blake2b(os.pread(fd, size, offset - size), digest_size=8).hexdigest()


_NOTHING = hashlib.blake2b(b"", digest_size=8).hexdigest()
Read = tuple[list[bytes], FilePosition]


def tail(
    path: str,
    start: FilePosition | None,
    wait: Callable[[], bool],
    *,
    until_end: bool = False,
    lost: Callable[[], None] = lambda: None,
) -> Iterator[Read]:
    """Yield complete lines and the position after them; no lines where a file begins.

    A file that was renamed is read to its end before the new one is begun; a file that was
    truncated is read from its beginning.

    Args:
        path: The log.
        start: Where to begin; None: at the beginning.
        wait: Waits a moment; returns whether to end.
        until_end: End at the end of the file, instead of waiting for more.
        lost: Called if the file with the position, or a later one, is not there any more.

    Raises:
        OSError: The file cannot be read.
    """
    if start is not None and start.inode != os.stat(path).st_ino:
        earlier, is_whole = _earlier(path, start)
        if not is_whole:
            lost()
        for name, offset in earlier:
            with open(name, "rb") as file:
                file.seek(offset)
                yield from _rest(file)
        start = None
    while True:
        with open(path, "rb") as file:
            position = start or FilePosition(os.fstat(file.fileno()).st_ino, 0, _NOTHING)
            if start is None:
                yield [], position
            start = None
            while True:
                file.seek(position.offset if position.is_in(file) else 0)
                for lines, position in _complete(file):
                    yield lines, position
                if until_end or wait():
                    return
                if _is_new(path, position.inode):
                    # The writer may go on for a moment after the file was renamed.
                    if wait():
                        return
                    file.seek(position.offset)
                    yield from _rest(file)
                    break


def _complete(file: IO[bytes]) -> Iterator[Read]:
    """Yield what is complete from the position of a file on; leave it there."""
    while True:
        at = file.tell()
        data = file.read(_CHUNK)
        while data and b"\n" not in data and len(data) < _LONGEST:
            more = file.read(_CHUNK)
            if not more:
                break
            data += more
        end = data.rfind(b"\n") + 1
        if not end and len(data) >= _LONGEST:
            end = len(data)
        file.seek(at + end)
        if not end:
            return
        yield data[:end].removesuffix(b"\n").split(b"\n"), FilePosition.after(file)


def _rest(file: IO[bytes]) -> Iterator[Read]:
    """Yield all from the position of a file on; its last line may have no LF."""
    yield from _complete(file)
    if last := file.read(_LONGEST):
        yield [last], FilePosition.after(file)


def _is_new(path: str, inode: int) -> bool:
    try:
        return os.stat(path).st_ino != inode
    except FileNotFoundError:
        return False


def _earlier(path: str, position: FilePosition) -> tuple[list[tuple[str, int]], bool]:
    """Return the files that a log was, from a position on, and whether these are all.

    They are beside the log, and their names begin with its name; compressed ones are not read.
    """
    directory, name = os.path.split(path)
    found, begins, since = list[tuple[int, str]](), "", 0
    with os.scandir(directory or ".") as entries:
        for one in entries:
            if one.name == name or not one.is_file(follow_symlinks=False):
                continue
            changed = one.stat().st_mtime_ns
            if one.inode() == position.inode:
                with open(one.path, "rb") as file:
                    if position.is_in(file):
                        begins, since = one.path, changed
            elif one.name.startswith(name):
                found.append((changed, one.path))
    if not begins:
        return [], False
    later = [other for changed, other in sorted(found) if changed >= since]
    is_whole = not any(other.endswith(_COMPRESSED) for other in later)
    plain = [(other, 0) for other in later if not other.endswith(_COMPRESSED)]
    return [(begins, position.offset), *plain], is_whole
