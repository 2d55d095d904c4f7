"""The install without extras stays small: what it requires, and what its modules import."""

from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rdf_checks import RunPython

import recordsilo
from recordsilo.distribution import NAME

MOST_DISTRIBUTIONS = 40
OF_EXTRAS = (
    "numpy",
    "rdflib",
    "rapidfuzz",
    "duckdb",
    "redis",
    "celery",
    "fsspec",
    "pypdfium2",
    "pika",
)


def requirements_of(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    for line in distribution(name).requires or ():
        one = Requirement(line)
        asked = [{"extra": extra} for extra in ("", *extras)]
        if one.marker is None or any(map(one.marker.evaluate, asked)):
            yield one


def base() -> set[str]:
    """The distribution and all that it requires without an extra."""
    found: set[str] = set()
    waiting = [(canonicalize_name(NAME), frozenset[str]())]
    while waiting:
        name, extras = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [
                (canonicalize_name(one.name), frozenset(one.extras))
                for one in requirements_of(name, extras)
            ]
    return found


def test_the_base_has_few_distributions() -> None:
    found = base()
    assert len(found) <= MOST_DISTRIBUTIONS, sorted(found)
    assert not found & {*OF_EXTRAS, "pydantic", "typer"}


@pytest.mark.long
def test_what_packages_contribute_loads_without_the_packages_of_extras(
    run_python: RunPython,
) -> None:
    done = run_python(
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({OF_EXTRAS!r}))  # importing one of them fails\n"
        "from importlib.metadata import distribution\n"
        f"for point in distribution({NAME!r}).entry_points: point.load()\n",
    )
    assert done.returncode == 0, done.stderr


def test_help_and_version_load_no_store(run_python: RunPython) -> None:
    done = run_python(
        "import sys\n"
        "from recordsilo.cli import main\n"
        "sys.argv = ['silo', '--help']\n"
        "try: main()\n"
        "except SystemExit: print({'recordsilo.silo', 'lxml', 'numpy', 'rich'} & set(sys.modules))"
    )
    assert done.stdout.endswith("set()\n")


def test_every_public_name_is_found_in_its_module() -> None:
    for name in (*recordsilo.__all__, "open", "__version__"):
        assert getattr(recordsilo, name)
    assert {*recordsilo.__all__, "open", "__version__"} <= set(dir(recordsilo))
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        getattr(recordsilo, "nope")  # noqa: B009


def test_usage_says_what_to_install(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python(
        "import sys\n"
        "sys.modules['numpy'] = None\n"
        "from recordsilo import Silo\n"
        "from recordsilo.cli import main\n"
        "Silo(sys.argv[1]).close()\n"
        "sys.argv = ['silo', 'usage', 'import', sys.argv[1], '-']\n"
        "main()\n",
        str(tmp_path / "silo"),
    )
    assert done.returncode == 2
    assert "needs the package numpy; install it: " in done.stderr
