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


@pytest.mark.long
def test_a_process_that_outlives_its_command_is_measured_with_it() -> None:
    busy = "import time\nwhile time.process_time() < 0.4: pass"
    begin = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {busy!r}])"
    command = [sys.executable, "-c", begin]
    measure = (
        "from processes import adopt_orphans, measured_family\n"
        f"adopt_orphans()\none = measured_family({command!r})\nprint(one.cpu, one.megabytes)"
    )
    benchmarks = Path(__file__).parents[1] / "benchmarks"
    done = subprocess.run(
        [sys.executable, "-c", measure], cwd=benchmarks, capture_output=True, text=True, check=True
    )
    cpu, megabytes = map(float, done.stdout.split())
    assert cpu > 0.4
    assert 1 < megabytes < 100
