"""oai_repo 0.5.2: its tokens are Base64 with = and +, and their expiry is misspelt."""

import oai_repo
from lxml import etree
from serving import (
    FORMAT,
    NUMBERS,
    PAGE,
    datestamp,
    identifier,
    moment,
    serve_answers,
    title,
    within,
)

DC, OAI_DC = "http://purl.org/dc/elements/1.1/", FORMAT[2]
NUMBER_OF = {identifier(number): number for number in NUMBERS}


class Source(oai_repo.DataInterface):
    """Where oai_repo asks for what it serves."""

    limit = PAGE

    def get_identify(self):
        identify = oai_repo.Identify()
        identify.repository_name = "oai_repo"
        identify.base_url = "https://real.example/oai"
        identify.admin_email = ["admin@real.example"]
        identify.earliest_datestamp = moment(datestamp(1))
        identify.deleted_record = "no"
        identify.granularity = "YYYY-MM-DDThh:mm:ssZ"
        return identify

    def is_valid_identifier(self, identifier):
        return identifier in NUMBER_OF

    def get_metadata_formats(self, identifier=None):
        return [oai_repo.MetadataFormat(*FORMAT)]

    def get_record_header(self, identifier):
        return oai_repo.RecordHeader(identifier, moment(datestamp(NUMBER_OF[identifier])))

    def get_record_metadata(self, identifier, metadataprefix):
        root = etree.Element(f"{{{OAI_DC}}}dc", nsmap={"oai_dc": OAI_DC, "dc": DC})
        etree.SubElement(root, f"{{{DC}}}title").text = title(NUMBER_OF[identifier])
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
        bounds = (filter_from, filter_until)
        found = within(*(bound and bound.replace(tzinfo=None) for bound in bounds))
        return [identifier(n) for n in found[cursor : cursor + PAGE]], len(found), None


repository = oai_repo.OAIRepository(Source())
serve_answers(lambda arguments: bytes(repository.process(arguments)))
