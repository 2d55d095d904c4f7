"""What starting a command loads: each module that it does not need costs every call some time."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from recordsilo.cli import main
try:
    main()
except SystemExit:
    print(*sys.modules)
"""
OF_PAGES = {"cherrypy", "cheroot", "mako", "webui.app", "webui.serving", "webui.demo_command"}
OF_HTTP = {"requests", "urllib3", "http.client"}
OF_WARC = {"warcio", "fsspec"}
OF_ARRAYS = {"numpy", "duckdb", "_duckdb"}
"""Each takes 25 ms to 0.2 s to load."""


@pytest.mark.parametrize(
    ("command", "spared"),
    [
        ("ls", OF_HTTP | OF_WARC | OF_PAGES | OF_ARRAYS | {"regex", "recordsilo.overview"}),
        ("rules", OF_HTTP | OF_WARC | OF_PAGES | OF_ARRAYS),
        ("harvest", OF_WARC | OF_PAGES | OF_ARRAYS | {"regex", "rich", "requests"}),
        ("update", OF_WARC | OF_PAGES | OF_ARRAYS | {"regex", "rich", "requests"}),
        ("serve", OF_HTTP | OF_WARC | OF_PAGES | OF_ARRAYS | {"regex", "silocrawl"}),
        ("jobs", OF_HTTP | OF_WARC | OF_PAGES | OF_ARRAYS),
        ("usage import", OF_HTTP | OF_WARC | OF_PAGES | OF_ARRAYS),
    ],
)
def test_a_command_loads_nothing_of_others_at_its_start(command, spared):
    started = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command.split(), "--help"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    help_text, loaded = started.stdout.rsplit("\n", 2)[:2]
    assert "Usage: silo" in help_text
    assert "recordsilo.cli" in loaded.split()
    assert sorted(spared & set(loaded.split())) == []
