"""A stream of bytes as blocks of whole lines.

A line ends with LF and nothing else: not with CR, NUL or the end of a buffer. What the
blocks hold, one after the other, is what the stream held, byte for byte, but for lines
beyond `MAX_LINE`, of which the beginning is kept. So lines in = lines out can be checked
by whoever reads them.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = 16 << 20
MAX_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a stream.

    Attributes:
        start: Where it begins in the decompressed stream, in bytes.
        end: Where it ends; ``end - start`` is more than ``len(data)`` where `cut`.
        data: The lines, each with its LF; the last one of a stream may lack it.
        cut: This is one line longer than `MAX_LINE`; ``data`` is its beginning, with no LF.
    """

    start: int
    end: int
    data: bytes
    cut: bool = False

    @property
    def terminated(self) -> bool:
        """Whether the last line has its LF, as far as the stream tells."""
        return self.cut or self.data.endswith(b"\n")

    @property
    def lines(self) -> int:
        """How many lines."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))

    def split(self) -> list[bytes]:
        """The lines, without LF."""
        lines = self.data.split(b"\n")
        if lines and not lines[-1] and not self.cut:
            lines.pop()
        return lines


def blocks(stream: io.RawIOBase, *, start: int = 0, size: int = BLOCK) -> Iterator[Block]:
    """Cut a stream, from where it stands, into blocks of about ``size`` bytes.

    Args:
        start: Where it stands, in bytes from its beginning.
        size: How much is read at once; memory needed is some times that.

    Yields:
        No empty block. Only the last one may end without LF.
    """
    rest = b""
    while data := _read(stream, size):
        data = rest + data
        cut = data.rfind(b"\n") + 1
        if cut:
            yield from _checked(start, data[:cut])
            start += cut
        rest = data[cut:]
        if len(rest) > MAX_LINE:
            line, rest, end = _rest_of_line(stream, start, rest)
            yield line
            start = end
    if rest:
        yield from _checked(start, rest)


def _checked(start: int, data: bytes) -> Iterator[Block]:
    """A block, with lines that are too long taken out of it."""
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
        yield Block(start + at, start + end, data[at : at + MAX_LINE], cut=True)
        begun = at = end
    if at > begun:
        yield Block(start + begun, start + at, data[begun:at])


def _rest_of_line(stream: io.RawIOBase, start: int, head: bytes) -> tuple[Block, bytes, int]:
    """Skip to the end of a line that is too long: (the line, what was read after it, its end)."""
    length = len(head)
    kept, rest = head[:MAX_LINE], b""
    while data := _read(stream, MAX_LINE):
        end = data.find(b"\n") + 1
        length += end or len(data)
        if end:
            rest = data[end:]
            break
    return Block(start, start + length, kept, cut=True), rest, start + length


def _read(stream: io.RawIOBase, size: int) -> bytes:
    """So many bytes, fewer only at the end."""
    parts = []
    while size and (data := stream.read(size)):
        parts.append(data)
        size -= len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)
