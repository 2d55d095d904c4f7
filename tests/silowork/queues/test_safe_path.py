"""Children import nothing from the directory in which a command was typed."""

import subprocess
import sys
from pathlib import Path

import pytest

ELSEWHERE = """
import sys
from functools import partial
from silocrawl.cataloguing import cataloguing_step
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import run_steps
from silowork.queues.values import Message
from silowork.stop import Stop
if __name__ == "__main__":
    opened = partial(SqliteQueues, sys.argv[1])
    with opened() as queues:
        queues.put([Message("documents-to-catalogue", b"invalid")])
    run_steps(opened, [cataloguing_step("silo")], 1, Stop(), print, until_empty=True)
"""


@pytest.mark.long
def test_nothing_is_imported_from_the_current_directory(tmp_path: Path) -> None:
    here, program = tmp_path / "here", tmp_path / "program.py"
    Path(here, "recordsilo").mkdir(parents=True)
    Path(here, "json.py").write_text("raise SystemExit('imported')")
    program.write_text(ELSEWHERE)
    command = [sys.executable, str(program), str(tmp_path / "queues.sqlite")]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
    assert "failed=1" in done.stdout
