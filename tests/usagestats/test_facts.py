"""What `silo info` says of the usage."""

from pathlib import Path

import pytest
from made_up import count, make_silo

from recordsilo.facts import facts_of
from usagestats.commands.totals import _text


def test_one_of_a_kind_is_told_in_the_singular() -> None:
    known: dict[str, str | int] = dict.fromkeys(
        ("total_item_investigations", "unique_item_investigations", "total_item_requests",
         "unique_item_requests", "others", "views_2010", "downloads_2010", "others_2010",
         "visitors"), 1,
    )  # fmt: skip
    texts = {"from": "", "until": "", "access_method": "Regular", "robots_list": ""}
    said = _text({**known, **texts})
    for one in (
        "1  view or download, 1 of them",
        "1  download, 1 of them",
        "1  view\n",
        "1  visitor:",
    ):
        assert one in said
    assert "1  downloads" not in said


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
