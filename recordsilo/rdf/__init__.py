"""RDF beside the manifest: RDFSilo, RDFRecord, RDFManifest. Loaded only when used."""

from recordsilo.rdf.manifest import RDFManifest as RDFManifest
from recordsilo.rdf.records import RDFRecord as RDFRecord
from recordsilo.rdf.records import RDFSilo as RDFSilo
