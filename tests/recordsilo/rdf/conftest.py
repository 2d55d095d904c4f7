"""A Silo with RDF, and a record with two files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recordsilo import RDFRecord, RDFSilo


@pytest.fixture
def rdf_silo(tmp_path: Path) -> Iterator[RDFSilo]:
    with RDFSilo(str(tmp_path / "silo")) as opened:
        yield opened


@pytest.fixture
def record(rdf_silo: RDFSilo) -> RDFRecord:
    found = rdf_silo.get_item("oai:x:1")
    found.put_stream("a.txt", "a")
    found.put_stream("docs/b.txt", "b")
    return found
