"""A real pywb and a real py-wacz, in environments of their own: they need other libraries.

python tests/silocrawl/real_pywb.py DIR     installs them, 97 and 93 MB
"""

import argparse
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

PACKAGES = ("pywb==2.10.0", "cryptography<48", "setuptools<81")
WACZ = ("wacz==0.6.0",)


def install(directory: Path, packages: Sequence[str]) -> None:
    """Install some packages, if they are not there yet."""
    done = directory / "installed.txt"
    if done.exists() and done.read_text() == "\n".join(packages):
        return
    venv.create(directory, with_pip=True, clear=True)
    pip = [str(directory / "bin" / "python"), "-m", "pip", "--quiet"]
    subprocess.run([*pip, "install", "--disable-pip-version-check", *packages], check=True)
    done.write_text("\n".join(packages))


def program(directory: Path, name: str = "wayback") -> Path:
    """Where a command is."""
    return (directory / "wacz" if name == "wacz" else directory) / "bin" / name


def installed(name: str) -> str:
    """Where a command is; skips the test if it is not there, and fails it in CI."""
    import pytest  # noqa: PLC0415  # not there for who only installs

    found = program(Path(os.environ.get("PYWB_FILES", "no PYWB_FILES")), name)
    if not found.exists():
        reason = f"no real {name}: {found} is not there (see tests/silocrawl/real_pywb.py)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return str(found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    install(directory, PACKAGES)
    install(directory / "wacz", WACZ)


if __name__ == "__main__":
    sys.exit(main())
