"""A separate package, installed beside the product, extends it in every supported way.

docs/extending.md quotes the package; what it says is the code that runs here.
"""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from recordsilo import Silo

ROOT = Path(__file__).parents[1]
SIBLING = ROOT / "tests" / "sibling"
PROGRAM = "from recordsilo.cli import main; main()"
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
QUOTE = re.compile(r"`(tests/sibling/[\w/.]+)`:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
QUOTED = QUOTE.findall(PAGE)


def test_the_documentation_quotes_the_package_as_it_is() -> None:
    for path, text in QUOTED:
        assert text == (ROOT / path).read_text(encoding="utf-8"), path
    modules = {path.stem for path in (SIBLING / "example_sibling").glob("*.py")}
    assert modules - {"__init__", "stars"} <= {Path(path).stem for path, _text in QUOTED}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the package is installed, in a directory of its own."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    shutil.copytree(SIBLING, source / "sibling")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*command, *options, str(source / "sibling")], check=True, timeout=120)
    return {**os.environ, "PYTHONPATH": str(target)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("silo") / "myrepo")
    with Silo(path) as silo:
        for name in ("a", "b", "c"):
            silo.get_item(name).put_stream("oai_dc", f"<dc><title>{name}</title></dc>", None, True)
    return path


def run(environment: dict[str, str], *arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True, text=True, env=environment, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout


@contextmanager
def served(environment: dict[str, str], path: str) -> Iterator[str]:
    command = [sys.executable, "-c", PROGRAM, "serve", path, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found
        yield found[0]
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.long
def test_the_package_extends_silo_in_every_way(environment: dict[str, str], path: str) -> None:
    # a command
    run(environment, "star", path, "a", "5")
    # a queue with two steps; what was done is not done again
    for number in ("1", "3"):
        run(environment, "star-many", path, number, "b", "z", "c", code=1)
    stars = Path(path, "curation", "stars.json")
    assert json.loads(stars.read_bytes()) == {"a": 5, "b": 1, "c": 1}
    # a target with a schedule
    stars.write_text('{"a": 5}')
    target = Path(path, "curation", "star-targets", "papers.toml")
    target.parent.mkdir()
    target.write_text('stars = 4\n[select]\nidentifiers = ["b"]\n[when]\nevery = "7d"\n')
    for _ in range(2):
        run(environment, "star-due", path, code=1)  # z is still refused
        assert json.loads(stars.read_bytes()) == {"a": 5, "b": 4}
        stars.write_text('{"a": 5}')
        with closing(sqlite3.connect(f"{path}/curation/stars.sqlite")) as queues, queues:
            run(environment, "star-due", path, code=1)  # nothing is due
            assert json.loads(stars.read_bytes()) == {"a": 5}
            queues.execute("UPDATE mark SET reached = '2026-01-01T00:00:00+00:00'")
    # a job, a panel and a form of the page
    with served(environment, path) as address:
        body = json.dumps({"kind": "star-all", "number": "2"}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        request = urllib.request.Request(f"{address}/jobs", body, headers)
        with urllib.request.urlopen(request) as answer:
            job = json.load(answer)["job"]
        end = time.monotonic() + 60
        while fetched(f"{address}/jobs/{job}")["state"] != "done":
            assert time.monotonic() < end
            time.sleep(0.2)
        with urllib.request.urlopen(f"{address}/records/a") as answer:
            page = answer.read().decode()
        assert '<h2 id="panel-stars">Stars</h2>' in page
        assert "★★★★★" in page
        assert "Records by stars" in page
        # a page with an entry in the menu
        listed = fetched(f"{address}/stars")["table"]["rows"]
        assert [name["text"] for name, _stars in listed] == ["a", "b", "c"]
        with urllib.request.urlopen(f"{address}/stars") as answer:
            assert '<a href="/stars" aria-current="page">Stars</a>' in answer.read().decode()
        forms = {one["heading"]: one["url"] for one in fetched(f"{address}/jobs/new")["forms"]}
        for heading, name in (("Export a list of stars", "least"), ("Give stars to all", "number")):
            with urllib.request.urlopen(address + forms[heading]) as answer:
                assert f'name="{name}"' in answer.read().decode()
    # a facet, an order, a column
    assert run(environment, "search", path, "--filter", "stars=5").startswith("a\t")
    found = run(environment, "search", path, "--sort", "-stars", "--facet", "stars")
    assert [line.split("\t")[0] for line in found.splitlines()[:3]] == ["a", "b", "c"]
    assert re.search(r"2  2\n +1  5$", found)
    table = run(environment, "export", "csv", path, "-", "--field", "record", "--field", "stars")
    assert list(csv.reader(io.StringIO(table.lstrip("\ufeff"))))[1] == ["a", "5"]
    # an export
    assert run(environment, "export", "star-list", path, "-", "--least", "4") == "a\n"
    # what follows from a removal
    run(environment, "rm", path, "c", "--yes")
    assert json.loads(stars.read_bytes()).keys() == {"a", "b"}
    # a check of the audit
    stars.write_text(json.dumps({"a": 5, "c": 2}))
    finding = json.loads(run(environment, "check", path, "--json", code=1).splitlines()[0])
    assert (finding["code"], finding["identifier"]) == ("X001", "c")
    run(environment, "check", path, "--without", "stars")


def fetched(url: str) -> dict[str, object]:
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    with urllib.request.urlopen(request) as answer:
        found: dict[str, object] = json.load(answer)
    return found
