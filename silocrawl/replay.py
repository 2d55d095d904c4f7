"""A pywb that replays the archives of a Silo: a program of its own, which ends with this process.

Run as a module, it keeps a program running until its standard input ends, that is, until the
process that started it has ended, however it ends.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from politeweb.loopback import LOOPBACK
from recordsilo.child_process import wait_for_end_of
from silocrawl.errors import CrawlingError
from silocrawl.paths import archives_directory, index_directory, places_file
from silowork.children import Child, ended

SECONDS_TO_START = 60.0
INSTALL = "python3 -m venv pywb && pywb/bin/pip install pywb 'cryptography<48'"
_LAST_WORDS = 2_000


class PywbMissing(CrawlingError):
    """There is no pywb."""

    def __init__(self, program: str) -> None:
        super().__init__(
            f"there is no program {program}; install pywb in an environment of its own,"
            f" and name it: {INSTALL}, then --pywb pywb/bin/wayback"
        )


class ReplayFailed(CrawlingError):
    """pywb does not start, or ended."""


def program_of(name: str) -> str:
    """The path of the program.

    Raises:
        PywbMissing: There is none, or it cannot be executed.
    """
    found = shutil.which(name)
    if found is None:
        raise PywbMissing(name)
    return os.path.abspath(found)


def configuration(silo_path: str, *, is_proxy: bool = False) -> str:
    """The ``config.yaml`` of pywb: the collection ``own`` (JSON, which is YAML).

    Args:
        is_proxy: Whether it answers as a proxy, too, and rewrites nothing then.
    """
    archives = os.path.join(archives_directory(silo_path), "")
    places = places_file(silo_path)
    own = {
        "index_paths": index_directory(silo_path),
        "archive_paths": [archives, places] if os.path.exists(places) else archives,
    }
    proxy = {"coll": "own", "enable_banner": False, "enable_content_rewrite": False}
    table = {"collections": {"own": own}} | ({"proxy": proxy} if is_proxy else {})
    return json.dumps(table, indent=1) + "\n"


@contextmanager
def replaying(
    silo_path: str, program: str, port: int, *, is_proxy: bool = False
) -> Iterator[Child]:
    """Run pywb during the block; it answers on loopback when the block begins.

    Args:
        program: See `program_of`.
        port: Where it listens.
        is_proxy: See `configuration`.

    Raises:
        ReplayFailed: The port is taken, or pywb ended or does not answer; with its last words.
    """
    if _answers(port):
        raise ReplayFailed(f"port {port} is taken by another program; name another --port")
    with tempfile.TemporaryDirectory(prefix="silo-replay-") as directory:
        with open(os.path.join(directory, "config.yaml"), "w", encoding="utf-8") as file:
            file.write(configuration(os.path.abspath(silo_path), is_proxy=is_proxy))
        log_path = os.path.join(directory, "log")
        with open(log_path, "wb") as log:
            child = subprocess.Popen(  # noqa: S603  # the program that the user named
                [sys.executable, "-P", "-m", "silocrawl.replay",
                 program, "-p", str(port), "-b", LOOPBACK],
                stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=directory,
                start_new_session=True,
            )  # fmt: skip
        try:
            _wait_for(child, port, log_path)
            yield child
        finally:
            ended(child)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        return int(found.getsockname()[1])


def _wait_for(child: Child, port: int, log_path: str) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while not _answers(port):
        if child.poll() is not None or time.monotonic() > end:
            with open(log_path, "rb") as file:
                words = file.read()[-_LAST_WORDS:].decode(errors="replace").strip()
            raise ReplayFailed(f"pywb does not start; it says: {words or 'nothing'}")
        time.sleep(0.1)


def _answers(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1.0)
        return one.connect_ex((LOOPBACK, port)) == 0


def main() -> int:
    """Run the program of the arguments until it ends, or standard input does."""
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)  # noqa: S603  # see above

    def end() -> None:
        wait_for_end_of(0)
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()

    threading.Thread(target=end, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
