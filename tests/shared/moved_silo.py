"""Check that nothing is written where a Silo was and is no longer."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo.errors import SiloGone


def check_written_within(tmp_path: Path, use: Callable[[str], object], place: str = "") -> None:
    """Check that a use writes below a Silo that is there, and is refused where there is none.

    Args:
        tmp_path: An empty directory.
        use: Gets the directory of the Silo.
        place: Below the Silo, where a file is to be.
    """
    silo = tmp_path / "silo"
    with pytest.raises(SiloGone):
        use(str(silo))
    assert os.listdir(tmp_path) == []
    silo.mkdir()
    use(str(silo))
    assert [one for one in (silo / place).rglob("*") if one.is_file()]
