"""What a command printed, and how it ended."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

from recordsilo.cli import ExitCode

Harvest = Callable[..., str]
CREATOR = b"""<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Ortega, N.</dc:creator></oai_dc:dc>"""
MAIN = "from recordsilo.cli import main; main()"


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


def only_sentence(result: Result, code: ExitCode) -> str:
    assert result.code == code
    assert result.out == ""
    assert result.err.startswith("silo: ")
    assert result.err.count("\n") == 1
    return result.err


def in_a_process(
    arguments: list[str | bytes], closed: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    line = f'exec "$@" {closed}'
    command = ["sh", "-c", line, "-", sys.executable, "-c", MAIN, *arguments]
    return subprocess.run(
        command, capture_output=True, env=os.environ | environment, check=False, timeout=90
    )
