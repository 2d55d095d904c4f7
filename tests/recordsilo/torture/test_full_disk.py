"""A Silo on a full disk: readable as far as possible, clear messages, no killed process.

On blocks of 1 KiB the memory that SQLite shares beside a write-ahead log cannot grow when
the disk is full, and a process that touches it is killed by SIGBUS.
"""

import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from examples import family
from power_rig import PowerRig, why_not

from oaipmhscraper.lists.journal import Journal
from recordsilo import Silo
from recordsilo.audit import Audit
from siloexport.ledger import Ledger
from webui.app import create_app
from webui.site import SiteSettings

DC = "<dc><title>Gulls</title></dc>"


@pytest.fixture(params=family([1024, 4096], 1))
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PowerRig]:
    if reason := why_not():
        pytest.skip(reason)
    with PowerRig(str(tmp_path), "data=ordered", megabytes=24, block_size=request.param) as mounted:
        yield mounted


def fill_up(path: str) -> None:
    """Take every block that is free."""
    size = 1 << 20
    with open(f"{path}/filler", "wb", buffering=0) as file:
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    with contextlib.suppress(OSError):
        for number in range(100_000):
            Path(f"{path}/filler-{number}").write_bytes(b"x")


def make_room(path: str) -> None:
    for filler in Path(path).glob("filler*"):
        filler.unlink()


def silo_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from recordsilo.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )


def ask(app: Any, method: str, path: str, form: bytes = b"") -> tuple[int, Any]:
    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": "", "REQUEST_URI": path,
        "SCRIPT_NAME": "", "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "127.0.0.1", "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": str(len(form)),
        "HTTP_ACCEPT": "application/json", "wsgi.input": io.BytesIO(form),
        "wsgi.url_scheme": "http", "wsgi.errors": io.StringIO(), "wsgi.version": (1, 0),
        "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
    }  # fmt: skip
    begun: list[str] = []
    body = b"".join(app(environ, lambda status, _headers, _exc=None: begun.append(status)))
    return int(begun[-1][:3]), json.loads(body or b"{}")


@pytest.mark.long
def test_a_full_disk_is_told_and_kills_nobody(rig: PowerRig, tmp_path: Path) -> None:
    path = f"{rig.path}/silo"
    with Silo(path) as silo:
        for number in range(20):
            silo.get_item(f"r:{number}").put_stream("oai_dc", DC, None, True)
    fill_up(rig.path)
    small = os.statvfs(rig.path).f_frsize < 4096
    for command in (["ls"], ["search", "gulls"], ["check"], ["reindex"]):
        done = silo_command(command[0], path, *command[1:])
        assert done.returncode >= 0, (command, done)  # less: killed by a signal
        assert "Traceback" not in done.stderr
        if small and command != ["reindex"]:
            told = "20 found\n" if command[0] == "search" else ""
            assert (done.returncode, done.stderr) == (0, told)
    with Silo(path, create=False) as silo:
        app = create_app(silo, SiteSettings(agent="a.curator"))
        for address in ("/records", "/search", "/records/r+1", "/sets"):
            status, answer = ask(app, "GET", address)
            assert status == 200 or (not small and answer["error"]["code"] == "disk_full")
        status, answer = ask(app, "POST", "/records/r+1/versions", b"name=wc&clone_of=1")
        assert (status, answer["error"]["code"]) == (507, "disk_full")
    make_room(rig.path)
    with Silo(path, create=False) as silo:
        silo["r:1"].clone_version("1", "wc")
        assert silo.search("gulls").total == 20
    assert not list(Audit(path).findings())


def test_ledgers_and_journals_share_no_memory_on_small_blocks(rig: PowerRig) -> None:
    path = f"{rig.path}/silo"
    small = os.statvfs(rig.path).f_frsize < 4096
    with Silo(path) as silo, Journal(path), Ledger.open(path, "key", "a target"):
        silo.get_item("r").put_stream("oai_dc", DC, None, True)
        assert len(list(Path(path).rglob("*-shm"))) == (0 if small else 3)


@pytest.mark.long
def test_a_log_from_another_file_system_is_taken_in(rig: PowerRig, tmp_path: Path) -> None:
    """A Silo that was copied while its index had a write-ahead log, to a disk that is full."""
    path = f"{rig.path}/silo"
    with Silo(path) as silo:
        silo.get_item("r").put_stream("oai_dc", DC, None, True)
    index = f"{path}/.silo/index.sqlite"
    with contextlib.closing(sqlite3.connect(index)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    fill_up(rig.path)
    done = silo_command("check", path)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert silo_command("ls", path).returncode >= 0
