"""The sessions of the pages on Fedora, executed against a real one."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fedora_support import Fedora

from oaipmhprovider.server import SampleServer

PAGES = [
    Path(__file__).parents[3] / "docs" / f"{name}.md"
    for name in ("fedora", "fedora-objects", "fedora-crosswalks")
]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```toml\n# (mine\.toml\n.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRESS = re.compile(r"^[^\n]*: [\d,]+ of [\d,]+ records[^\n]*\n", re.MULTILINE)


def test_the_guide_does_what_it_says(
    real: Fedora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with SampleServer(port=0) as source:
        text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
        text = text.replace("http://127.0.0.1:8081/cgi/oai2", source.base_url)
        text = text.replace("http://127.0.0.1:8080/rest/eprints", real.container())
        for file in FILE.findall(text):
            name, content = file.split("\n", 1)
            (tmp_path / name).write_text(f"# {name}\n{content}", encoding="utf-8")
        blocks = BLOCK.findall(text)
        assert len(blocks) == 8
        for block in blocks:
            for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                run(*example.split("\n", 1), tmp_path)


def run(command: str, expected: str, directory: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    found = PROGRESS.sub("", done.stdout)
    assert doctest.OutputChecker().check_output(expected, found, FLAGS), f"$ {command}\n{found}"
