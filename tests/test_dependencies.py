"""Every dependency has bounds, and the lock file for deployments keeps to them."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
TABLES = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = TABLES["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
DEPLOYED = ("amqp", "crawl", "fleet", "kafka", "rdf", "s3", "usage")
"""Extras whose dependencies are locked, too."""


def requirements(*lists: list[str]) -> list[Requirement]:
    """The dependencies in some lists but the project itself with other extras."""
    found = [Requirement(text) for texts in lists for text in texts]
    return [one for one in found if one.name != PROJECT["name"]]


ALL = requirements(PROJECT["dependencies"], TABLES["build-system"]["requires"], *EXTRAS.values())
LOCKED_ONES = requirements(PROJECT["dependencies"], *(EXTRAS[name] for name in DEPLOYED))


def locked() -> dict[str, list[tuple[str, int]]]:
    """Name → versions, one for each marker, with how many hashes each has."""
    found: dict[str, list[tuple[str, int]]] = {}
    text = (ROOT / "requirements.lock").read_text()
    for name, version, rest in re.findall(r"^(\S+)==(\S+)((?:.*\\\n)*.*)", text, re.MULTILINE):
        hashes = len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", rest))
        found.setdefault(canonicalize_name(name), []).append((version, hashes))
    return found


@pytest.mark.parametrize("dependency", ALL, ids=str)
def test_each_dependency_has_a_lower_and_an_upper_bound(dependency: Requirement) -> None:
    operators = {one.operator for one in dependency.specifier}
    assert operators == {"=="} or {">=", "<"} <= operators


@pytest.mark.parametrize("dependency", LOCKED_ONES, ids=str)
def test_each_dependency_is_locked_within_its_bounds(dependency: Requirement) -> None:
    versions = [version for version, _ in locked()[canonicalize_name(dependency.name)]]
    assert versions
    assert all(version in dependency.specifier for version in versions)


def test_each_locked_version_has_hashes() -> None:
    found = locked()
    assert len(found) > len(LOCKED_ONES)
    assert all(hashes for versions in found.values() for _, hashes in versions)


def test_what_listens_is_named() -> None:
    assert "cheroot" in {one.name for one in ALL}
