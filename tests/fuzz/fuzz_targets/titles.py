"""One malformed record among valid ones."""

from collections.abc import Hashable, Iterable

from fuzzing.target import Target

from fuzz_targets.pages import WORDS
from oaipmhclient.mending.repair import read_records_mended
from oaipmhclient.pages.requests_and_pages import read_records

_OPEN = (
    '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
    "<responseDate>2010-11-20T12:00:00Z</responseDate><request>http://r/oai</request><ListRecords>"
)
_RECORD = (
    "<record><header><identifier>oai:x:{}</identifier><datestamp>2010-01-01</datestamp></header>"
    '<metadata><dc:dc xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title>'
    "<dc:creator>Müller &amp; Łoś</dc:creator></dc:dc></metadata></record>"
)
_CLOSE = "<resumptionToken completeListSize='9'>t&amp;1</resumptionToken></ListRecords></OAI-PMH>"
_BEFORE, _AFTER = (
    (_OPEN + _RECORD.format(0, "a") + _RECORD.format(1, "|") + _RECORD.format(2, "é") + _CLOSE)
    .encode()
    .split(b"|")
)
_OUT_OF_BOUNDS = (b"record", b"header", b"OAI-PMH", b"ListRecords", b"resumptionToken", b"DOCTYPE")


class Titles(Target):
    promise = "Whatever stands in a record's title, the records beside it are read as they are."
    words = tuple(word for word in WORDS if not any(bad in word for bad in _OUT_OF_BOUNDS))
    largest = 4_096

    def seeds(self) -> Iterable[bytes]:
        return [b"Title", "Tïtle &amp; <i>more</i>".encode(), b"<![CDATA[ <x> ]]>", b"a & b < c"]

    def check(self, data: bytes) -> Hashable:
        if any(word.lower() in data.lower() for word in _OUT_OF_BOUNDS):
            return "out of bounds"
        sound = read_records(_BEFORE + _AFTER).items
        page = read_records_mended(_BEFORE + data + _AFTER)
        kept = {item.header.identifier: item for item in page.items}
        assert kept["oai:x:0"] == sound[0]
        assert kept["oai:x:2"] == sound[2]
        assert page.next_token == "t&1"
        aside = [one for one in page.set_aside if one.identifier == "oai:x:1"]
        came = [item for item in page.items if item.header.identifier == "oai:x:1"]
        assert len(came) + len(aside) == 1
        return (*page.repairs, len(aside), *(one.reason for one in aside))
