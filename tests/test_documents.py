"""The sessions in the README and the documents are executed; their output must match.

A ```python block is a session at the prompt, a ```console block one at the shell; all
blocks of a page share one directory and one Python process. `...` in the expected
output stands for anything, as in doctest. Other blocks (```sh) are not executed.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from ports import free_port

from oaipmhprovider.server import SampleServer
from recordsilo.cli import silo_command

ROOT = Path(__file__).parents[1]
ADDRESS = "http://127.0.0.1:8081/cgi/oai2"
PAGES = [
    "docs/shell.md",
    "docs/backup.md",
    "docs/copy-and-merge.md",
    "docs/history.md",
    "docs/tutorial.md",
    "docs/python.md",
    "docs/export.md",
    "docs/export-archives.md",
    "docs/export-repositories.md",
    "docs/export-tables.md",
    "docs/export-deposits.md",
    "docs/import.md",
    "docs/crawling.md",
    "docs/providing.md",
    *(f"docs/{page.name}" for page in sorted(ROOT.glob("docs/cookbook-*.md"))),
]
"""With sessions that take longer than those of README.md."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
READ_IN_A_MINUTE = 230
"""Words, outside of sessions and of the marks of tables."""
MINUTES = 6
PROGRESS = re.compile(
    r"^[^\n]*: [\d,]+ of [\d,]+(?: records[^\n]*)?\n|^endpoints run: [\d,]+\n", re.MULTILINE
)
"""A line now and then on stderr: how many come depends on the machine."""


@pytest.fixture(scope="module")
def repository() -> Iterator[str]:
    with SampleServer(port=0) as server:
        yield server.base_url


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    binaries = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{binaries}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return tmp_path


@pytest.mark.parametrize(
    "page",
    ["README.md", *(pytest.param(page, marks=pytest.mark.long) for page in PAGES)],
)
def test_sessions_print_what_the_page_says(page: str, repository: str, directory: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8").replace(ADDRESS, repository)
    text = text.replace("127.0.0.1:8082", f"127.0.0.1:{(port := free_port())}")
    text = text.replace("silo provide ", f"silo provide --port {port} ")
    blocks = BLOCK.findall(text)
    assert blocks
    names: dict[str, Any] = {"__name__": "__main__"}
    with ExitStack() as servers:
        for kind, block in blocks:
            if kind == "python":
                run_python(block, page, names)
            else:
                run_console(block, servers)
    silo = names.get("s")
    if silo is not None:
        silo.close()


def run_python(block: str, page: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
    test.globs = names
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=output.append, clear_globs=False)
    assert not output, "".join(output)


def run_console(block: str, servers: ExitStack) -> None:
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        if command.endswith(" &"):
            assert servers.enter_context(started(command.removesuffix(" &"))) == expected
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        found = PROGRESS.sub("", done.stdout)
        if not doctest.OutputChecker().check_output(expected, found, FLAGS):
            pytest.fail(f"$ {command}\nexpected:\n{expected}\nfound:\n{found}")


@contextmanager
def started(command: str) -> Iterator[str]:
    """Run a server until the end of the page; gives the first line that it prints."""
    with subprocess.Popen(command.split(), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline()
        finally:
            server.terminate()


def test_every_command_of_silo_is_in_the_tour() -> None:
    tour = (ROOT / "docs" / "shell.md").read_text(encoding="utf-8")
    names = silo_command.list_commands(
        silo_command.make_context("silo", [], resilient_parsing=True)
    )
    missing = [name for name in names if f"silo {name}" not in tour]
    assert not missing


def prose_of(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def words_of(page: Path) -> int:
    prose = re.sub(r"\]\([^)]*\)", "]", prose_of(page))
    return len(re.findall(r"[^\s|]*\w[^\s|]*", prose))


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.stem)
def test_a_page_is_read_in_six_minutes(page: Path) -> None:
    words = words_of(page)
    assert words <= MINUTES * READ_IN_A_MINUTE, f"{words} words"


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    text = prose_of(page)
    headings = (
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    )
    return {*headings, *re.findall(r'<a id="([^"]+)"', text)}


def test_links_between_pages_lead_somewhere() -> None:
    lost = []
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists() or (anchor and anchor not in anchors_of(target)):
                lost.append(f"{page.relative_to(ROOT)}: {link}")
    assert not lost


def test_the_cookbook_lists_every_recipe() -> None:
    listed = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
    for page in sorted(ROOT.glob("docs/cookbook-*.md")):
        for recipe in re.findall(r"^## (.*)$", prose_of(page), re.MULTILINE):
            assert re.search(rf"^\* \[{re.escape(recipe)}\]\({page.name}#", listed, re.MULTILINE)
