"""The examples in the docstrings of the main classes do what they say."""

import doctest
import os
from collections.abc import Iterator

import pytest

from recordsilo import HarvestedRecord, Silo


@pytest.fixture
def silo(tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Silo]:
    monkeypatch.chdir(tmp_path)
    with Silo("given") as silo:
        yield silo


@pytest.mark.parametrize("documented", [HarvestedRecord])
def test_the_example_in_a_docstring_runs(documented: type, silo: Silo) -> None:
    (example,) = [
        found for found in doctest.DocTestFinder(recurse=False).find(documented) if found.examples
    ]
    example.globs = {"silo": silo}
    assert doctest.DocTestRunner().run(example).failed == 0


def test_a_record_is_one_class_that_says_first_what_it_is() -> None:
    assert HarvestedRecord.__mro__ == (HarvestedRecord, object)
    assert (HarvestedRecord.__doc__ or "").startswith("A record of a Silo")
