"""Benchmarks measure a process with its start, and its own memory."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from processes import measured, peak_megabytes


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(
        "import sys, time\n"
        "while time.process_time() < 0.2: pass\n"
        "print(sys.argv[1:]); sys.exit(len(sys.argv) > 2)\n"
    )
    return str(path)


def test_the_peak_is_not_that_of_the_parent(program: str) -> None:
    held = b"x" * (150 << 20)
    done = measured(program, "a")
    assert peak_megabytes() > 150
    assert 5 < done.megabytes < 100
    assert done.cpu > 0.2
    assert done.output == "['a']\n"
    del held


def test_a_program_that_fails_is_an_error(program: str) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        measured(program, "a", "b")
