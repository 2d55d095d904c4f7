"""Without an extra, a sentence has the command that installs it."""

import shlex
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

from recordsilo import __version__, distribution, extras
from recordsilo.extras import PackageMissing, install_line, needed, requirement

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
DECLARED = (
    "click<9,>=8.1",
    'isal<2,>=1.7; platform_machine in "x86_64 arm64"',
    'counter-robots<2026,>=2025.11; extra == "usage"',
    'celery[redis]<6,>=5.5; extra == "fleet"',
)


def test_a_package_is_named_with_its_versions() -> None:
    assert requirement(DECLARED, "isal") == "isal<2,>=1.7"
    assert requirement(DECLARED, "celery") == "celery[redis]<6,>=5.5"
    assert requirement(DECLARED, "counter") == "counter"


@pytest.mark.parametrize("extra", ["crawl", "fleet", "kafka", "s3", "usage"])
def test_the_line_of_an_extra_names_it_for_the_pip_of_this_python(extra: str) -> None:
    wanted = f"silo-records[{extra}]"
    assert shlex.split(install_line("x", extra)) == [sys.executable, "-m", "pip", "install", wanted]
    assert extra in metadata("silo-records").get_all("Provides-Extra", ())


def test_where_there_is_no_pip_the_line_is_for_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    assert shlex.split(install_line("duckdb", "usage")) == [
        "uv", "pip", "install", "--python", sys.executable, "silo-records[usage]",
    ]  # fmt: skip


def test_a_missing_module_is_told_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(PackageMissing) as told:
        needed("confluent_kafka", "silo usage", "kafka")
    assert told.value.package == "confluent-kafka"
    assert str(told.value) == (
        "silo usage needs the package confluent-kafka; install it: "
        + install_line("confluent-kafka", "kafka")
    )


def test_code_that_is_not_installed_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        raise PackageNotFoundError("silo-records")

    monkeypatch.setattr(extras.metadata, "requires", missing)
    assert install_line("duckdb", "usage").endswith(" -m pip install duckdb")


def test_the_names_in_the_code_are_that_of_the_distribution() -> None:
    settings = Path(__file__).parents[2] / "politeweb" / "settings.py"
    assert PROJECT["name"] == distribution.NAME
    assert f'_DISTRIBUTION = "{distribution.NAME}"\n' in settings.read_text()


def test_the_package_has_the_version_that_was_installed() -> None:
    assert __version__ == PROJECT["version"]
