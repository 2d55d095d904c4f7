"""The server of pyoai 2.5.0: its tokens are query strings, percent-encoded once already."""

from oaipmh import common, error, metadata, server
from serving import FORMAT, NUMBERS, datestamp, identifier, serve_answers, title, within


class Source:
    """The interface that pyoai calls IOAI."""

    def identify(self):
        return common.Identify(
            "pyoai", "http://real.example/oai", "2.0", ["admin@real.example"], datestamp(1), "no",
            "YYYY-MM-DDThh:mm:ssZ", ["identity"], toolkit_description=False,
        )  # fmt: skip

    def listMetadataFormats(self, identifier=None):
        return [FORMAT]

    def listSets(self):
        raise error.NoSetHierarchyError("none")

    def listIdentifiers(self, metadataPrefix, set=None, from_=None, until=None):
        return [one[0] for one in self.listRecords(metadataPrefix, set, from_, until)]

    def listRecords(self, metadataPrefix, set=None, from_=None, until=None):
        return [self._record(number) for number in within(from_, until)]

    def getRecord(self, metadataPrefix, identifier):
        found = [n for n in NUMBERS if _identifier(n) == identifier]
        if not found:
            raise error.IdDoesNotExistError(identifier)
        return self._record(found[0])

    def _record(self, number):
        header = common.Header(None, _identifier(number), datestamp(number), [], False)
        return header, common.Metadata(None, {"title": [title(number)]}), None


_identifier = identifier
registry = metadata.MetadataRegistry()
registry.registerWriter("oai_dc", server.oai_dc_writer)
serve_answers(server.Server(Source(), registry).handleRequest)
