"""A Silo without records, whose addresses are those of EPrints."""

from collections.abc import Callable
from pathlib import Path

import pytest
from usage_silo import make_silo


@pytest.fixture
def silo_path(tmp_path: Path) -> str:
    return make_silo(tmp_path / "silo")


@pytest.fixture
def new_silo(tmp_path: Path) -> Callable[[str], str]:
    """Make further Silos, with these settings."""
    made: list[str] = []

    def make(settings: str = "") -> str:
        made.append(make_silo(tmp_path / f"silo{len(made)}", settings))
        return made[-1]

    return make
