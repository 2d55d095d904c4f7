"""Whole processes: the CPU seconds and the peak memory of a command, its start included."""

import os
import runpy
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

_REPORT = "SILO_BENCHMARK_REPORT"


@dataclass(frozen=True, slots=True)
class Process:
    """A command that has ended.

    Attributes:
        cpu: CPU seconds of the process and of the processes that it waited for.
        megabytes: Peak memory of the process itself.
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
