"""Compare two versions: files by digest, and the lines of text files. Pure."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from recordsilo.disk.digest import Digest
from recordsilo.formats.canonical import canonical_lines
from recordsilo.html_tables import lines, sentences, table

Change = Literal["added", "removed", "changed"]
Form = Literal["xml", "text", "binary", "large"]
Read = Callable[[str, str], bytes]
"""(version, path) → content."""

MAX_BYTES = 1 << 20
"""Larger files are compared by digest only."""
MAX_LINES = 20_000
"""Files with more lines too: the time to compare shuffled lines is quadratic."""


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A file that differs between two versions.

    Attributes:
        before: Digest of the file on disk in the first version; None if it has no such file.
        after: The same for the second version.
        form: How a changed file was compared: as ``xml`` (in canonical form), as
            ``text``, or, if it is ``binary`` or ``large``, by digest. None if it was
            added or removed.
        lines: The lines that differ, as a unified diff without its header; empty for XML
            with equal canonical form.
    """

    path: str
    change: Change
    before: Digest | None
    after: Digest | None
    form: Form | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between two versions of a record; false if there are none.

    Attributes:
        files: Path → the difference.
    """

    before: str
    after: str
    files: tuple[FileDifference, ...]

    def __bool__(self) -> bool:
        return bool(self.files)

    def __repr__(self) -> str:
        """A line for each file."""
        told = [f"version {self.before} → version {self.after}"]
        for one in self.files:
            sizes = [
                f"{size:,}" for size in map(_size, (one.before, one.after)) if size is not None
            ]
            told.append(f"  {one.change:<8}  {one.path}  {' → '.join(sizes)} bytes")
        return "\n".join(told if self.files else [f"{told[0]}: no differences"])

    def _repr_html_(self) -> str:
        rows = [(one.path, one.change, _size(one.before), _size(one.after)) for one in self.files]
        between = f"version {self.before} → version {self.after}"
        if not rows:
            return sentences([f"{between}: no differences"])
        head = ("file", "change", "bytes before", "bytes after")
        changed = [
            line for one in self.files if one.lines for line in (f"*** {one.path}", *one.lines)
        ]
        return table(rows, head=head, caption=between) + (lines(changed) if changed else "")


def _size(digest: Digest | None) -> int | None:
    return None if digest is None else digest.size


def compare(
    before: str,
    after: str,
    digests: tuple[Mapping[str, Digest], Mapping[str, Digest]],
    read: Read,
) -> Differences:
    """Compare two versions.

    Args:
        before: The first version's name.
        after: The second version's name.
        digests: Path → digest of each version's files, as on disk.
        read: Called for files that changed, unless they are too large.
    """
    old, new = digests
    found = []
    for path in sorted(old.keys() | new.keys()):
        one, other = old.get(path), new.get(path)
        if one is None or other is None:
            change: Change = "added" if one is None else "removed"
            found.append(FileDifference(path, change, one, other))
        elif one != other:
            form, lines = _compared(path, before, after, max(one.size, other.size), read)
            found.append(FileDifference(path, "changed", one, other, form, lines))
    return Differences(before, after, tuple(found))


def _compared(
    path: str, before: str, after: str, size: int, read: Read
) -> tuple[Form, tuple[str, ...]]:
    if size > MAX_BYTES:
        return "large", ()
    contents = read(before, path), read(after, path)
    form, sides = _readable(*contents)
    if max(map(len, sides)) > MAX_LINES:
        return "large", ()
    return form, tuple(_unified(*sides))


def _readable(old: bytes, new: bytes) -> tuple[Form, tuple[list[str], list[str]]]:
    """Both contents as lines, in the first form that is possible for both."""
    forms: tuple[tuple[Form, Callable[[bytes], list[str] | None]], ...] = (
        ("xml", canonical_lines),
        ("text", _text_lines),
    )
    for form, lines_of in forms:
        one, other = lines_of(old), lines_of(new)
        if one is not None and other is not None:
            return form, (one, other)
    return "binary", ([], [])


def _text_lines(content: bytes) -> list[str] | None:
    """The lines of a text in UTF-8; unusual line ends are shown."""
    if b"\0" in content:
        return None
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError:
        return None
    return lines[:-1] if lines[-1] == "" else [*lines[:-1], lines[-1] + _NO_END]


_NO_END = " (no line end)"


def _unified(one: list[str], other: list[str]) -> Iterator[str]:
    lines = difflib.unified_diff(one, other, lineterm="")
    next(lines, None)  # the names of the two files
    next(lines, None)
    return lines
