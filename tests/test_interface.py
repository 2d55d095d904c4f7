"""What people may use is what ``__all__`` of a package names, and it is documented."""

import dataclasses
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import recordsilo
from recordsilo import HarvestedRecord, MetadataDocument, SearchResult, Silo, errors

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = SETTINGS["tool"]["importlinter"]["root_packages"]
IMPORTED = re.compile(r"^(?:>>> )?from ([a-z]+)(\.[\w.]+)? import (.+)$", re.MULTILINE)
pytestmark = pytest.mark.long  # imports all packages
FOR_PEOPLE = (Silo, HarvestedRecord, SearchResult, MetadataDocument)


def is_documented(one: Any) -> bool:
    said = (getattr(one, "__doc__", None) or "").strip()
    made = dataclasses.is_dataclass(one) and said.startswith(f"{one.__name__}(")  # by dataclass
    return bool(said) and not made


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_offers_names_that_exist_and_are_documented(name: str) -> None:
    package: ModuleType = import_module(name)
    assert len(set(package.__all__)) == len(package.__all__)
    for offered in package.__all__:
        found = getattr(package, offered)
        if inspect.isclass(found) or inspect.isroutine(found):
            assert is_documented(found), offered


def own_and_inherited(offered: Any) -> dict[str, Any]:
    """What a class or a module has, also by classes of ours that it comes from."""
    classes = [one for one in reversed(inspect.getmro(offered)) if is_ours(one)]
    return {name: found for one in classes for name, found in vars(one).items()}


def is_ours(found: type) -> bool:
    return found.__module__.partition(".")[0] in PACKAGES


@pytest.mark.parametrize("name", [name for name in PACKAGES if import_module(name).__all__])
def test_what_offered_classes_have_is_documented(name: str) -> None:
    package = import_module(name)
    offered = [getattr(package, one) for one in package.__all__]
    members = [
        (one.__name__, member, getattr(found, "__func__", found))
        for one in filter(inspect.isclass, offered)
        for member, found in own_and_inherited(one).items()
        if not member.startswith("_")
    ]
    said = {member for _, member, value in members if inspect.getdoc(value)}
    assert not [
        f"{of}.{member}"
        for of, member, value in members
        if (inspect.isfunction(value) or isinstance(value, property))
        and member not in said  # what implements a protocol is documented there
    ]


def test_errors_that_methods_raise_can_be_imported() -> None:
    missing = set()
    for offered in FOR_PEOPLE:
        for member in (offered, *(getattr(offered, name) for name in own_and_inherited(offered))):
            raised = (inspect.getdoc(member) or "").partition("Raises:")[2]
            for names in re.findall(r"^ +([A-Z]\w+(?:, [A-Z]\w+)*): ", raised, re.MULTILINE):
                ours = {one for one in names.split(", ") if hasattr(errors, one)}
                missing |= ours - {*recordsilo.__all__}
    assert not missing


def test_the_tab_key_lists_what_people_use(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "silo")) as silo:
        listed = {name for name in dir(silo) if not name.startswith("_")}
        assert {"search", "records", "get_item", "path", "state", "values"} <= listed
        assert not listed & Silo.for_packages
        assert all(hasattr(silo, name) for name in Silo.for_packages)


@pytest.mark.parametrize(
    "page",
    [page for page in sorted(ROOT.glob("docs/*.md")) if page.stem != "extending"]
    + [ROOT / "README.md"],
    ids=lambda page: page.stem,
)
def test_pages_for_people_import_what_is_offered(page: Path) -> None:
    for name, below, names in IMPORTED.findall(page.read_text("utf-8")):
        if name in PACKAGES:
            assert not below, f"{name}{below} is for packages"
            assert set(names.split(", ")) <= {*import_module(name).__all__}
