"""An import that is killed at any moment, and repeated, gives the counts of one that is not."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_log import made_up_log
from test_importing import write
from usage_oracle import truth_of
from usage_silo import counts_of

RUN = """
import sys
from usagestats.importing import importing
importing.BLOCK = 20_000
importing.import_logs(sys.argv[1], importing.ImportRequest(sys.argv[2:]))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "kills", [4, pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_killed_imports(kills: int, new_silo: Callable[[str], str], tmp_path: Path) -> None:
    lines = made_up_log(2500, seed=7)
    truth = truth_of(lines)
    names = [
        write(tmp_path / "a.log.gz", lines[:900]),
        write(tmp_path / "b.log", lines[900:1800]),
        write(tmp_path / "c.log", lines[1800:]),
    ]
    command = [sys.executable, "-c", RUN]
    whole = new_silo("")
    begun = time.monotonic()
    subprocess.run([*command, whole, *names], check=True)
    lasts = time.monotonic() - begun
    assert counts_of(whole).figures == truth.figures
    dice = random.Random(3)
    killed = 0
    while killed < kills:
        silo = new_silo("")
        for _ in range(min(5, kills - killed)):
            running = subprocess.Popen([*command, silo, *dice.sample(names, 3)])
            time.sleep(dice.uniform(0.3, 1.0) * lasts)  # when it is killed does not matter
            running.send_signal(signal.SIGKILL)
            running.wait()
            killed += 1
        subprocess.run([*command, silo, *names], check=True)
        assert counts_of(silo) == counts_of(whole)
        assert counts_of(silo).figures == truth.figures
        assert not [name for name in os.listdir(f"{silo}/usage") if name.endswith(".new")]
