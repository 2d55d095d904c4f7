"""Providers of others, for `provider.py`: ``provider_peers.py pyoai|oai_repo RECORDS [PATHS]``.

They serve the records that the Silo has, a hundred on a page, from memory or, with a file of the
paths of the metadata files, by reading and parsing these. Runs in their environments, without our
packages.
"""

import sys
from datetime import datetime, timedelta

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/tests/oaipmhscraper/real_servers")
from serving import FORMAT, moment, serve_answers

NAME, RECORDS = sys.argv[1], int(sys.argv[2])
PATHS = open(sys.argv[3]).read().splitlines() if len(sys.argv) > 3 else []  # noqa: SIM115
PAGE = 100
SET = "7374617475733D707562"
TEXT = "No single cause explains what was seen. " * 30
BASE_URL = "http://127.0.0.1/oai"
DC, OAI_DC = "http://purl.org/dc/elements/1.1/", FORMAT[2]


def identifier(number):
    return f"oai:eprints.example.org:{number}"


def stamp(number):
    return datetime(2024, 1, 1) + timedelta(seconds=number)  # noqa: DTZ001


def fields(number):
    return {
        "title": [f"Record {number}"], "creator": ["Adeyemi, Fiona"],
        "subject": ["gene regulation"], "description": [TEXT], "date": ["2024"],
        "type": ["Article"],
    }  # fmt: skip


def parsed(number):
    """The document in a metadata file."""
    from lxml import etree  # noqa: PLC0415 - of their environment

    return etree.parse(PATHS[number]).getroot()[0]


def pyoai():
    import cgi  # noqa: PLC0415
    from urllib.parse import parse_qs  # noqa: PLC0415

    cgi.parse_qs = parse_qs  # which Python 3.8 took away, and pyoai calls
    from oaipmh import common, error, metadata, server  # noqa: PLC0415

    class Source:
        def identify(self):
            return common.Identify(
                "pyoai", BASE_URL, "2.0", ["a@example.org"], stamp(0), "no",
                "YYYY-MM-DDThh:mm:ssZ", ["identity"], toolkit_description=False,
            )  # fmt: skip

        def listMetadataFormats(self, identifier=None):
            return [FORMAT]

        def listSets(self, cursor=0, batch_size=10):
            raise error.NoSetHierarchyError("none")

        def listRecords(
            self, metadataPrefix, set=None, from_=None, until=None, cursor=0, batch_size=10
        ):
            return [
                (
                    common.Header(None, identifier(number), stamp(number), [SET], False),
                    common.Metadata(None, parsed(number) if PATHS else fields(number)),
                    None,
                )
                for number in range(cursor, min(RECORDS, cursor + batch_size))
            ]

    registry = metadata.MetadataRegistry()
    writer = (lambda element, one: element.append(one.getMap())) if PATHS else server.oai_dc_writer
    registry.registerWriter("oai_dc", writer)
    made = server.BatchingServer(Source(), registry, resumption_batch_size=PAGE)
    return made.handleRequest


def oai_repo():
    import oai_repo as theirs  # noqa: PLC0415
    from lxml import etree  # noqa: PLC0415

    class Source(theirs.DataInterface):
        limit = PAGE

        def get_identify(self):
            identify = theirs.Identify()
            identify.repository_name = "oai_repo"
            identify.base_url = BASE_URL
            identify.admin_email = ["a@example.org"]
            identify.earliest_datestamp = moment(stamp(0))
            identify.deleted_record = "no"
            identify.granularity = "YYYY-MM-DDThh:mm:ssZ"
            return identify

        def is_valid_identifier(self, identifier):
            return True

        def get_metadata_formats(self, identifier=None):
            return [theirs.MetadataFormat(*FORMAT)]

        def get_record_header(self, identifier):
            header = theirs.RecordHeader(identifier, moment(stamp(_number(identifier))))
            header.setspecs = [SET]
            return header

        def get_record_metadata(self, identifier, metadataprefix):
            if PATHS:
                return parsed(_number(identifier))
            root = etree.Element(f"{{{OAI_DC}}}dc", nsmap={"oai_dc": OAI_DC, "dc": DC})
            for name, texts in fields(_number(identifier)).items():
                etree.SubElement(root, f"{{{DC}}}{name}").text = texts[0]
            return root

        def get_record_abouts(self, identifier):
            return []

        def list_set_specs(self, identifier=None, cursor=0):
            return None, None, None

        def get_set(self, setspec):
            return None

        def list_identifiers(
            self, metadataprefix, filter_from=None, filter_until=None, filter_set=None, cursor=0
        ):
            numbers = range(cursor, min(RECORDS, cursor + PAGE))
            return [*map(identifier, numbers)], RECORDS, None

    repository = theirs.OAIRepository(Source())
    return lambda arguments: bytes(repository.process(arguments))


def _number(identifier):
    return int(identifier.rsplit(":", 1)[1])


serve_answers(pyoai() if NAME == "pyoai" else oai_repo())
