"""The directory beside a Silo whose content a form may import; nothing else on the server."""

import contextlib
import os


def imports_beside(silo_path: str) -> str:
    """Return the directory for imports: ``myrepo.imports`` next to the Silo ``myrepo``."""
    return os.path.abspath(silo_path) + ".imports"


def names_beside(silo_path: str) -> list[str]:
    """Return the names of the files and directories in `imports_beside`, sorted.

    Symbolic links, devices, pipes and hidden files are left out: a worker would follow them
    anywhere.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if not os.path.islink(place := imports_beside(silo_path)):
            with os.scandir(place) as entries:
                return sorted(
                    one.name for one in entries if not one.name.startswith(".") and _is_kept(one)
                )
    return []


def _is_kept(entry: "os.DirEntry[str]") -> bool:
    return entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
