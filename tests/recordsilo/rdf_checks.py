"""What the tests of RDF compare: statements on disk, the aggregation, the files."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from rdflib import RDF, XSD, BNode, Graph, Literal, URIRef

from recordsilo import RDFRecord, RDFSilo

ORE = "http://www.openarchives.org/ore/terms/aggregates"
DC_TITLE = URIRef("http://purl.org/dc/elements/1.1/title")
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


RDF_OF_2010 = b"""<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF
   xmlns:dc="http://purl.org/dc/elements/1.1/"
   xmlns:ore="http://www.openarchives.org/ore/terms/"
   xmlns:oxds="http://vocab.ox.ac.uk/dataset/schema#"
   xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
>
  <rdf:Description rdf:about="info:1">
    <ore:aggregates rdf:resource="info:1/a file.txt"/>
    <ore:aggregates rdf:resource="info:1/deleted from another version.txt"/>
    <ore:aggregates>info:1/as text.txt</ore:aggregates>
    <dc:title>A title</dc:title>
    <oxds:isEmbargoed>True</oxds:isEmbargoed>
  </rdf:Description>
  <rdf:Description rdf:about="info:1/a file.txt">
    <dc:title>About a file</dc:title>
  </rdf:Description>
</rdf:RDF>

"""


def content(record: RDFRecord, path: str = "manifest.rdf", version: str | None = None) -> bytes:
    with record.get_stream(path, version) as file:
        return file.read()


def stored(record: RDFRecord, version: str | None = None) -> Graph:
    """The statements on disk, read by rdflib alone."""
    file = record.rdf_file
    return Graph().parse(data=content(record, file.name, version), format=file.format)


def aggregated(graph: Graph, record: RDFRecord) -> set[str]:
    return {str(node) for node in graph.objects(URIRef(record.uri), URIRef(ORE))}


def expected(record: RDFRecord, version: str | None = None) -> set[str]:
    name = record.rdf_file.name
    encoded = [re.sub(r"[ %#?]", lambda c: quote(c[0]), p) for p in record.paths(version)]
    return {f"{record.uri}/{path}" for path in encoded if path != name}


def assert_in_step(path: str, identifier: str = "oai:x:1") -> None:
    """Each version made by people aggregates its files, on disk and as shown, no more, no less."""
    with RDFSilo(path, create=False) as silo:
        record = silo[identifier]
        for version in record.versions:
            files = expected(record, version)
            if record.rdf_file.name in record.paths(version):
                assert aggregated(stored(record, version), record) == files, version
            else:
                assert not files, version
            shown = record.load_rdf_manifest(version).get_graph()
            assert aggregated(shown, record) == files, version
            assert sorted(record.paths(version)) == sorted(files_on_disk(record, version))


def files_on_disk(record: RDFRecord, version: str) -> list[str]:
    top = record.to_dirpath(version=version)
    return [
        os.path.relpath(os.path.join(directory, name), top)
        for directory, _, names in os.walk(top)
        for name in names
        if name[:2] not in {"3=", "4="}
    ]


def overwrite(silo: RDFSilo, text: str | bytes) -> None:
    """Write a version's RDF behind the library's back."""
    Path(silo["oai:x:1"].to_dirpath("manifest.rdf")).write_bytes(
        text if isinstance(text, bytes) else text.encode()
    )


def fill(record: RDFRecord) -> None:
    node = BNode()
    record.add_triple(record.uri, "dc:title", "Ein Titel\r\nmit <Zeilen> & 'so' \U0001f600")
    record.add_triple(record.uri, "dc:title", Literal("Un titre", lang="fr"))
    record.add_triple(record.uri, "dcterms:extent", Literal(12))
    record.add_triple(record.uri, "dcterms:issued", Literal("2004-06-24", datatype=XSD.date))
    record.add_triple(record.uri, "dc:creator", node)
    record.add_triple(node, "foaf:name", "Grüße")
    record.add_triple(node, RDF.type, "foaf:Person")
