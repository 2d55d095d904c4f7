"""Has ClamAV look at WARC files, where it is installed; it unpacks them itself.

Source: clamscan(1), clamdscan(1): 0 nothing found, 1 something found, 2 an error.
"""

import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime

from recordsilo.batches import batched
from silocrawl.packages.values import PackagingError, VirusCheck

PROGRAMS = ("clamdscan", "clamscan")
"""The first one that is installed is used: it has a service that has read its signatures."""
_OPTIONS = {
    "clamdscan": ("--fdpass", "--no-summary", "--stdout"),
    "clamscan": ("--no-summary", "--stdout", "--max-filesize=0", "--max-scansize=0",
                 "--alert-exceeds-max=yes"),
}  # fmt: skip
_LIMITS = "Heuristics.Limits.Exceeded"
_TOGETHER, _SECONDS_TO_ANSWER = 200, 60.0


def check_for_viruses(paths: Mapping[str, str]) -> tuple[VirusCheck, dict[str, str]]:
    """Look at files; what is found in them is no error.

    Args:
        paths: Name → path.

    Returns:
        The check, and what was found by name.

    Raises:
        PackagingError: No scanner is installed, or it has not looked at a file as a whole.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise PackagingError(
            "virus-check is on, but neither clamdscan nor clamscan is installed; install it"
            " (apt-get install clamav), or write virus-check = false into crawling/store.toml"
        )
    check = VirusCheck(_version(program), datetime.now(UTC))
    names = {path: name for name, path in paths.items()}
    found: dict[str, str] = {}
    for some in batched(names, _TOGETHER):
        for path, said in _looked_at(program, some).items():
            if said != "OK":
                found[names[path]] = said
    return check, found


def _version(program: str) -> str:
    done = subprocess.run(  # noqa: S603 (a program that was found on PATH)
        [program, "--version"],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS_TO_ANSWER,
        check=False,
    )
    return " ".join(done.stdout.split())[:200] or program.rpartition("/")[2]


def _looked_at(program: str, paths: list[str]) -> dict[str, str]:
    """What is said of each file: OK, or what was found."""
    options = _OPTIONS[program.rpartition("/")[2]]
    done = subprocess.run(  # noqa: S603 (a program that was found on PATH)
        [program, *options, "--", *paths],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    said: dict[str, str] = {}
    for line in done.stdout.splitlines():
        path, _, what = line.rpartition(": ")
        if path in paths and (what == "OK" or what.endswith(" FOUND")):
            said[path] = what.removesuffix(" FOUND")
    for path in paths:
        if path not in said or said[path].startswith(_LIMITS):
            why = " ".join(f"{done.stdout[-2000:]} {done.stderr[-2000:]}".split())[-300:]
            raise PackagingError(f"the virus scanner has not looked at all of {path}: {why}")
    return said
