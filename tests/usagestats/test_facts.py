"""What `silo info` says of the usage."""

from pathlib import Path

import pytest
from made_up import count, make_silo

from recordsilo.facts import facts_of


@pytest.mark.long
def test_the_uses_of_all_records_are_told(tmp_path: Path) -> None:
    path = str(tmp_path / "silo")
    with make_silo(path) as silo:
        assert "usage" not in facts_of(silo)
        count(path, days=3)
        told = facts_of(silo)["usage"]
    (line,) = told.lines
    views = told.data["total_investigations"] - told.data["total_requests"]
    assert line.startswith(f"{views:,} views, {told.data['total_requests']:,} downloads by people,")
    assert line.endswith(f"{told.data['from']} to {told.data['until']}")
    assert told.brief.endswith(" uses")
