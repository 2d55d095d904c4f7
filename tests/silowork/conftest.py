"""A separate Silo for each test, and a worker that ends with the test."""

from pathlib import Path

import pytest
from jobs_of_a_silo import jobs, silo_path, until, worker

from recordsilo import Silo

__all__ = ["jobs", "silo_path", "until", "worker"]


@pytest.fixture
def empty_silo(tmp_path: Path) -> str:
    """The directory of a Silo without records, which is made faster than ``silo_path``."""
    path = str(tmp_path / "myrepo")
    with Silo(path):
        pass
    return path
