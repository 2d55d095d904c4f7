"""Walk the pairtree to find every record without the index (Pairtree 0.1, "Pairtree paths")."""

import errno
import os
from collections.abc import Callable, Iterator

from recordsilo.disk.identifier import unclean
from recordsilo.disk.names import is_own
from recordsilo.errors import IdentifierError

_DAMAGE = {errno.EACCES, errno.EIO}
"""Errors of listing that concern the directory, not this process."""

_BEHIND_LINK = "replace it with the directory itself, because records behind it are not listed"


def walk_records(
    root: str, problem: Callable[[str, str], None], *, name_links: bool = False
) -> Iterator[str]:
    """The identifiers of all directories that contain a manifest or a version, unordered.

    A version without a manifest is a damaged record, or one that is created or deleted just now.
    Memory grows with the depth of the tree and the width of a directory, not with
    the number of records. Links are not followed.

    Args:
        root: The ``pairtree_root`` directory.
        problem: Called with a path and a sentence for each directory that cannot be a record.
        name_links: Whether links, behind which records may be, are such problems, too.
    """
    stack = [root]
    while stack:
        directory = stack.pop()
        is_record = False
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if is_own(entry.name):
                        is_record = True
                    elif len(entry.name) <= 2 and entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
                    elif name_links and entry.is_symlink():
                        problem(entry.path, f"{entry.path} is a link; {_BEHIND_LINK}")
        except FileNotFoundError:  # pruned meanwhile
            continue
        except OSError as error:
            if error.errno not in _DAMAGE:
                raise
            problem(directory, f"{directory} cannot be listed: {error.strerror}")
            continue
        if is_record:
            *shorties, last = directory[len(root) + 1 :].split("/")
            try:
                identifier = unclean("".join(shorties) + last)
            except IdentifierError as error:
                problem(directory, f"{directory} contains a record, but {error}")
                continue
            if all(len(shorty) == 2 for shorty in shorties):
                yield identifier
            else:
                problem(directory, f"{directory} contains a record, but is not a pairtree path")
