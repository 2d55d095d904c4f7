"""Whole processes: the CPU seconds and the peak memory of a command, its start included."""

import ctypes
import os
import resource
import runpy
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

_REPORT = "SILO_BENCHMARK_REPORT"
_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Process:
    """A command that has ended.

    Attributes:
        cpu: CPU seconds of the process and of the processes that it waited for.
        megabytes: Peak memory of the process itself, or of all its family.
        output: What it printed.
    """

    wall: float
    cpu: float
    megabytes: float
    output: str

    def speed(self, records: int) -> str:
        """Records a second."""
        return f"{records / self.wall:,.0f}/s wall, {records / self.cpu:,.0f}/s CPU"

    def microseconds(self, records: int) -> float:
        """CPU of a record."""
        return self.cpu / records * 1e6


def median(runs: Sequence[Process]) -> Process:
    """The run with the median CPU, with the median of all wall times and peaks."""
    by_cpu = sorted(runs, key=lambda one: one.cpu)
    wall, megabytes = (
        statistics.median(getattr(one, name) for one in runs) for name in ("wall", "megabytes")
    )
    return replace(by_cpu[len(runs) // 2], wall=wall, megabytes=megabytes)


def peak_megabytes() -> float:
    """The peak memory of this process.

    Linux keeps the parent's peak in ``ru_maxrss`` across exec, but not in ``VmHWM``.
    """
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        kilobytes = next(line.split()[1] for line in file if line.startswith("VmHWM"))
    return int(kilobytes) / 1024


def measured(program: str, *arguments: str) -> Process:
    """Run a Python program in a process of its own, and measure all of it.

    Args:
        program: ``silo`` for the command, or the path of a program.
        arguments: Its arguments.

    Raises:
        subprocess.CalledProcessError: Its exit code is not 0.
    """
    reading, writing = os.pipe()
    command = [sys.executable, __file__, program, *arguments]
    environment = {**os.environ, _REPORT: str(writing)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, pass_fds=(writing,)
    ) as process:
        os.close(writing)
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    with open(reading, encoding="ascii") as report:
        peak = report.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return Process(wall, used.ru_utime + used.ru_stime, float(peak), output)


# --------------------------------------------------------------------------- families


def adopt_orphans() -> None:
    """Become the parent of descendants that lose theirs, so that their CPU counts."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def measured_family(
    command: list[str], given: str = "", *, beside: int = 0, check: bool = True
) -> Process:
    """Run a command; measure it and all its descendants, also those that outlive it.

    Memory is the largest proportional set size (PSS) of all together. Call `adopt_orphans` first.

    Args:
        command: The command.
        given: On its standard input.
        beside: A child of this process that goes on; 0 for none.
        check: Whether its exit code has to be 0.

    Raises:
        subprocess.CalledProcessError: It is not.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    most = [0.0]
    watching = threading.Thread(target=_watch, args=(process, most), daemon=True)
    watching.start()
    process.communicate(given.encode())
    wall = time.perf_counter() - began
    watching.join()
    while family(os.getpid()) - {os.getpid(), beside}:
        with suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        time.sleep(0.05)
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Process(wall, cpu, most[0], "")


def _watch(process: "subprocess.Popen[bytes]", most: list[float]) -> None:
    while process.poll() is None:
        most[0] = max(most[0], proportional_megabytes(family(process.pid)))
        time.sleep(0.25)


def family(root: int) -> set[int]:
    """A process and all its descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := _stat(int(entry.name))):
            parents[int(entry.name)] = int(found[1])
    family = {root}
    while new := {pid for pid, above in parents.items() if above in family} - family:
        family |= new
    return family


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process used so far; 0 if it has ended."""
    return sum(map(int, _stat(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """State, parent and further fields of a process; none if it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def proportional_megabytes(pids: Iterable[int]) -> float:
    """The proportional set size (PSS) of processes together."""
    return sum(map(_pss, pids)) / 1024


def _pss(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


# --------------------------------------------------------------------------- in the process


def _main() -> None:
    """Run the program in this process; report the peak memory at the end."""
    report = int(os.environ.pop(_REPORT))
    del sys.argv[0]
    if sys.argv[0] == "silo":
        sys.argv[0] = os.path.join(os.path.dirname(sys.executable), "silo")
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        os.write(report, str(peak_megabytes()).encode())


if __name__ == "__main__":
    _main()
