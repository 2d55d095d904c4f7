"""The directory beside a Silo whose content a form may import; nothing else on the server."""

import os

from recordsilo.disk.names import visible_in


def imports_beside(silo_path: str) -> str:
    """Return the directory for imports: ``myrepo.imports`` next to the Silo ``myrepo``."""
    return os.path.abspath(silo_path) + ".imports"


def names_beside(silo_path: str) -> list[str]:
    """Return the names of the files and directories in `imports_beside`; see `visible_in`."""
    return visible_in(imports_beside(silo_path))
