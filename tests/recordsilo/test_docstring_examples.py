"""The examples in the docstrings of the main classes do what they say."""

import dataclasses
import doctest
import os
import re
import subprocess
import sys
import typing
from collections.abc import Iterator

import pytest

import recordsilo
from recordsilo import Filters, HarvestedRecord, SearchFilters, Silo


@pytest.fixture
def silo(tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Silo]:
    monkeypatch.chdir(tmp_path)
    with Silo("given") as silo:
        yield silo


@pytest.mark.parametrize("documented", [HarvestedRecord, Silo])
def test_the_example_in_a_docstring_runs(documented: type, silo: Silo) -> None:
    (example,) = [
        found for found in doctest.DocTestFinder(recurse=False).find(documented) if found.examples
    ]
    example.globs = {
        "silo": silo,
        **{name: getattr(recordsilo, name) for name in recordsilo.__all__},
    }
    assert doctest.DocTestRunner().run(example).failed == 0


def test_a_record_says_first_what_it_is() -> None:
    assert (HarvestedRecord.__doc__ or "").startswith("A record of a Silo")


@pytest.mark.parametrize("filters", [Filters, SearchFilters])
def test_filters_say_what_each_of_their_fields_is(filters: type) -> None:
    described = (filters.__doc__ or "").partition("Attributes:")[2]
    for field in dataclasses.fields(filters):
        assert f"        {field.name}: " in described


def test_search_takes_returns_and_raises_what_the_package_exports() -> None:
    ours = set()
    for hint in typing.get_type_hints(Silo.search).values():
        for one in (hint, *typing.get_args(hint)):
            if getattr(one, "__module__", "").startswith("recordsilo"):
                ours.add(one.__name__)
    assert {"SearchFilters", "PageRequest", "SearchResult"} <= ours
    raised = (Silo.search.__doc__ or "").partition("Raises:")[2].partition("Cost:")[0]
    assert {*ours, *re.findall(r"(\w+): ", raised)} <= set(recordsilo.__all__)


def test_the_package_is_imported_without_what_few_need() -> None:
    heavy = ["numpy", "langcodes", "rdflib", "importlib.metadata", "multiprocessing"]
    script = (
        "import sys; before = set(sys.modules); import recordsilo; "
        f"print(*({set(heavy)} & (set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
