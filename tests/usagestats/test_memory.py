"""Logs of unusual kinds are imported within limits of memory."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IMPORT = """
import sys
from processes import peak_megabytes
from usagestats.importing.importing import ImportRequest, import_logs
receipt = import_logs(sys.argv[1], ImportRequest([sys.argv[2]]))
assert receipt.lines == int(sys.argv[3])
print(peak_megabytes())
"""


@pytest.mark.parametrize(
    ("kind", "number", "most"),
    [("identifiers", 400_000, 600), ("users", 600_000, 600), ("days", 20_000, 300)],
)
def test_the_memory_of_an_import_is_limited(
    kind: str, number: int, most: int, silo_path: str, tmp_path: Path
) -> None:
    log, begin = tmp_path / "access.log", datetime(1971, 1, 1, tzinfo=UTC)
    with log.open("w") as file:
        for one in range(number):
            moment = begin + timedelta(days=one if kind == "days" else one % 3)
            user = f"user{one}@example.org" if kind == "users" else "-"
            item = one if kind == "identifiers" else 7
            file.write(
                f"203.0.113.7 - {user} [{moment:%d/%b/%Y:%H:%M:%S} +0000] "
                f'"GET /{item}/ HTTP/1.1" 200 9 "-" "{AGENT}"\n'
            )
    command = [sys.executable, "-c", IMPORT, silo_path, str(log), str(number)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=250,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "benchmarks")},
    )  # fmt: skip
    assert float(done.stdout) < most
