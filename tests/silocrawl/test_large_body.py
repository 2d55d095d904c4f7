"""A body of 10 GB is cut at the limit, and needs little memory."""

import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from crawl_records import put_record
from site_of_traps import Reply, Site

from recordsilo import Silo

MOST_MEMORY, SENT = 150_000_000, 10_000_000_000
CRAWL = """
import sys
from dataclasses import replace
from datetime import UTC, datetime
from recordsilo import Silo
from silocrawl.paths import queues_file
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.targets import CrawlTarget, add_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

path, limit = sys.argv[1], int(sys.argv[2])
settings = CrawlSettings(4, 0.0, is_private=True, pauses=())
settings = replace(settings, http=replace(settings.http, max_response=limit))
now = datetime.now(UTC).replace(microsecond=0)
with Silo(path, create=False) as silo:
    add_target(path, CrawlTarget("t", Timetable(once=now), made=now))
    with SqliteQueues(queues_file(path)) as queues:
        done = CrawlWorker(silo, queues, settings).run(Stop(), until_idle=True)
with open("/proc/self/status") as file:  # not ru_maxrss, which begins with the parent's
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(done.bytes, peak * 1024)
"""


def zeros(handler: BaseHTTPRequestHandler) -> None:
    piece = bytes(1_000_000)
    for _ in range(SENT // len(piece)):
        handler.wfile.write(piece)


@pytest.mark.long
@pytest.mark.parametrize(
    "limit", [100_000_000, pytest.param(1_000_000_000, marks=pytest.mark.slow)]
)
def test_a_body_of_10_gb_is_cut_in_little_memory(silo: Silo, site: Site, limit: int) -> None:
    headers = {"Content-Type": "text/html", "Content-Length": str(SENT)}
    site.pages["/large"] = Reply(200, zeros, headers)
    put_record(silo, "7", f"{site.url}/large")
    Path(silo.path, "crawling").mkdir()
    command = [sys.executable, "-c", CRAWL, silo.path, str(limit)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=1_800)
    received, memory = map(int, done.stdout.split())
    assert received == limit
    assert memory <= MOST_MEMORY
    (log,) = Path(silo.path, "crawling", "logs").glob("*.log")
    assert "lenTrunc" in log.read_text()
