"""The pages on the architecture agree with the folders and with who imports whom."""

import ast
import re
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PICTURE = "".join(
    page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("architecture*.md"))
)
TABLE = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", PICTURE, flags=re.MULTILINE))
TREES = dict(re.findall(r"```\n(\w+)/\n(.*?)```", PICTURE, flags=re.DOTALL))
PACKAGES = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}


def test_the_table_lists_every_package() -> None:
    assert set(TABLE) == PACKAGES


@pytest.mark.parametrize("package", sorted(PACKAGES - {"webui"}))
def test_a_package_imports_only_what_the_table_says(package: str) -> None:
    graph = grimp.build_graph(*sorted(PACKAGES))
    imported = {
        target.partition(".")[0]
        for module in graph.find_descendants(package) | {package}
        for target in graph.find_modules_directly_imported_by(module)
    }
    assert imported - {package} == set(re.findall(r"`(\w+)`", TABLE[package]))


@pytest.mark.parametrize("package", sorted(TREES))
def test_what_a_tree_names_exists(package: str) -> None:
    for line in TREES[package].splitlines():
        names = re.split(r"\s{2,}", line.strip())[0] if line[:12].strip() else ""
        for name in re.findall(r"\S+(?:\.py|/)(?=\s|$)", names):
            pattern = name.rstrip("/")
            assert any((ROOT / package).rglob(pattern)), f"{package}/{name}: {line}"


def test_each_step_from_a_run_to_its_end_exists() -> None:
    steps = re.findall(r"^(\w+/\S+\.py) +([\w.]+)", PICTURE, re.MULTILINE)
    assert len(steps) > 10
    for path, name in steps:
        source = (ROOT / path).read_text(encoding="utf-8")
        for part in name.split("."):
            assert re.search(rf"^ *(?:def|class) {part}\b", source, re.MULTILINE), f"{path}: {name}"


def test_no_table_of_a_lower_floor_names_a_sibling() -> None:
    siblings = PACKAGES - {
        "recordsilo", "silowork", "silosteps", "oaipmhprotocol", "politeweb", "infopackages",
    }  # fmt: skip
    named = re.compile(rf"(?:{'|'.join(siblings)})[.:]")
    found = {
        node.value
        for package in ("recordsilo", "silowork", "silosteps")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and named.match(node.value)
    }
    assert found == {"webui.panels"}  # the name of a group of entry points


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_every_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()
