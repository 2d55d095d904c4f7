"""Split a stream of bytes into blocks of whole lines.

Only LF ends a line, not CR, NUL or the end of a buffer. The blocks together have the same bytes
as the stream, except that lines longer than `MAX_LINE` are cut. So a reader can check that no
line is lost.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = 16 << 20
MAX_LINE = 1 << 20
_LAST = 1 << 16
"""Bytes at the end of what is to be read, in which the end of a line is looked for."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a stream.

    Attributes:
        start: Offset of its beginning in the decompressed stream, in bytes.
        end: Offset of its end; if `cut`, ``end - start`` is more than ``len(data)``.
        data: The lines, each with its LF; the last line of a stream may not have one.
        cut: Whether this is one line longer than `MAX_LINE`; then ``data`` is its beginning,
            without LF.
        cut_tail: The last `MAX_LINE` bytes of such a line, with its LF.
    """

    start: int
    end: int
    data: bytes
    cut: bool = False
    cut_tail: bytes = b""

    @property
    def terminated(self) -> bool:
        """Whether the last line has its LF."""
        return self.cut or self.data.endswith(b"\n")

    @property
    def tail(self) -> bytes:
        """Return the last bytes: all of them, or `MAX_LINE` of a line that is `cut`."""
        return self.cut_tail if self.cut else self.data

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))

    def split(self) -> list[bytes]:
        """Return the lines without LF."""
        lines = self.data.split(b"\n")
        if lines and not lines[-1] and not self.cut:
            lines.pop()
        return lines


def blocks(stream: io.RawIOBase, *, start: int = 0, size: int = BLOCK) -> Iterator[Block]:
    """Split a stream, from its current position, into blocks of about ``size`` bytes.

    Args:
        start: Its current position, in bytes from its beginning.
        size: Bytes to read at once; a few times as much memory is needed.

    Yields:
        Blocks that are not empty. Only the last one may end without LF.
    """
    rest = b""
    while data := read_all(stream, _whole_lines(stream, size)):
        cut = data.rfind(b"\n") + 1
        if cut:
            begun, rest = rest, data[cut:]
            if begun or rest:
                data = b"".join((begun, memoryview(data)[:cut]))
            end = start + len(data)
            yield from _checked(start, data)
            start = end
        else:
            rest += data
        del data  # its memory serves for what is read next
        if len(rest) > MAX_LINE:
            line, rest, end = _rest_of_line(stream, start, rest)
            yield line
            start = end
    if rest:
        yield from _checked(start, rest)


def _whole_lines(stream: io.RawIOBase, size: int) -> int:
    """Return how much to read: whole lines if the stream can be read twice, to copy nothing."""
    if size <= _LAST or not stream.seekable():
        return size
    begin = stream.tell()
    stream.seek(begin + size - _LAST)
    last = read_all(stream, _LAST)
    stream.seek(begin)
    return size - _LAST + (last.rfind(b"\n") + 1 or len(last)) if last else size


def _checked(start: int, data: bytes) -> Iterator[Block]:
    """Yield a block, with lines that are too long in blocks of their own."""
    if len(data) <= MAX_LINE:
        yield Block(start, start + len(data), data)
        return
    begun = at = 0
    while at < len(data):
        # A line that is too long has no LF within MAX_LINE bytes.
        last = data.rfind(b"\n", at, at + MAX_LINE + 1)
        if last >= 0 or len(data) - at <= MAX_LINE:
            at = last + 1 if last >= 0 else len(data)
            continue
        if at > begun:
            yield Block(start + begun, start + at, data[begun:at])
        end = data.find(b"\n", at) + 1 or len(data)
        head, tail = data[at : at + MAX_LINE], data[end - MAX_LINE : end]
        yield Block(start + at, start + end, head, cut=True, cut_tail=tail)
        begun = at = end
    if at > begun:
        yield Block(start + begun, start + at, data[begun:at])


def _rest_of_line(stream: io.RawIOBase, start: int, head: bytes) -> tuple[Block, bytes, int]:
    """Skip to the end of a line that is too long; return it, the bytes read after it, its end."""
    length = len(head)
    kept, tail, rest = head[:MAX_LINE], head, b""
    while data := read_all(stream, MAX_LINE):
        end = data.find(b"\n") + 1
        length += end or len(data)
        tail = (tail + data[: end or len(data)])[-MAX_LINE:]
        if end:
            rest = data[end:]
            break
    line = Block(start, start + length, kept, cut=True, cut_tail=tail[-MAX_LINE:])
    return line, rest, line.end


def read_all(stream: io.RawIOBase, size: int) -> bytes:
    """Read this many bytes, fewer only at the end."""
    parts = []
    while size and (data := stream.read(size)):
        parts.append(data)
        size -= len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)
