"""How much of a disk a directory occupies."""

import contextlib
import os


def size_of(path: str) -> int:
    """Bytes that a directory occupies, in whole blocks; 0 if it does not exist.

    A file with several names counts once; links are not followed.

    Cost: looks at every file.
    """
    total, seen = 0, set()
    waiting = [path]
    with contextlib.suppress(FileNotFoundError):
        total += os.lstat(path).st_blocks * 512
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile
            continue
        with entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False)
                    if found.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                        if (name := (found.st_dev, found.st_ino)) in seen:
                            continue
                        seen.add(name)
                    total += found.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return total
