"""A real pywb, in an environment of its own: its versions of libraries are other ones.

python tests/silocrawl/real_pywb.py DIR     installs it, 97 MB
"""

import argparse
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = ("pywb==2.10.0", "cryptography<48", "setuptools<81")


def install(directory: Path) -> None:
    """Install it, if it is not there yet."""
    done = directory / "installed.txt"
    if done.exists() and done.read_text() == "\n".join(PACKAGES):
        return
    venv.create(directory, with_pip=True, clear=True)
    pip = [str(directory / "bin" / "python"), "-m", "pip", "--quiet"]
    subprocess.run([*pip, "install", "--disable-pip-version-check", *PACKAGES], check=True)
    done.write_text("\n".join(PACKAGES))


def program(directory: Path) -> Path:
    """Where its command is."""
    return directory / "bin" / "wayback"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    install(parser.parse_args().directory)


if __name__ == "__main__":
    sys.exit(main())
