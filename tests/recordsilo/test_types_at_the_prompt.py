"""Type checkers accept what people write at the prompt (data/at_the_prompt.py)."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).parent / "data" / "at_the_prompt.py"
pytestmark = pytest.mark.slow


def test_mypy_accepts_it_strictly() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(SCRIPT)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_pyright_accepts_it() -> None:
    binaries = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    pyright = which("pyright", path=binaries)
    if pyright is None:
        if os.environ.get("CI") == "true":
            pytest.fail("pyright is not installed")
        pytest.skip("pyright is not installed")
    done = subprocess.run(
        [pyright, "--pythonpath", sys.executable, str(SCRIPT)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
