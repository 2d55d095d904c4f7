"""`silo crawl heritrix tail` is killed again and again while a log grows: each line counts once."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from test_heritrix_indexing import JOB, LAUNCH, Crawl, index
from waiting import wait_until

from recordsilo import Silo
from silocrawl.heritrix.outcomes import log_line, without_extra
from silocrawl.paths import log_file

pytestmark = pytest.mark.long
KILLS, LINES = 12, 600
COMMAND = [sys.executable, "-c", "from recordsilo.cli import main; main()", "crawl", "heritrix"]


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_no_line_is_lost_or_twice(silo: Silo, tmp_path: Path) -> None:
    job, dice = Crawl(tmp_path / "jobs" / JOB), random.Random(7)
    logs = job.directory / LAUNCH / "logs"
    logs.mkdir()
    log = Path(log_file(silo.path, f"{JOB}/20261124T061100Z"))
    command = [*COMMAND, "tail", silo.path, JOB, "--jobs", str(tmp_path / "jobs"), "-q"]
    for kill in range(KILLS):
        with (logs / "crawl.log").open("ab") as file:
            for number in range(LINES):
                file.write(log_line(job.fetched(f"/{kill}/{number}")).encode())
        before = size(log)
        process = subprocess.Popen([*command, "--follow"])
        try:
            wait_until(lambda before=before: size(log) > before)
            time.sleep(dice.random() * 0.4)
        finally:
            process.kill()
            process.wait()
        if kill % 3 == 0:
            (logs / "crawl.log").rename(logs / f"crawl.log.cp{kill + 1:05}-20261124061200")
    assert subprocess.run(command, check=False).returncode == 0
    lines = log.read_bytes().splitlines()
    assert max(Counter(map(without_extra, lines)).values()) == 1
    assert len(lines) == KILLS * LINES
    assert len(index(silo)) == KILLS * LINES
