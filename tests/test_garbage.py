"""Processes that work through many records collect garbage rarely."""

import platform
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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries decide themselves")
def test_keeps_the_memory_of_large_objects_for_the_next_ones() -> None:
    program = (
        "import resource, threading\n"
        "from recordsilo.garbage import keep_freed_memory\n"
        "keep_freed_memory()\n"
        "def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "def work():\n"
        "    for _ in range(100): [b'x' * 700_000, b'y' * 700_000, b'z' * 700_000]\n"
        "    before = faults()\n"
        "    for _ in range(100): [b'x' * 700_000, b'y' * 700_000, b'z' * 700_000]\n"
        "    print(faults() - before)\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert int(done.stdout) < 1000, "pages of memory that were given back, and fetched again"
