"""Records are found by their findings."""

from pathlib import Path

from recordsilo import Silo
from recordsilo.index import PageRequest, SearchFilters

GOOD = "<dc><title>Tides</title><creator>A</creator><date>1999</date><type>Article</type></dc>"


def codes(silo: Silo) -> dict[str, int]:
    facet = silo.search(facets=["finding"], page=PageRequest(limit=1)).facets["finding"]
    return {one.value: one.count for one in facet}


def test_findings_are_counted_and_lead_to_the_records(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "silo"), uri_base="http://x.org/") as silo:
        silo.get_item("good").put_stream("oai_dc", GOOD, None, True)
        silo.get_item("undated").put_stream("oai_dc", GOOD.replace("1999", "soon"), None, True)
        silo.get_item("bare").put_stream("note.txt", "no metadata")
        assert codes(silo) == {"Q202": 1}
        found = silo.search(filters=SearchFilters(values={"finding": ["Q202"]}))
        assert [row.identifier for row in found.rows] == ["undated"]
        record = silo["good"]
        record.metadata["duplicate_of"] = "undated"
        record.sync()
        assert codes(silo) == {"Q202": 1, "Q901": 1}
