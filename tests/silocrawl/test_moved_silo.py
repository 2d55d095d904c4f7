"""What a crawl knows is not written where a Silo was."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import SiloGone
from silocrawl.cdxj import Segments
from silocrawl.packages.building import zip_files
from silocrawl.packages.values import LogRange
from silocrawl.places import merge_places

USES: dict[str, Callable[[str], object]] = {
    "index": lambda silo: Segments(f"{silo}/crawling/index", silo).add(["com,example)/ 1 {}\n"]),
    "places": lambda silo: merge_places(
        f"{silo}/crawling/places.tsv", {"a.warc.gz": ["/srv/a.warc.gz"]}, silo
    ),
    "logs": lambda silo: zip_files(f"{silo}/crawling/logs.zip", [LogRange("a", __file__)], silo),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_nothing_is_written_where_a_silo_was(tmp_path: Path, use: Callable[[str], object]) -> None:
    silo = tmp_path / "silo"
    with pytest.raises(SiloGone):
        use(str(silo))
    assert os.listdir(tmp_path) == []
    silo.mkdir()
    use(str(silo))
    assert [one for one in (silo / "crawling").rglob("*") if one.is_file()]
