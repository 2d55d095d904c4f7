"""pywb over the archives: how it is found, started and ended; with a stand-in for it."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from waiting import wait_until

from recordsilo import Silo

SILO = [sys.executable, "-c", "from recordsilo.cli import main; main()", "crawl", "replay"]
STAND_IN = f"""#!{sys.executable}
import functools, http.server, sys
assert sys.argv[1] == "-p" and sys.argv[3:] == ["-b", "127.0.0.1"]
http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[2]), bind="127.0.0.1")
"""


def stand_in(tmp_path: Path, text: str = STAND_IN) -> str:
    path = tmp_path / "wayback"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def is_gone(url: str) -> bool:
    try:
        requests.get(url, timeout=60)
    except requests.ConnectionError:
        return True
    return False


@pytest.mark.long
@pytest.mark.parametrize("is_killed", [False, True])
def test_it_replays_the_silo_and_ends_with_the_command(
    silo: Silo, tmp_path: Path, is_killed: bool
) -> None:
    command = [*SILO, silo.path, "--pywb", stand_in(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[3]
            told = requests.get(url.replace("/own/", "/config.yaml"), timeout=60).text
        finally:
            (process.kill if is_killed else process.terminate)()
        assert process.wait(60) == (-9 if is_killed else 0)
    own = json.loads(told)["collections"]["own"]
    assert own == {
        "index_paths": f"{silo.path}/crawling/index",
        "archive_paths": f"{silo.path}/crawling/warcs/",
    }
    wait_until(lambda: is_gone(url))


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "said"),
    [("", "pip install pywb"), ("#!/bin/sh\necho broken; exit 3\n", "it says: broken")],
)
def test_without_a_pywb_that_starts_it_says_what_to_do(
    silo: Silo, tmp_path: Path, text: str, said: str
) -> None:
    program = stand_in(tmp_path, text) if text else str(tmp_path / "nowhere")
    command = [*SILO, silo.path, "--pywb", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_of_another_program_is_named_and_nothing_is_started(
    silo: Silo, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [*SILO, silo.path, "--pywb", stand_in(tmp_path), "--port", port]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"port {port} of 127.0.0.1 is taken by another program" in done.stderr
