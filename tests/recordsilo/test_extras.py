"""Without an extra, a sentence has a command that installs what it requires."""

import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, metadata

import pytest

from recordsilo import extras
from recordsilo.extras import PackageMissing, install_line, needed, requirements

DECLARED = (
    "click<9,>=8.1",
    'isal<2,>=1.7; platform_machine in "x86_64 arm64"',
    'duckdb<3,>=2; extra == "crawl"',
    'counter-robots<2026,>=2025.11; extra == "usage"',
    'duckdb<3,>=2; extra == "usage"',
    "other>=1; (sys_platform == 'linux') and extra == 'usage'",
    'celery[redis]<6,>=5.5; extra == "usage-2"',
)


def test_an_extra_has_its_own_requirements_without_its_marker() -> None:
    assert requirements(DECLARED, "duckdb", "usage") == [
        "counter-robots<2026,>=2025.11",
        "duckdb<3,>=2",
        "other>=1; (sys_platform == 'linux')",
    ]
    assert requirements(DECLARED, "celery", "usage-2") == ["celery[redis]<6,>=5.5"]


def test_a_package_alone_is_named_once_with_its_versions() -> None:
    assert requirements(DECLARED, "duckdb") == ["duckdb<3,>=2"]
    assert requirements(DECLARED, "celery") == ["celery[redis]<6,>=5.5"]
    assert requirements(DECLARED, "counter") == []


@pytest.mark.parametrize("extra", ["crawl", "fleet", "kafka", "s3", "usage"])
def test_the_line_of_each_extra_runs_pip_with_all_that_was_declared(extra: str) -> None:
    python, *rest = shlex.split(install_line("x", extra))
    assert (python, rest[:3]) == (sys.executable, ["-m", "pip", "install"])
    wanted = [
        one.partition(";")[0].strip()
        for one in metadata("recordsilo").get_all("Requires-Dist", ())
        if f'extra == "{extra}"' in one
    ]
    assert rest[3:] == wanted
    assert not any("recordsilo" in one for one in rest[3:])


def test_a_missing_module_is_told_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(PackageMissing) as told:
        needed("confluent_kafka", "silo usage", "kafka")
    assert told.value.package == "confluent-kafka"
    assert str(told.value) == (
        "silo usage needs the package confluent-kafka; install it: "
        + install_line("confluent-kafka", "kafka")
    )
    assert re.search(r"-m pip install 'confluent-kafka<\d+,>=[\d.]+' ", str(told.value))


def test_code_that_is_not_installed_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        raise PackageNotFoundError("recordsilo")

    monkeypatch.setattr(extras.metadata, "requires", missing)
    assert install_line("duckdb", "usage").endswith(" -m pip install duckdb")
