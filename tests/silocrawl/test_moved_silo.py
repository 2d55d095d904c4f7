"""What a crawl knows is not written where a Silo was."""

from collections.abc import Callable
from pathlib import Path

import pytest
from moved_silo import check_written_within

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
    check_written_within(tmp_path, use, "crawling")
