"""A real pywb and a real py-wacz, in environments of their own: they need other libraries.

python tests/silocrawl/real_pywb.py DIR     installs them, 97 and 93 MB
"""

import argparse
import os
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PACKAGES = ("pywb==2.10.0", "cryptography<48", "setuptools<81", "boto3>=1.28")
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


@contextmanager
def serving(wayback: str, directory: str, collection: str = "crawls") -> Iterator[str]:
    """A pywb on the configuration in a directory: the address of its collection."""
    import requests  # noqa: PLC0415
    from ports import free_port  # noqa: PLC0415  # of the tests

    port = free_port()
    with subprocess.Popen(
        [wayback, "-p", str(port), "-b", "127.0.0.1"], cwd=directory,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as pywb:  # fmt: skip
        root = f"http://127.0.0.1:{port}/{collection}"
        try:
            for _ in range(2000):
                try:
                    requests.get(root, timeout=60)
                    break
                except requests.ConnectionError:
                    time.sleep(0.1)
            yield root
        finally:
            pywb.send_signal(signal.SIGTERM)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    install(directory, PACKAGES)
    install(directory / "wacz", WACZ)


if __name__ == "__main__":
    sys.exit(main())
