"""The Pythons that a release is tried on: those of this machine, or that uv can get."""

import glob
import os
import shutil
import subprocess
from collections.abc import Iterator


def find(version: str, uv: str) -> str:
    """Return the path of a Python of a version such as ``3.12``; ``""`` if there is none.

    It is looked for on the PATH, among those of pyenv and of uv; else uv downloads it.
    """
    if found := next((one for one in _candidates(version) if _is(one, version)), ""):
        return found
    for do in (["install", version], ["find", "--managed-python", version]):
        done = subprocess.run(
            [uv, "python", *do], capture_output=True, text=True, check=False, timeout=600
        )
    path = done.stdout.strip()
    return path if _is(path, version) else ""


def _candidates(version: str) -> Iterator[str]:
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        if found := shutil.which(f"python{version}", path=directory):
            yield found
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    yield from sorted(glob.glob(f"{glob.escape(root)}/versions/{version}.*/bin/python"))


def _is(path: str, version: str) -> bool:
    """Whether a Python runs, and has what environments need; a shim of pyenv may not."""
    script = "import ensurepip, sqlite3, ssl, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [path, "-c", script], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == version
