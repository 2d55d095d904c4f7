"""Processes that work through many records collect garbage rarely."""

import subprocess
import sys

import pytest

STARTS = {
    "a command": "import sys; sys.argv = ['silo', '--version']; "
    "from recordsilo.cli import main; main()",
    "a job": "from silowork.__main__ import main; main('run', '/no/silo', 'x')",
    "the second reader": "import sys; sys.argv = ['', '', '/no/silo']; "
    "from recordsilo.index.record_reading import main; main()",
}


@pytest.mark.parametrize("process", STARTS)
def test_collects_garbage_rarely(process: str) -> None:
    program = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_threshold()[0], "
        f"gc.get_freeze_count() > 1000, file=sys.stderr)); {STARTS[process]}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.stderr.split()[-2:] == [b"100000", b"True"], done.stderr


def test_what_is_left_at_the_end_is_not_looked_at() -> None:
    program = (
        "import atexit, gc, sys; atexit.register(lambda: print(len(gc.get_objects()))); "
        f"{STARTS['a command']}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert int(done.stdout.split()[-1]) < 1000, done.stdout
