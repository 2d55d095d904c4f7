"""DuckDB behind named steps."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo.extras import PackageMissing
from silosteps.engine import Engine
from silosteps.errors import DirectoryUnusable, DiskFull, StepFileInvalid, StepsError, WorkerDied
from silosteps.runners import in_order
from silosteps.step_file import read_steps

STEPS = """-- What a file says before its first step is for readers.

-- step: count_lines
-- How many there are.
SELECT count(*) FROM lines

-- step: all_lines
SELECT line FROM lines

-- step: longer
SELECT text FROM given WHERE length(text) > $letters ORDER BY text

-- step: wrong
SELECT nothing FROM nowhere
"""


def test_no_progress_is_printed_amid_the_output(tmp_path: Path) -> None:
    step = "SELECT current_setting('enable_progress_bar')"
    asked = f"from silosteps.engine import Engine; e = Engine({{'one': {step!r}}}, '{tmp_path}')"
    done = subprocess.run(
        [sys.executable, "-c", f"{asked}; print(e.run('one').all())"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "[(False,)]\n"


def test_only_the_compiled_module_of_duckdb_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from silosteps.engine import Engine; "
        f"engine = Engine({{'one': 'SELECT 1'}}, {str(tmp_path)!r}); "
        "print(engine.run('one').all(), 'duckdb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[(1,)] False\n"


def test_without_the_compiled_module_the_package_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "_duckdb", None)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(PackageMissing, match="needs the package duckdb"):
        Engine({}, str(tmp_path))


def test_a_directory_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DirectoryUnusable, match="is not UTF-8"):
        Engine({}, str(tmp_path / "\udcff"))


def test_steps_are_read_by_name() -> None:
    steps = read_steps(STEPS)
    assert list(steps) == ["count_lines", "all_lines", "longer", "wrong"]
    assert steps["count_lines"].endswith("SELECT count(*) FROM lines")


@pytest.mark.parametrize(
    "text",
    ["-- step: A b\nSELECT 1", "-- step: a\nSELECT 1\n-- step: a\nSELECT 2", "-- step: a\n-- no"],
)
def test_a_file_of_steps_that_is_wrong_is_refused(text: str) -> None:
    with pytest.raises(StepFileInvalid):
        read_steps(text)


@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), min_size=1))
def test_any_bytes_are_lines(lines: list[bytes]) -> None:
    with ENGINE as engine:
        engine.table_of_lines("lines", b"\n".join(lines) + b"\n")
        found = [row[0].encode("latin-1") for row in engine.run("all_lines").all()]
    assert sorted(found) == sorted(lines)


class _Kept(Engine):
    def __exit__(self, *exception: object) -> None:
        """Stay open for the next example."""


ENGINE = _Kept(read_steps(STEPS), "/nonexistent", threads=1)


def test_arrays_become_a_table_and_values_parameters() -> None:
    with Engine(read_steps(STEPS), "/nonexistent", threads=1) as engine:
        engine.table("given", {"text": np.array(["a", "bcd", "ef", None], dtype=object)})
        assert engine.run("longer", letters=1).all() == [("bcd",), ("ef",)]
        assert list(engine.run("longer", letters=0).rows(2)) == [[("a",), ("bcd",)], [("ef",)]]


def test_a_step_that_fails_is_named() -> None:
    with (
        Engine(read_steps(STEPS), "/nonexistent", threads=1) as engine,
        pytest.raises(StepsError, match="step wrong"),
    ):
        engine.run("wrong")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path) -> None:
    steps = {"out": "COPY (SELECT range AS n FROM range(100000)) TO $file (FORMAT csv)"}
    with (
        Engine(steps, str(tmp_path)) as engine,
        pytest.raises(DiskFull, match=r"^no space left on the disk \(at step out, .*; make room"),
    ):
        engine.run("out", file="/dev/full")


def test_a_step_is_watched_before_it_runs(tmp_path: Path) -> None:
    seen: list[str] = []
    with Engine({"one": "SELECT 1"}, str(tmp_path), watch=seen.append) as engine:
        engine.table_of_lines("line", b"a\nb\n")
        engine.run("one")
        engine.drop(["line", "none"])
    assert seen == ["one"]


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_the_jobs(processes: int) -> None:
    assert list(in_order(abs, range(-20, 0), processes=processes)) == list(range(20, 0, -1))


def test_a_killed_worker_is_told() -> None:
    with pytest.raises(WorkerDied, match="killed"):
        list(in_order(os._exit, [3], processes=2))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at /proc")
def test_processes_end_with_the_one_that_started_them() -> None:
    program = (
        "import os, time; from silosteps.runners import in_order\n"
        "if __name__ == '__main__':\n"
        "    pids = in_order(abs, range(100), processes=2); next(pids)\n"
        "    import multiprocessing\n"
        "    print(*(one.pid for one in multiprocessing.active_children()), flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        pids = running.stdout.readline().split()
        running.kill()
    assert pids
    end = time.monotonic() + 30
    while time.monotonic() < end and any(_runs(pid.decode()) for pid in pids):
        time.sleep(0.05)
    assert not any(_runs(pid.decode()) for pid in pids)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


INTERRUPTED = """
import os, signal, sys, threading, time
from silosteps.runners import in_order

threading.Timer(float(sys.argv[1]), os.killpg, (0, signal.SIGINT)).start()
try:
    list(in_order(time.sleep, [60, 60, 60], processes=2))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("seconds", ["0.1", "1.5"])
@pytest.mark.long
def test_an_interrupt_of_several_processes_has_no_traceback(seconds: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, seconds],
        capture_output=True, text=True, timeout=50, check=False, start_new_session=True,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (130, "")


def test_ctrl_c_during_a_query_is_the_interrupt_that_it_was(tmp_path: Path) -> None:
    class Interrupted:
        """DuckDB's connection, as a signal finds it in a query."""

        def __getattr__(self, _name: str) -> Callable[..., Any]:
            def act(*_: object) -> None:
                raise RuntimeError("Query interrupted")

            return act

    with Engine({"one": "SELECT 1"}, str(tmp_path)) as engine:
        connection, engine._connection = engine._connection, Interrupted()
        for act in (
            lambda: engine.run("one"),
            engine.all,
            engine.columns,
            lambda: [*engine.rows()],
        ):
            with pytest.raises(KeyboardInterrupt):
                act()
        engine._connection = connection
        assert engine.run("one").all() == [(1,)]
