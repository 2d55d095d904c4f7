"""Where a run gets the pace of its host."""

from pathlib import Path

from silofleet.hosts import PaceSpec
from silofleet.redis_hosts import pace_of


def test_a_host_without_interval_needs_no_file(tmp_path: Path) -> None:
    assert pace_of(PaceSpec(0.0, "127.0.0.1:80", str(tmp_path))).reserve() == 0
    assert list(tmp_path.iterdir()) == []
    assert pace_of(PaceSpec(1.0, "h", str(tmp_path))).reserve() == 0
    assert (tmp_path / "hosts.sqlite").exists()
